"""A scripted model that plays every role of a research sensibly, for whole runs without a real model.

It knows a step by the fields of the answer that is asked for (or by the tools), never by the wording of a
prompt, and it writes only from the passages that it is shown. What it writes is partly word for word,
partly in other words, and once a section says a thing that no passage says: the checks have work to do.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from deep_research.i18n.language import detect
from deep_research.text.sentences import sentences
from deep_research.text.tokens import content_terms
from deep_research.verification.citations import cite_ids, cut_cited
from tests.support.scripted_replies import Call, Reply, Request, instance_of

_PASSAGE = re.compile(r'<passage id="(s\d+p\d+)"(?: source="([^"]*)")?[^>]*>\n(.*?)\n</passage>', re.DOTALL)
_STATEMENT = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
_TITLE = re.compile(r"^Title: (.+)$", re.MULTILINE)
_WRITTEN_SECTION = re.compile(r"(?:Write|Take the notes for) the section “(.*?)”")
_SHOWN_SECTION = re.compile(r'<section title="([^\n]+)">')
_NOTES = re.compile(r'<section title="([^\n]+)">\n(.*?)\n</section>', re.DOTALL)
_ID = re.compile(r"\[(s\d+p\d+)\]")
_STEPS: Mapping[str, str] = {
    "advice": "compose",
    "next_action": "decide",
    "needs_discovery": "analyze",
    "entities": "entities",
    "changes": "revise_plan",
    "sections": "plan",
    "edits": "edit_plan",
    "relevant": "read_page",
    "key_findings": "write_section",
    "failures": "judge",
    "statements": "rewrite",
    "section_coverage": "review",
    "score": "review_section",
}
"""A field that only one step's answer has."""
_SHARED_TERMS = 0.6
_IN_WORDS = "of this JSON schema and nothing else:"
"""How a schema is asked for where a server has no field for it (DashScope)."""


class Shown(NamedTuple):
    """A passage as it stands in a prompt."""

    id: str
    source: str
    text: str


def schema_of(request: Request) -> Mapping[str, Any] | None:
    """Return the schema of the answer: of the request's own field, or as the first message asks for it in words."""
    if request["schema"] or not request["messages"]:
        return request["schema"]
    said = request["messages"][0]["text"]
    start = said.rfind(_IN_WORDS)
    try:
        return json.JSONDecoder().raw_decode(said[start + len(_IN_WORDS) :].lstrip())[0] if start >= 0 else None
    except ValueError:
        return None


def step_of(request: Request) -> str:
    """Return the step of a request: `research` for one with tools, else by the schema of its answer."""
    if "conduct_research" in request["tools"]:
        return "supervise"
    if "research_complete" in request["tools"]:
        return "research"
    fields = (schema_of(request) or {}).get("properties", {})
    return next((step for name, step in _STEPS.items() if name in fields), "")


def passages_in(request: Request) -> list[Shown]:
    """Return the passages that a request shows, each once, in order."""
    text = "\n".join(message["text"] for message in request["messages"])
    return list({found[0]: Shown(*found) for found in _PASSAGE.findall(text)}.values())


