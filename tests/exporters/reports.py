"""Reports to export: one with everything a report can have, and the same with hostile texts in every place."""

from deep_research.data import (
    Claim,
    ExportFigure,
    ExportInput,
    ExportPoint,
    Gap,
    Ledger,
    PassageContext,
    Reference,
    Report,
    Verdict,
)
from deep_research.data.result import Part, ReasonerInfo, ReportPassage, ReportSection, ReportSource
from deep_research.i18n.catalog import phrase

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<svg onload=alert(1)>",
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "![x](http://tracker.example/p.png)",
    "</style></title></textarea><iframe src=//evil.example>",
    '=HYPERLINK("http://evil.example","x")',
    "+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    '#read("/etc/passwd") #eval("1")',
    "$ integral $ #set page(fill: red) `raw` @label <label> \\ *bold* _emph_ // gone",
    "\\input{/etc/passwd} \\write18{id} % gone } { ~ ^ $&#_",
    "@misc{evil, title={x}}\nTY  - BOOK\nER  - ",
    "A\u202egnp.exe\u2066 zero\u200bwidth\u00ad",
    "nul\x00 bell\x07 esc\x1b[31m sep\u2028 \ufffe",
    "<w:t>x</w:t> &amp; &lt; ]]> <!-- --> <?xml?>",
    "<a:t>{{7*7}} ${7*7} {% raw %}",
)
SAID = "The Alpha engine turns at 3,000 rpm."
SECOND = "It is a rotary engine."
URL = "https://example.org/engines?a=1&b=2#top"


def _markdown(extra: str, language: str, title: str) -> str:
    flat = " ".join(extra.split("\n"))
    heading = phrase("references", language)
    escaped = flat.replace("|", "\\|")
    code = f"alpha = 3000\nif alpha > 1:\n    print('<b>')  # {flat}"
    return f"""# {title} {flat}

> Notice: nothing was invented. {flat}

**Question:** Which engine? {flat}

## Alpha {flat}

{SAID} {SECOND} [1] It is *quite* **fast** and `loud`. {flat} [1][2]

→ So it suits boats. [2]

- First {flat} [1]
    - nested [2]
- Second

3. third
4. fourth {flat}

| Engine | Speed |
|---|---|
| Alpha {escaped} | 3,000 rpm [1] |
| Beta | 4,500 rpm [2] |

```
{code}
```

### Detail

Said of \\[7\\] and [99]. {flat}

## {heading}

1. **Alpha manual {flat}** — alpha.pdf · p. 3
   “{SAID}”

2. **Beta {flat}** — example.org
"""


def _passages(extra: str) -> dict[str, ReportPassage]:
    return {
        "s1p1": ReportPassage(
            source="s1", text=f"{SAID} {SECOND} {extra}", start=10, end=99, page=3, heading=f"A > {extra}"
        ),
        "s1p2": ReportPassage(source="s1", text="Other words. " + extra, start=200, end=260, page=4, heading=""),
        "s2p1": ReportPassage(
            source="s2", text=f"Beta turns at 4,500 rpm. {extra}", start=0, end=9, page=None, heading=""
        ),
    }


def _claims(extra: str) -> tuple[Claim, ...]:
    flat = " ".join(extra.split("\n"))
    supported = Verdict(kind="supported", reason=f"verbatim {extra}", score=1.0)
    return (
        Claim(id="c1", section=f"Alpha {flat}".strip(), text=SAID, passages=("s1p1",), verdict=supported),
        Claim(id="c2", section=f"Alpha {flat}".strip(), text=f"Beta {extra}", passages=("s2p1", "s1p2"), verdict=supported),
        Claim(
            id="c3", section="", text=f"So it suits boats. {extra}", passages=("s2p1",), kind="inference", premises=("c1",),
            verdict=Verdict(kind="unverified", reason="no", codes=("uncited",)),
        ),
        Claim(id="c4", section="", text="Gone.", passages=(), verdict=Verdict(kind="contradicted", reason="no")),
    )  # fmt: skip


def _sources(extra: str) -> dict[str, ReportSource]:
    flat = " ".join(extra.split("\n"))
    return {
        "s1": ReportSource(
            title=f"Alpha manual {extra}", url=f"file:///home/user/{flat}.pdf", origin="documents", published="2021-05",
            retrieved_at="2026-01-02T03:04:05+00:00", sha256="a" * 64, media_type="application/pdf",
        ),
        "s2": ReportSource(
            title=f"Beta {extra}", url=URL, origin="tavily", published=None,
            retrieved_at="2026-01-02T03:04:05+00:00", sha256="b" * 64, media_type="text/html",
        ),
    }  # fmt: skip


def make_report(extra: str = "", *, language: str = "en", title: str = "Engines compared") -> Report:
    """Return a report; `extra` stands in its title, texts, sources, passages, gaps and file names."""
    flat = " ".join(extra.split("\n"))
    sources = _sources(extra)
    references = (
        Reference(number=1, source="s1", title=f"Alpha manual {extra}", url=sources["s1"].url, location=f"{extra} alpha.pdf",
                  published="2021-05", passages=("s1p1", "s1p2")),
        Reference(number=2, source="s2", title=f"Beta {extra}", url=URL, location="example.org", passages=("s2p1",)),
    )  # fmt: skip
    section = ReportSection(
        title=f"Alpha {flat}".strip(), description=extra, status="completed",
        content=f"{SAID} {SECOND} [1]\n\n| Engine | Speed |\n|---|---|\n| Alpha | 3,000 rpm [1] |",
        key_findings=(f"{SAID} {flat} [1]", "Beta turns at 4,500 rpm. [2]"), sources=("s1", "s2"),
    )  # fmt: skip
    return Report(
        run_id="20260102-030405-abcd", question=f"Which engine? {extra}", language=language, query_type="comparison",
        output_format="table", workflow="sections", title=f"{title} {extra}", report=_markdown(extra, language, title), sections=(section,),
        claims=_claims(extra), references=references, sources=sources, passages=_passages(extra),
        gaps=(Gap(what=f"Gamma {extra}", why=f"not found {extra}"),), assumptions=(f"Boats. {extra}",),
        ledger=Ledger(seconds=1.5, searches=2, fetches=3), reasoner=ReasonerInfo(kind="extractive"),
        parts=(Part(text=f"Which engine {extra}", answered="partly", claims=("c1",)),),
    )  # fmt: skip


def make_input(extra: str = "", *, language: str = "en", title: str = "Engines compared") -> ExportInput:
    """Return such a report with authors and the surroundings of its passages."""
    return ExportInput(
        report=make_report(extra, language=language, title=title),
        authors={"s1": ("Maier, Rolf", f"Anna Holm {extra}"), "s2": (f"Engine Society {extra}",)},
        figures=(
            ExportFigure(
                kind="bar",
                title=f"Turns at {extra}".strip(),
                points=(
                    ExportPoint(label=f"Alpha {extra}".strip(), value=3000, display="3,000 rpm", passages=("s1p1",)),
                    ExportPoint(label="Beta", value=4500, display=f"4,500 rpm {extra}", passages=("s2p1", "s9p9")),
                ),
            ),
            ExportFigure(
                kind="timeline",
                title="",
                points=(ExportPoint(label="1999", value=1999, display="Built.", passages=("s1p1",)),),
            ),
        ),
        contexts={"s1p1": PassageContext(before=f"Before it. {extra}", after=f"After it. {extra}")},
    )
