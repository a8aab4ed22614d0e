"""A scripted model that plays every role of a research sensibly, for whole runs without a real model.

It knows a step by its tools and by the fields of the answer that is asked for, never by the wording of a prompt, and
it writes only from the passages that it is shown. Its report holds one sentence that no passage says (`slips`): the
judge finds it, and the writer puts it right.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from claimcheck.language import detect
from claimcheck.text.sentences import sentences
from claimcheck.text.tokens import content_terms
from tests.support.scripted_replies import Call, Reply, Request, instance_of

_SOURCE = re.compile(r'<source id="(s\d+)"(?: title="([^"]*)")?[^>]*>\n(.*?)\n</source>', re.DOTALL)
_PASSAGE = re.compile(
    r"^\[(s\d+p\d+)\](?: \(p\. \d+\))? (.*?)(?=^\[s\d+p\d+\]|^\(under: |\Z)", re.DOTALL | re.MULTILINE
)
_STATEMENT = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)
_OWN_SECTION = re.compile(r"^(?:Your section: (.+)|Its sections:)$", re.MULTILINE)
_REPORT_FORM = "`# Title`"
_SUGGESTED = re.compile(r"^Suggested first searches: (.+)$", re.MULTILINE)
_REVIEWED = re.compile(r"^Section: (.+?)\. ", re.MULTILINE)
_NOTES = re.compile(r'<notes section="([^"\n]+)"[^>]*>\n(.*?)\n</notes>', re.DOTALL)
_ID = re.compile(r"\[(s\d+p\d+)\]")
_PROBLEM = re.compile(r"^(\d+)\. (\w+): “(.*?)” — ", re.MULTILINE | re.DOTALL)
_STEPS: Mapping[str, str] = {
    "next_action": "decide",
    "entities": "entities",
    "sections": "plan",
    "rejected": "revise",
    "edits": "edit_plan",
    "checked": "judge",
    "section_coverage": "review",
    "parts": "examined",
    "score": "review_section",
}
"""A field that only one step's answer has, in the order in which they are looked for."""
SLIP = "This was measured 7919 times in the year 2031."
_SHARED_TERMS = 0.6
_IN_WORDS = "of this JSON schema and nothing else:"
"""How a schema is asked for where a server has no field for it (DashScope)."""


class Shown(NamedTuple):
    """A passage as it stands in a prompt; `source` is the title of its source."""

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
    """Return the step of a request: a conversation by its tools or its last message, all else by the answer's schema."""
    if "conduct_research" in request["tools"]:
        return "supervise"
    if schema := schema_of(request):
        fields = schema.get("properties", {})
        return next((step for name, step in _STEPS.items() if name in fields), "")
    first = "\n".join(m["text"] for m in request["messages"][:1]) + request["system"]
    writes = _REPORT_FORM in first + _users(request)
    if not writes and ("research_complete" in request["tools"] or "open" not in request["tools"]):
        return "research" if request["tools"] else "notes" if _OWN_SECTION.search(_users(request)) else ""
    if "<report>" in first:
        return "reread" if writes else "examine"
    return "revise" if _PROBLEM.search(_users(request)) else "write"


def _users(request: Request) -> str:
    return "\n".join(m["text"] for m in request["messages"] if m["role"] == "user")


def passages_in(request: Request) -> list[Shown]:
    """Return the passages that a request shows, each once, in order."""
    text = "\n".join(message["text"] for message in request["messages"])
    shown = (
        Shown(key, title, " ".join(re.sub(r"^#.*$", "", said, flags=re.MULTILINE).split()))
        for _, title, inner in _SOURCE.findall(text)
        for key, said in _PASSAGE.findall(inner)
    )
    return list({one.id: one for one in shown}.values())