@dataclass
class ScriptedResearcher:
    """A script for `ScriptedProvider`. Fields set to a value are played as told.

    `sections` maps planned titles to their searches (without it the plan follows what looking around has
    shown); `at_once` says how many of a section's searches are made in each turn, its last number in all
    further ones. `sentences` is the length of a section.
    `retry` are titles that their first review sends back, be it of the section alone or of all; one that stands
    there twice is sent back twice, and is searched for in other words each time. `edits` are what it reads out of
    an answer to its plan. `slips` adds the sentence that no passage says. `rewords`: whether the report words the
    sections anew.
    """

    sections: Mapping[str, Sequence[str]] = field(default_factory=dict)
    query_type: str = "general"
    output_format: str = "prose"
    at_once: Sequence[int] = (2, 1)
    sentences: int = 8
    slips: bool = True
    rewords: bool = False
    retry: Sequence[str] = ()
    edits: Sequence[Mapping[str, Any]] = ()
    revised: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _planned: dict[str, Sequence[str]] = field(default_factory=dict, init=False)
    _written: dict[str, str] = field(default_factory=dict, init=False)
    _sent: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        """Know the sections from the start where they are given: a run may be taken up after its plan."""
        self._planned = dict(self.sections)

    def __call__(self, request: Request) -> Reply:
        """Return the answer to a request."""
        step = step_of(request)
        if step == "research":
            return self._research(request)
        if step == "supervise":
            return self._supervise(request)
        if not step:
            schema = schema_of(request)
            return Reply(data=instance_of(schema)) if schema else Reply(text="Understood.")
        data = getattr(self, f"_{step}")(request)
        # Fields that are not of interest are filled, so that the answer always fits.
        return Reply(data={**instance_of(schema_of(request) or {}), **data})

    def section_of(self, request: Request) -> str:
        """Return the title of the section that a request is about, or ""."""
        users = [m["text"] for m in request["messages"] if m["role"] == "user"] or [""]
        # A researcher is told its section first; what comes later are remarks.
        last = users[0 if step_of(request) == "research" else -1]
        told = _PASSAGE.sub("", last)
        titles = [title for title in self._planned if title in told]
        if step_of(request) in ("judge", "rewrite"):
            said = [_said(text) for _, text in _STATEMENT.findall(last)[:1]]
            titles = [t for t, content in self._written.items() if any(s in _ID.sub("", content) for s in said)]
        if step_of(request) == "write_section":
            titles = _WRITTEN_SECTION.findall(told)[:1]
        if step_of(request) == "review_section":
            titles = _SHOWN_SECTION.findall(last)[:1]
        return max(titles, key=len, default="")

    def _decide(self, request: Request) -> dict[str, Any]:
        return {"next_action": "START_RESEARCH", "confidence": 0.9, "question": "", "refined_question": ""}

    def _analyze(self, request: Request) -> dict[str, Any]:
        return {
            "query_type": self.query_type,
            "output_format": self.output_format,
            "needs_discovery": self.query_type == "list",
        }

    def _entities(self, request: Request) -> dict[str, Any]:
        named: dict[str, list[str]] = {}
        for shown in passages_in(request):
            named.setdefault(shown.source or shown.id, []).append(shown.id)
        entities = [
            {"name": name, "category": "", "brief": name, "passages": ids[:2], "priority": "high"}
            for name, ids in list(named.items())[:5]
        ]
        return {"entities": entities, "summary": f"{len(entities)} entries were found."}

    def _plan(self, request: Request) -> dict[str, Any]:
        if not self.sections:
            titles = dict.fromkeys(shown.source for shown in passages_in(request) if shown.source)
            self._planned = {title: [title] for title in list(titles)[:4]} or {"Overview": ["overview"]}
        planned = [{"title": t, "description": f"About {t}.", "queries": list(q)} for t, q in self._planned.items()]
        return {"title": "A scripted report", "objective": "Answer the question.", "scope": "", "sections": planned}

    def _revise_plan(self, request: Request) -> dict[str, Any]:
        """Keep the outline, or set the one that is `revised`."""
        self._planned = dict(self.revised) or self._planned
        planned = [{"title": t, "description": f"About {t}.", "queries": list(q)} for t, q in self._planned.items()]
        return {"changes": ["as found"] if self.revised else [], "sections": planned}

    def _edit_plan(self, request: Request) -> dict[str, Any]:
        return {"edits": list(self.edits)}

    def _research(self, request: Request) -> Reply:
        turns = [message["tool_calls"] for message in request["messages"] if message["tool_calls"]]
        made = sum(call["name"] == "search" for turn in turns for call in turn)
        more = self.at_once[min(len(turns), len(self.at_once) - 1)]
        known = self._planned.get(self.section_of(request))
        task = next((m["text"] for m in request["messages"] if m["role"] == "user"), "")
        # A section that somebody else has planned is searched for by its title.
        told = _TITLE.search(task)
        wanted = list(known if known is not None else [told[1]] if told else ())
        if again := next((number for title, number in self._sent.items() if _note(title, number) in task), 0):
            wanted = [f"{query} in detail {again}" for query in wanted]
        queries = wanted[made : made + more]
        calls = [Call("search", {"query": query, "source": ""}) for query in queries]
        if calls:
            return Reply(tool_calls=tuple(calls))
        best = [shown.id for shown in passages_in(request)][: self.sentences + 4]
        return Reply(tool_calls=(Call("research_complete", {"passages": best}),))

    def _read_page(self, request: Request) -> dict[str, Any]:
        return {"relevant": [shown.id for shown in _relevant(passages_in(request), self.section_of(request))[:3]]}

    def _supervise(self, request: Request) -> Reply:
        asked = [call["name"] for message in request["messages"] for call in message["tool_calls"]]
        if "conduct_research" in asked:
            return Reply(tool_calls=(Call("research_complete", {}),))
        topics = [{"title": title, "research_topic": f"Find out about {title}."} for title in self._planned]
        return Reply(tool_calls=tuple(Call("conduct_research", topic) for topic in topics))

    def _write_section(self, request: Request) -> dict[str, Any]:
        written: list[str] = []
        for number, shown in enumerate(_relevant(passages_in(request), self.section_of(request))):
            said = _first_sentence(shown.text)
            if said and len(written) < self.sentences:
                said = said if number % 2 else _in_other_words(said)
                written.append(f"{said} [{shown.id}]")
        if self.slips and written:
            cited = _ID.findall(written[0])[0]
            written.insert(1, f"This was measured 7919 times in the year 2031. [{cited}]")
        self._written[self.section_of(request)] = _paragraphs(written)
        rest = {"computations": [], "missing": [], "dropped": []}
        return {"content": _paragraphs(written), "key_findings": written[-2:], **rest}

    def _judge(self, request: Request) -> dict[str, Any]:
        known = {shown.id: shown.text for shown in passages_in(request)}
        statements = _STATEMENT.findall(request["messages"][-1]["text"])
        failures = []
        for number, statement in statements:
            if statement.startswith("LIMIT:"):
                continue  # no passage of these libraries tells what was not found
            evidence = " ".join(known.get(key, "") for key in _ID.findall(statement))
            wanted = set(content_terms(_said(statement)))
            shared = len(wanted & set(content_terms(evidence))) / max(1, len(wanted))
            if shared >= _SHARED_TERMS:
                continue
            cited = next((key for key in _ID.findall(statement) if key in known), "")
            instead = _first_sentence(known.get(cited, ""))
            row = {"number": int(number), "verdict": "unverified", "reason": f"{shared:.0%}", "instead": instead}
            failures.append(row)
        return {"failures": failures, "checked": len(statements)}

    def _rewrite(self, request: Request) -> dict[str, Any]:
        known = {shown.id: shown.text for shown in passages_in(request)}
        rewritten = []
        for number, statement in _STATEMENT.findall(request["messages"][-1]["text"]):
            cited = next((key for key in _ID.findall(statement) if key in known), "")
            rewritten.append(
                {"number": int(number), "as_it_stands": False, "text": _first_sentence(known.get(cited, ""))}
            )
        return {"statements": rewritten}

    def _weak(self, titles: Sequence[str]) -> list[str]:
        """Those of `titles` to be sent back."""
        weak = [title for title in titles if self._sent[title] < list(self.retry).count(title)]
        self._sent.update(weak)
        return weak

    def _review_section(self, request: Request) -> dict[str, Any]:
        title = self.section_of(request)
        weak = bool(self._weak([title]))
        if not weak:
            return {"status": "sufficient", "score": 8, "missing": [], "queries": []}
        missing = [_note(title, self._sent[title])]
        return {"status": "partial", "score": 5, "missing": missing, "queries": self._more_searches(title)}

    def _more_searches(self, title: str) -> list[str]:
        return [f"{query} in detail {self._sent[title]}" for query in self._planned.get(title, ())]

    def _review(self, request: Request) -> dict[str, Any]:
        retry = self._weak(list(self._planned))
        rows = [
            {
                "title": title,
                "status": "partial",
                "notes": _note(title, self._sent[title]),
                "queries": self._more_searches(title),
            }
            for title in retry
        ]
        return {
            "is_sufficient": not retry,
            "overall_score": 6 if retry else 8,
            "section_coverage": rows,
            "sections_to_retry": retry,
        }

    def _compose(self, request: Request) -> dict[str, Any]:
        found = cut_cited(request["messages"][-1]["text"], 0, "prose")
        said = [f"{s.text} {cite_ids(s.passages)}" for s in found if s.passages and "<" not in s.text]
        return {
            "answer": " ".join(said[:3]),
            "parts": [],
            "conclusion": " ".join(said[-2:]),
            "table": "",
            "sections": self._body(request) if self.rewords else [],
            "advice": [],
            "limits": [],
            "computations": [],
        }

    def _body(self, request: Request) -> list[dict[str, Any]]:
        """Every section of the notes in other words."""
        body: list[dict[str, Any]] = []
        for title, notes in _NOTES.findall(request["messages"][-1]["text"]):
            said = [
                f"{_in_other_words(s.text)} {cite_ids(s.passages)}" for s in cut_cited(notes, 0, "prose") if s.passages
            ]
            body.append({"title": title, "notes": [title], "content": _paragraphs(said)})
        return body


