"""The report as one HTML file; a citation opens its passage in context, offline.

No script, nothing loaded, nothing sent: the passages lie in the file as popovers, and a content security policy
forbids everything but the file's own style, named by its hash.
"""

import base64
import hashlib
from collections import defaultdict
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from claimcheck.text.cleaning import shorten
from deep_research.data import DOUBT_SIGN, Claim, Edit, ExportInput, PassageContext, Problem, Reference
from deep_research.exporters.reference_formats import web_address
from deep_research.i18n.catalog import explain, phrase
from deep_research.report import blocks
from deep_research.report.document import cites_of, read_document
from deep_research.verification.citations import citations

_LINK_RULES = 'rel="noopener noreferrer nofollow" referrerpolicy="no-referrer"'
_OF_A_TITLE, _OF_A_STATEMENT, _MOST_RESTING = 200, 300, 20
"""Characters of a title on a citation, and of a statement below a passage that it rests on; such statements."""
_MOST_SHOWN = 30_000_000
"""Characters of passages behind citations: beyond them a citation names its source and the ids of its passages alone."""


class HtmlExporter:
    """Writes one file that needs nothing else."""

    name = "html"
    suffix = ".html"
    media_type = "text/html; charset=utf-8"
    purpose = "one file for the browser: a click on a citation opens its passage; works offline, prints well"

    def export(self, given: ExportInput) -> bytes:
        return _Page(given).render().encode()


