"""Tables of notes that were written in two attempts become one."""

from deep_research.text.joined_tables import with_rows_joined

TABLE = "| Gate | Opens |\n| --- | --- |\n| north | at dawn [s1p1] |\n| south | at noon [s1p2] |"


def test_a_table_with_the_same_head_adds_its_rows_and_takes_the_place_of_old_ones() -> None:
    added = "| Gate | Opens |\n|---|---|\n| **south** | at one [s2p1] |\n| west | never [s2p2] |"
    joined = with_rows_joined(f"Gates differ. [s1p1]\n\n{TABLE}\n\n- Bring a lamp. [s1p3]\n\n{added}")
    assert joined == (
        "Gates differ. [s1p1]\n\n| Gate | Opens |\n| --- | --- |\n| north | at dawn [s1p1] |\n| **south** | at one [s2p1] |\n"
        "| west | never [s2p2] |\n\n- Bring a lamp. [s1p3]"
    )


def test_another_head_is_another_table() -> None:
    other = TABLE.replace("Opens", "Closes")
    assert with_rows_joined(f"{TABLE}\n\n{other}") == f"{TABLE}\n\n{other}"