def _said(statement: str) -> str:
    """A numbered statement of a prompt without its kind, its ids and what code remarks."""
    bare = re.split(r" — (?:note|refused)\b", statement)[0]
    return _ID.sub("", re.sub(r"^(?:FACT|CONCLUSION|ADVICE|ROW): ", "", bare)).strip()


def _note(title: str, number: int) -> str:
    """What is told to the researcher of a section that is sent back for the time `number`."""
    return f"more on {title} (attempt {number + 1})"


def _relevant(passages: Sequence[Shown], title: str) -> list[Shown]:
    """Those that share a term with the title first."""
    wanted = set(content_terms(title))
    return sorted(passages, key=lambda shown: -len(wanted & set(content_terms(shown.text))))


def _first_sentence(text: str) -> str:
    """The first sentence that says something: no heading, not too short."""
    found = [" ".join(text[s.start : s.end].split()) for s in sentences(text)]
    plain = [s for s in found if s.endswith((".", "。", "다.")) and not s.startswith(("#", "|", "-", "*", "```"))]
    return next((s for s in plain if len(s) > 20), "")


def _in_other_words(sentence: str) -> str:
    opening = {"zh": "据此，", "ko": "이에 따르면 ", "ja": "これによると、"}.get(detect(sentence), "In other words: ")
    return opening + sentence


def _paragraphs(written: Sequence[str]) -> str:
    return "\n\n".join(" ".join(written[i : i + 3]) for i in range(0, len(written), 3))