class _Page:
    def __init__(self, given: ExportInput) -> None:
        self._given, self._report = given, given.report
        self._language = given.report.language
        self._document = read_document(given)
        self._references = {reference.number: reference for reference in given.report.references}
        self._numbers = {reference.source: reference.number for reference in given.report.references}
        self._panels: dict[tuple[int, tuple[str, ...]], str] = {}
        self._room = _MOST_SHOWN
        self._resting: dict[str, list[Claim]] = defaultdict(list)
        for claim in given.report.claims:
            for key in claim.passages:
                self._resting[key].append(claim)

    def render(self) -> str:
        style = files("deep_research.exporters").joinpath("report.css").read_text("utf-8")
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        main = self._blocks(self._document.blocks) + self._reference_list() + self._verification() + self._statements()
        panels = "".join(self._panel(number, keys, name) for (number, keys), name in self._panels.items())
        return (
            f'<!doctype html>\n<html lang="{escape(self._language)}">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="deep-research">\n'
            f"<title>{escape(self._document.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
            f'<div class="sheet">\n{self._head()}{self._contents()}<main>\n{main}</main>\n</div>\n{panels}</body>\n</html>\n'
        )

    def _say(self, name: str, **values: object) -> str:
        return escape(phrase(name, self._language, **values))

    def _head(self) -> str:
        document = self._document
        chips = "".join(
            f'<li class="{count.verdict}"><b>{count.number}</b> {escape(count.text)}</li>' for count in document.counts
        )
        return (
            f'<header>\n<p class="made">{escape(document.made)}</p>\n<h1 dir="auto">{escape(document.title)}</h1>\n'
            f'<ul class="counts">{chips}<li>{escape(document.cited)}</li></ul>\n</header>\n'
        )

    def _contents(self) -> str:
        tops = (b for b in self._document.blocks if isinstance(b, blocks.Heading) and b.level <= 2)
        headings = [(heading.key, blocks.plain_text(heading.content)) for heading in tops]
        if self._document.references:
            headings.append(("references", self._document.references_title))
        entries = "".join(f'<li><a href="#{key}">{escape(title)}</a></li>' for key, title in headings)
        title = self._say("contents")
        return f'<nav aria-label="{title}"><p>{title}</p><ol>{entries}</ol></nav>\n'

    def _blocks(self, parts: Sequence[blocks.Block]) -> str:
        return "".join(self._block(block) for block in parts)

    def _block(self, block: blocks.Block) -> str:
        if isinstance(block, blocks.Heading):
            tag = f"h{min(block.level, 4)}"
            return f'<{tag} dir="auto" id="{block.key}">{self._inlines(block.content)}</{tag}>\n'
        if isinstance(block, blocks.Paragraph):
            own = ' class="own"' if block.is_own else ""
            return f'<p dir="auto"{own}>{self._inlines(block.content)}</p>\n'
        if isinstance(block, blocks.Code):
            return f"<pre><code>{escape(block.text)}</code></pre>\n"
        if isinstance(block, blocks.Quote):
            return f'<div class="notice">{self._blocks(block.blocks)}</div>\n'
        if isinstance(block, blocks.Table):
            return self._table(block)
        if isinstance(block, blocks.Chart):
            return self._chart(block)
        return self._items(block)

    def _items(self, block: blocks.Items) -> str:
        tag = "ul" if block.start is None else "ol"
        start = f' start="{block.start}"' if block.start not in (None, 1) else ""
        items = "".join(f"<li>{self._tight(item)}</li>" for item in block.items)
        return f'<{tag} dir="auto"{start}>{items}</{tag}>\n'

    def _tight(self, parts: Sequence[blocks.Block]) -> str:
        if parts and isinstance(parts[0], blocks.Paragraph):
            return self._inlines(parts[0].content) + self._blocks(parts[1:])
        return self._blocks(parts)

    def _table(self, block: blocks.Table) -> str:
        head = "".join(f'<th scope="col">{self._inlines(cell)}</th>' for cell in block.head)
        rows = "".join(f"<tr>{''.join(f'<td>{self._inlines(c)}</td>' for c in row)}</tr>" for row in block.rows)
        body = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
        return f'<div class="wide"><table dir="auto">{body}</table></div>\n'

    def _chart(self, block: blocks.Chart) -> str:
        """Return a chart as a table with a bar per row, readable by screen readers."""
        rows = "".join(
            f'<tr><th scope="row">{escape(bar.label)}</th>'
            '<td><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect width="{round(bar.share * 100, 1)}" height="8"/></svg></td><td>{self._inlines(bar.value)}</td></tr>'
            for bar in block.bars
        )
        title = f'<figcaption dir="auto">{escape(block.title)}</figcaption>' if block.title else ""
        return f'<figure>{title}<table class="chart" dir="auto"><tbody>{rows}</tbody></table></figure>\n'

    def _inlines(self, content: Sequence[blocks.Inline]) -> str:
        return "".join(self._inline(part) for part in content)

    def _inline(self, part: blocks.Inline) -> str:
        if isinstance(part, blocks.Break):
            return "<br>"
        if isinstance(part, blocks.Cite):
            return self._cite(part)
        if isinstance(part, blocks.Doubt):
            told, look = escape(part.told), f"doubt {part.verdict}"
            return f'<span class="{look}" title="{told}" role="note" aria-label="{told}">{DOUBT_SIGN}</span>'
        text = escape(part.text)
        if part.is_own:
            text = f'<span class="own" title="{self._say("own_statement")}">{text}</span>'
        for tag, is_used in (("code", part.code), ("em", part.italic), ("strong", part.bold)):
            text = f"<{tag}>{text}</{tag}>" if is_used else text
        return text

    def _cite(self, cite: blocks.Cite) -> str:
        panel = self._panels.setdefault((cite.number, cite.passages), f"p{len(self._panels) + 1}")
        title = escape(shorten(self._references[cite.number].title, _OF_A_TITLE))
        return f'<button type="button" class="cite" popovertarget="{panel}" aria-label="[{cite.number}] {title}">{cite.number}</button>'

    def _panel(self, number: int, keys: Sequence[str], name: str) -> str:
        reference = self._references[number]
        source = self._report.sources.get(reference.source)
        facts = [] if web_address(reference.url) else [reference.location]
        facts += [phrase("published", self._language, date=reference.published)] if reference.published else []
        close = self._say("close")
        passages = "".join(self._passage(key) for key in keys if key in self._report.passages)
        day = source.retrieved_at[:16].replace("T", " ") if source else ""
        snapshot = self._say("snapshot_of", date=day, sha=source.sha256) if source else ""
        return (
            f'<aside class="panel" popover id="{name}" aria-label="[{number}]">'
            f'<button type="button" class="close" popovertarget="{name}" popovertargetaction="hide" aria-label="{close}">×</button>'
            f'<p class="title" dir="auto">[{number}] {escape(reference.title)}</p>'
            f'<p class="place">{escape(" · ".join(fact for fact in facts if fact))} {self._link(reference)}</p>'
            f'{passages}<p class="hash">{snapshot}</p></aside>\n'
        )

    def _link(self, reference: Reference) -> str:
        address = web_address(reference.url)
        link = (
            f'<a href="{escape(address)}" {_LINK_RULES}>{self._say("open_source")}</a> <span>{escape(address)}</span>'
        )
        return link if address else ""

    def _passage(self, key: str) -> str:
        """Return a passage in its context with what rests on it, or its id alone."""
        if self._room <= 0:
            return f'<p class="where">{escape(key)}</p>'
        passage = self._report.passages[key]
        context = self._given.contexts.get(key, PassageContext())
        page = phrase("page", self._language, page=passage.page) if passage.page else ""
        where = " · ".join(part for part in (passage.heading, page, key) if part)
        said = "".join(
            f'<li>{badge} <span dir="auto">{escape(shorten(claim.text, _OF_A_STATEMENT))}</span> {why}</li>'
            for claim in self._resting[key][:_MOST_RESTING]
            for badge, why in [self._verdict(claim)]
        )
        rests = f'<p class="where">{self._say("rests_on_it")}</p><ul class="said">{said}</ul>' if said else ""
        made = (
            f'<p class="where">{escape(where)}</p><blockquote class="context" dir="auto">{escape(context.before)}'
            f"<mark>{escape(passage.text)}</mark>{escape(context.after)}</blockquote>{rests}"
        )
        self._room -= len(made)
        return made

    def _verdict(self, claim: Claim) -> tuple[str, str]:
        kind = claim.verdict.kind
        badge = f'<span class="badge {kind}">{self._say(f"verdict_{kind}")}</span>'
        is_told = kind not in ("supported", "own")
        return badge, f'<span class="why">{escape(explain(claim.verdict, self._language))}</span>' if is_told else ""

    def _reference_list(self) -> str:
        if not self._document.references:
            return ""
        entries = "".join(
            f'<li id="ref-{number}"><span class="number">[{number}]</span><div><p dir="auto">{self._tight(parts)}</p>'
            f"<p>{self._link(self._references[number])}</p></div></li>"
            for number, parts in self._document.references.items()
        )
        return f'<h2 dir="auto" id="references">{escape(self._document.references_title)}</h2>\n<ol class="references">{entries}</ol>\n'

    def _statements(self) -> str:
        choices = "".join(
            f'<input type="radio" name="only" id="only-{one.verdict}"><label for="only-{one.verdict}">'
            f"{escape(one.text)} ({one.number})</label>"
            for one in self._document.counts
            if one.number
        )
        total = f'<input type="radio" name="only" id="only-all" checked><label for="only-all">{len(self._report.claims)}</label>'
        head = "".join(f'<th scope="col">{self._say(name)}</th>' for name in ("statement", "verdict", "source"))
        rows = "".join(self._statement(claim) for claim in self._report.claims)
        return (
            f'<details class="statements"><summary>{self._say("statements")}</summary><div class="filter"></div>{total}{choices}'
            f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details>\n'
        )

    def _statement(self, claim: Claim) -> str:
        return (
            f'<tr data-verdict="{claim.verdict.kind}"><td dir="auto">{escape(claim.text)}</td>'
            f"<td>{' '.join(self._verdict(claim))}</td><td>{self._cites_of(claim.passages)}</td></tr>"
        )

    def _verification(self) -> str:
        """Return, folded, the verifier's findings and writer's changes; "" if none found."""
        problems = "".join(map(self._problem, self._report.problems))
        edits = "".join(self._edit(edit) for edit in self._report.edits if edit.old)  # else it is a reply to a problem
        if not problems and not edits:
            return ""
        changes = f'<h3>{self._say("changes_made")}</h3><ol class="edits">{edits}</ol>' if edits else ""
        return (
            f'<details class="verification"><summary>{self._say("verification")}</summary>'
            f'<ol class="problems">{problems}</ol>{changes}</details>\n'
        )

    def _problem(self, problem: Problem) -> str:
        evidence = f'<p dir="auto">{self._linked(problem.evidence)}</p>' if problem.evidence else ""
        reply = f'<p dir="auto">{self._linked(problem.reply)}</p>' if problem.reply else ""
        return (
            f'<li><blockquote dir="auto">{self._linked(problem.quote)}</blockquote>'
            f'<p><span class="badge {problem.kind}">{self._say(f"problem_{problem.kind}")}</span> {self._linked(problem.problem)}</p>'
            f'{evidence}<p class="why">{self._say(f"outcome_{problem.outcome}")}{self._cites_of(problem.passages)}</p>{reply}</li>'
        )

    def _edit(self, edit: Edit) -> str:
        failed = "" if edit.applied else f'<p class="why">{self._say("edit_failed")}</p>'
        return f'<li><del dir="auto">{self._linked(edit.old)}</del><ins dir="auto">{self._linked(edit.new)}</ins>{failed}</li>'

    def _cites_of(self, keys: Sequence[str]) -> str:
        cites = cites_of(keys, self._report, self._numbers)
        return "".join(map(self._cite, sorted(cites, key=lambda cite: cite.number)))

    def _linked(self, text: str) -> str:
        shown, at = "", 0
        for found in citations(text):
            if made := self._cites_of(found.ids):
                shown += escape(text[at : found.start].rstrip(" ") + f" {found.kept}" * bool(found.kept)) + made
                at = found.end
        return shown + escape(text[at:])
