"""A writer of tiny PDF files: text in Helvetica at given places."""

from collections.abc import Sequence

Text = tuple[str, float, float, float]
"""A line with its left and bottom edge and its font size, in points."""


def make_pdf(
    pages: Sequence[Sequence[str | Text]],
    *,
    info: str = "",
    encrypted: bool = False,
    outline: Sequence[tuple[str, int, float]] = (),
    links: Sequence[tuple[str, str]] = (),
    scale: float = 1,
    rows: Sequence[tuple[int, Sequence[tuple[str, int, int]]]] = (),
) -> bytes:
    """Return a PDF of pages of lines; a plain string stands below the one before, in size 11.

    `outline` are entries with their page, from 0, and how high on it they lead, in points.
    `rows` are those of a tagged table: the page of each, and the kind ("TH"), line and spanned rows of its cells.
    `scale` is that of the page's units, as browsers print. `links` are places on each page (left, bottom, right and top in points) and the addresses that they lead to.
    """
    areas = " ".join(
        f"<< /Type /Annot /Subtype /Link /Rect [{area}] /A << /S /URI /URI ({address}) >> >>" for area, address in links
    )
    objects = ["", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"]
    kids: list[int] = []
    for lines in pages:
        content = f"{scale} 0 0 {scale} 0 0 cm\n" + "\n".join(_shown(line, number) for number, line in enumerate(lines))
        objects.append(f"<< /Length {len(content.encode('cp1252'))} >>\nstream\n{content}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /StructParents {len(kids)} /MediaBox [0 0 595 842] /Contents {len(objects)} 0 R"
            f" /Resources << /Font << /F1 3 0 R >> >> /Annots [{areas}] >>"
        )
        kids.append(len(objects))
    objects[0] = "<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>"
    if outline:
        first = len(objects) + 2
        objects[0] = f"<< /Type /Catalog /Pages 2 0 R /Outlines {first - 1} 0 R >>"
        objects.append(f"<< /First {first} 0 R /Last {first + len(outline) - 1} 0 R /Count {len(outline)} >>")
        for number, (title, page, top) in enumerate(outline, start=first):
            following = f"/Next {number + 1} 0 R" if number - first + 1 < len(outline) else ""
            objects.append(
                f"<< /Title ({title}) /Parent {first - 1} 0 R {following} /Dest [{kids[page]} 0 R /XYZ 72 {top} 0] >>"
            )
    if rows:
        objects[0] = (
            f"<< /Type /Catalog /Pages 2 0 R /MarkInfo << /Marked true >> /StructTreeRoot {len(objects) + 1} 0 R >>"
        )
        objects += _tags(rows, kids, len(objects) + 1)
    trailer = ""
    if info:
        objects.append(f"<< {info} >>")
        trailer = f"/Info {len(objects)} 0 R"
    if encrypted:
        key = "00" * 32
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>")
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<00><00>]"
    return _file(objects, trailer)


def _tags(rows: Sequence[tuple[int, Sequence[tuple[str, int, int]]]], kids: Sequence[int], root: int) -> Sequence[str]:
    """Return the objects of a tree of tags; the number of its root, the first, is `root`."""
    made, trs = ["", ""], list[int]()
    owners = [["null"] * 100 for _ in kids]
    for page, cells in rows:
        own = root + len(made) + len(cells)
        for number, (kind, line, span) in enumerate(cells, start=root + len(made)):
            owners[page][line] = f"{number} 0 R"
            about = f"/Pg {kids[page]} 0 R /K [{line}] /A << /O /Table /RowSpan {span} >>"
            made.append(f"<< /S /{kind} /P {own} 0 R {about} >>")
        below = " ".join(f"{own - n} 0 R" for n in range(len(cells), 0, -1))
        made.append(f"<< /S /TR /P {root + 1} 0 R /K [{below}] >>")
        trs.append(own)
    nums = " ".join(f"{page} [{' '.join(owned)}]" for page, owned in enumerate(owners))
    made[0] = f"<< /Type /StructTreeRoot /K [{root + 1} 0 R] /ParentTree << /Nums [{nums}] >> >>"
    made[1] = f"<< /S /Table /P {root} 0 R /K [{' '.join(f'{tr} 0 R' for tr in trs)}] >>"
    return made


DRAWING = "72 72 200 200 re f"
"""A line that is a filled square instead."""


def _shown(line: str | Text, number: int) -> str:
    if line == DRAWING:
        return DRAWING
    text, left, bottom, size = (line, 72.0, 760.0 - 14 * number, 11.0) if isinstance(line, str) else line
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"/P <</MCID {number}>> BDC BT /F1 {size} Tf {left} {bottom} Td ({escaped}) Tj ET EMC"


def _file(objects: Sequence[str], trailer: str) -> bytes:
    data = b"%PDF-1.4\n"
    offsets: list[int] = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode("cp1252")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
    end += f"<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + end.encode()
