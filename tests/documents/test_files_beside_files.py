"""What systems and offices put beside a user's files is named and not read."""

from pathlib import Path

from deep_research.sources._folders import File, walk

BESIDE = ("delta.md:Zone.Identifier", "._delta.md", ".DS_Store", "Thumbs.db", "desktop.ini", "~$report.docx")


def test_files_that_a_system_made_are_named_and_not_read(tmp_path: Path) -> None:
    for name in ("delta.md", "thumbs.md", "~notes.md", *BESIDE):
        (tmp_path / name).write_text("ZoneId=3")
    found = list(walk([tmp_path]))
    assert {one.location for one in found if isinstance(one, File)} == {"delta.md", "thumbs.md", "~notes.md"}
    assert {one.location for one in found if not isinstance(one, File)} == set(BESIDE)