@dataclass
class ScriptedResearcher:
    """A script for `ScriptedProvider`. Fields set to a value are played as told.

    `sections` maps planned titles to their searches (without it the plan follows what looking around has shown);
    `at_once` says how many of a section's searches are made in each turn, its last number in all further ones.
    `opens`: sources that a researcher opens before its notes. `sentences` is the length of a section's notes. `retry`
    are titles that their first review sends back; one that stands there twice is sent back twice. `edits` are what it
    reads out of an answer to its plan. `slips` adds the sentence that no passage says. `problems` are what its
    verifier names, `look_ups` what its writer searches for before it writes.
    """

    sections: Mapping[str, Sequence[str]] = field(default_factory=dict)
    query_type: str = "general"
    output_format: str = "prose"
    at_once: Sequence[int] = (2, 1)
    opens: int = 0
    sentences: int = 8
    slips: bool = True
    retry: Sequence[str] = ()
    edits: Sequence[Mapping[str, Any]] = ()
    problems: Sequence[Mapping[str, Any]] = ()
    look_ups: Sequence[str] = ()
    _planned: dict[str, Sequence[str]] = field(default_factory=dict, init=False)
    _sent: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        """Know the sections from the start where they are given: a run may be taken up after its plan."""
        self._planned = dict(self.sections)

    def __call__(self, request: Request) -> Reply:
        """Return the answer to a request."""
        step = step_of(request)
        if step in ("research", "supervise", "notes", "write", "reread", "examine"):
            return getattr(self, f"_{step}")(request)
        if not step:
            schema = schema_of(request)
            return Reply(data=instance_of(schema)) if schema else Reply(text="Understood.")
        data = getattr(self, f"_{step}")(request)
        if not schema_of(request):
            return Reply(text=json.dumps(data, ensure_ascii=False))
        # Fields that are not of interest are filled, so that the answer always fits.
        return Reply(data={**instance_of(schema_of(request) or {}), **data})

    def section_of(self, request: Request) -> str:
        """Return the title of the section that a request is about, or ""."""
        users = _users(request)
        found = _OWN_SECTION.search(users) or _REVIEWED.search(users)
        return (found[1] or "all of it") if found else ""

    def _decide(self, request: Request) -> dict[str, Any]:
        return {
            "next_action": "START_RESEARCH",
            "confidence": 0.9,
            "question": "",
            "refined_question": "",
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

    def _edit_plan(self, request: Request) -> dict[str, Any]:
        return {"edits": list(self.edits)}

    def _research(self, request: Request) -> Reply:
        turns = [m["tool_calls"] for m in request["messages"] if m["tool_calls"]]
        title = self.section_of(request)
        suggested = _SUGGESTED.search(_users(request))
        wanted = list(self._planned.get(title, suggested[1].split(" · ") if suggested else [title]))
        wanted += [f"{q} in detail {n}" for n in range(1, self._sent[title] + 1) for q in self._planned.get(title, ())]
        made = sum(len(_queries(call)) for turn in turns for call in turn if call["name"] == "search")
        more = self.at_once[min(len(turns), len(self.at_once) - 1)]
        if queries := wanted[made : made + more]:
            return Reply(tool_calls=tuple(Call("search", {"queries": [q], "source": ""}) for q in queries))
        opened = sum(call["name"] == "open" for turn in turns for call in turn)
        sources = list(dict.fromkeys(shown.id.partition("p")[0] for shown in passages_in(request)))
        if opened < self.opens and opened < len(sources):
            return Reply(tool_calls=(Call("open", {"source": sources[opened], "find": ""}),))
        return self._notes(request)

    def _notes(self, request: Request) -> Reply:
        """The notes of one section; of one that stands for all of them (`loop`) under their titles."""
        title = self.section_of(request)
        titles = [title] if title in self._planned else list(self._planned) or [title]
        said = {one: self._said_about(one, request) for one in titles}
        findings = [text for about in said.values() for text in about][:3]
        if not findings:
            return Reply(text="I looked for it with the searches above in all of the sources and found nothing. " * 4)
        if len(titles) > 1:
            parts = "\n\n".join(f"## {one}\n\n{_listed(about)}" for one, about in said.items() if about)
            return Reply(text=f"{parts}\n\n{_FILL}")
        return Reply(
            text=f"## Key findings\n\n{_listed(findings)}\n\n## Notes\n\n{_paragraphs(said[title])}\n\n{_FILL}"
        )

    def _said_about(self, title: str, request: Request) -> list[str]:
        shown = ((one, _first_sentence(one.text)) for one in _relevant(passages_in(request), title))
        return [f"{sentence} [{one.id}]" for one, sentence in shown if sentence][: self.sentences]

    def _supervise(self, request: Request) -> Reply:
        asked = [call["name"] for message in request["messages"] for call in message["tool_calls"]]
        if "conduct_research" in asked:
            return Reply(tool_calls=(Call("research_complete", {}),))
        topics = [{"title": title, "research_topic": f"Find out about {title}."} for title in self._planned]
        return Reply(tool_calls=tuple(Call("conduct_research", topic) for topic in topics))

    def _write(self, request: Request) -> Reply:
        start = next((n for n, m in enumerate(request["messages"]) if _REPORT_FORM in m["text"]), 0)
        looked_up = sum(len(m["tool_calls"]) for m in request["messages"][start:])
        if looked_up < len(self.look_ups):
            query = self.look_ups[looked_up]
            return Reply(tool_calls=(Call("search", {"queries": [query], "source": ""}),))
        notes = [(title, _cited_sentences(text)) for title, text in _NOTES.findall(_users(request))]
        every = [one for _, said in notes for one in said]
        if not every:
            every = [f"{_first_sentence(p.text)} [{p.id}]" for p in passages_in(request) if _first_sentence(p.text)]
        opening = " ".join(every[:3])
        if self.slips and every:
            opening += f" {SLIP} [{_ID.findall(every[0])[0]}]"
        language = detect(" ".join(every)) if every else "en"
        body = [f"## {title}\n\n{_paragraphs(said)}" for title, said in notes if said]
        end, way_on = _ENDS.get(language, _ENDS["en"])
        parts = ["# A scripted report", opening, way_on, *body, f"## {end}\n\n{' '.join(every[-2:])}"]
        return Reply(text="\n\n".join(parts))

    def _judge(self, request: Request) -> dict[str, Any]:
        known = {shown.id: shown.text for shown in passages_in(request)}
        statements = _STATEMENT.findall(_users(request).partition("The statements")[2])
        problems = []
        for number, statement in statements:
            evidence = " ".join(known.get(key, "") for key in _ID.findall(statement))
            wanted = set(content_terms(_ID.sub("", re.split(r" — noticed: ", statement)[0])))
            shared = len(wanted & set(content_terms(evidence))) / max(1, len(wanted))
            if shared < _SHARED_TERMS:
                told = f"{shared:.0%} of its words stand there"
                problems.append({"number": int(number), "verdict": "unsupported", "problem": told})
        return {"problems": problems, "reckonings": [], "checked": len(statements)}

    def _reread(self, request: Request) -> Reply:
        return Reply(text=_users(request).partition("<report>\n")[2].partition("\n</report>")[0])

    def _examine(self, request: Request) -> Reply:
        return Reply(text=json.dumps({"problems": list(self.problems), "parts": []}, ensure_ascii=False))

    def _examined(self, request: Request) -> dict[str, Any]:
        return {"problems": list(self.problems), "parts": []}

    def _revise(self, request: Request) -> dict[str, Any]:
        """Take out each statement that was found unsupported; other problems are rejected."""
        report = next((m["text"] for m in reversed(request["messages"]) if m["text"].startswith("# ")), "")
        edits, rejected = [], []
        told = [found for m in request["messages"] if m["role"] == "user" and (found := _PROBLEM.findall(m["text"]))]
        for number, kind, quote in told[-1] if told else ():
            at = re.search(re.escape(quote.rstrip(".。")) + r"(?:[.。]| ?\[s\d+p\d+\])*", report)
            if kind == "unsupported" and at is not None and report.count(at[0]) == 1:
                edits.append({"problems": [int(number)], "old": at[0], "new": ""})
            else:
                rejected.append({"number": int(number), "why": "The sources say so."})
        return {"edits": edits, "rejected": rejected}

    def _weak(self, titles: Sequence[str]) -> list[str]:
        """Those of `titles` to be sent back."""
        weak = [title for title in titles if self._sent[title] < list(self.retry).count(title)]
        self._sent.update(weak)
        return weak

    def _more_searches(self, title: str) -> list[str]:
        return [f"{query} in detail {self._sent[title]}" for query in self._planned.get(title, ())]

    def _review_section(self, request: Request) -> dict[str, Any]:
        title = self.section_of(request)
        if not self._weak([title]):
            return {"status": "sufficient", "score": 8, "missing": [], "queries": []}
        missing = [f"more on {title} (attempt {self._sent[title] + 1})"]
        return {"status": "partial", "score": 5, "missing": missing, "queries": self._more_searches(title)}

    def _review(self, request: Request) -> dict[str, Any]:
        retry = self._weak(list(self._planned))
        rows = [
            {
                "title": title,
                "status": "partial",
                "score": 5,
                "notes": f"more on {title} (attempt {self._sent[title] + 1})",
                "missing": [f"more on {title}"],
                "queries": self._more_searches(title),
            }
            for title in retry
        ]
        return {
            "is_sufficient": not retry,
            "overall_score": 6 if retry else 8,
            "section_coverage": rows,
            "gaps": [],
            "sections_to_retry": retry,
        }


_ENDS = {
    "en": ("Conclusion", f"This order was chosen for the reader{', who decides by it' * 17}."),
    "zh": ("结论", f"以下各节按读者决定时的顺序排列{'，先后由此而定' * 10}。"),
    "ja": ("結論", f"以下の各節は読者が決める順に並ぶ{'、後先はこれで決まる' * 8}。"),
    "ko": ("결론", f"다음 절은 독자가 정하는 순서로 놓인다{', 앞뒤 차례는 이것으로 정한다' * 17}."),
}
"""Titles of the last section, and a sentence of the writer's own that makes an opening as long as one is asked to be."""
_FILL = "What follows from this is left to the writer, who has all of the notes. " * 3


def _queries(call: Mapping[str, Any]) -> Sequence[str]:
    arguments = call["arguments"]
    arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    return arguments.get("queries") or []


def _cited_sentences(notes: str) -> list[str]:
    said: list[str] = []
    at = 0
    for cited in re.finditer(r"(?:\[s\d+p\d+\])+", notes):
        start = max(at, *(notes.rfind(sign, at, cited.start()) + 1 for sign in "\n#[]"))
        if sentence := notes[start : cited.start()].strip(" -"):
            said.append(f"{sentence} {cited[0]}")
        at = cited.end()
    return list(dict.fromkeys(said))


def _relevant(passages: Sequence[Shown], title: str) -> list[Shown]:
    """Those that share a term with the title first."""
    wanted = set(content_terms(title))
    return sorted(passages, key=lambda shown: -len(wanted & set(content_terms(shown.text))))


def _first_sentence(text: str) -> str:
    """The first sentence that says something: no heading, not too short."""
    found = [" ".join(text[s.start : s.end].split()) for s in sentences(text)]
    plain = [s for s in found if s.endswith((".", "。", "다.")) and not s.startswith(("#", "|", "-", "*", "```"))]
    return next((s for s in plain if len(s) > 20 and "[" not in s), "")


def _listed(said: Sequence[str]) -> str:
    return "\n".join(f"- {one}" for one in said)


def _paragraphs(written: Sequence[str]) -> str:
    return "\n\n".join(" ".join(written[i : i + 3]) for i in range(0, len(written), 3))
