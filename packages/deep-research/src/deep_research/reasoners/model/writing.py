"""Model calls of the writer: one conversation from notes to report and revisions."""

from collections.abc import Sequence

from claimcheck.language import language_name
from deep_research.data import (
    FOREIGN,
    Assignment,
    Edit,
    ModelMessage,
    Move,
    Problem,
    Question,
    Revision,
    ToolSpec,
    Turn,
)
from deep_research.data.actions import LOOKUPS, REVISION_LOOKUPS
from deep_research.i18n.catalog import phrase
from deep_research.ports import Library
from deep_research.reasoners.model.answers import ReviseAnswer
from deep_research.reasoners.model.asking import read_as
from deep_research.reasoners.model.base import ModelReasonerBase, brief_text, system, user
from deep_research.reasoners.model.conversation import actions_of, messages_of
from deep_research.reasoners.model.passage_views import in_reading_order, passages_of, show_passages, within_tokens
from deep_research.reasoners.model.researching import trimmed
from deep_research.text.near_duplicates import distinct_passages
from deep_research.text.prompt_fencing import clean, clean_own
from deep_research.text.token_count import estimate_tokens
from deep_research.verification.statements import asked_length

_WORDS = {"brief": "400 to 700", "standard": "1,800 to 3,000", "deep": "5,000 to 9,000"}
_SIGNS = {"brief": "1,200 to 2,200", "standard": "4,000 to 6,500", "deep": "14,000 to 24,000"}
_CHARACTER_LANGUAGES = ("zh", "ja", "ko")
_NOTES_SHARE = 0.6
"""Share of the material's room that the notes may take before they are cut; the passages get the rest."""
_WHOLE_SHARE, _SHRUNK_SHARE = 0.7, 0.4
"""Shares of the room up to which the writer's own research is shown as it was, and that it takes where it is longer."""
_LOOKED_UP_SHARE, _REVISED_SHARE = 0.15, 0.1
"""Shares for what is looked up before writing, and for revisions.

They are kept free from the first prompt on: what is shown before stays as it was sent, and providers' caches hold it.
"""
_SAID, _SAID_CHARS = 12, 1_000
"""Messages of a conversation before the question that are looked through for the person's own words, and their length."""
_FEW_PROBLEMS = 5
"""So many are put right in place; for more the writer's own report is written anew, so that nothing is squeezed in."""
_PROBLEM_TOKENS = 8_000
"""How much of the passages that tell problems right a writer is shown again."""


class Writing(ModelReasonerBase):
    """The thoughts of the writer."""

    async def write(self, assignment: Assignment, turns: Sequence[Turn], library: Library) -> Move:
        """See `ports.Reasoner.write`; a text without calls is the report."""

        async def make(budget: int) -> Move:
            messages = self._writing(assignment, turns, library, budget)
            answer = await self._ask.act("report", messages, self._writer_tools(assignment))
            return Move(actions=actions_of(answer, f"w{len(turns)}", self._writer_tools(assignment)), text=answer.text)

        return await self._within_window(self._room("report"), make)

    async def revise(
        self,
        assignment: Assignment,
        turns: Sequence[Turn],
        text: str,
        rounds: Sequence[Revision],
        problems: Sequence[Problem],
        looked: Sequence[Turn],
        library: Library,
    ) -> Move:
        """Revise as `ports.Reasoner` says, in the writer's conversation with its tools."""

        is_anew = not rounds and len(problems) > _FEW_PROBLEMS and self._settings.workflow not in FOREIGN
        length = self._length(assignment)

        async def make(budget: int) -> Move:
            said = [ModelMessage(role="assistant", text=assignment.draft)]
            for done in rounds:
                told = self._problems(done.problems, "", library, length if done.text else "")
                said += [told, ModelMessage(role="assistant", text=done.text or _edits_as_text(done.edits))]
            messages = self._writing(assignment, turns, library, budget)
            is_shown = not rounds or bool(rounds[-1].text)
            problem_list = self._problems(problems, "" if is_shown else text, library, length if is_anew else "")
            asked = [*messages, *said, problem_list]
            asked += messages_of(looked, library, budget=int(budget * _REVISED_SHARE), calls=REVISION_LOOKUPS)
            tools = self._writer_tools(assignment)
            if is_anew:
                answer = await self._ask.act("report", asked, tools)
                found = None if "\n## " in answer.text else read_as(ReviseAnswer, answer)[0]
            else:
                answer, found = await self._ask.act_or_answer("report", asked, tools, ReviseAnswer)
            if found is None:
                actions = actions_of(answer, f"e{len(rounds)}.{len(looked)}", tools)
                return Move(actions=actions, text=answer.text if is_anew else "")
            return Move(edits=_edits_of(found, len(problems)))

        return await self._within_window(self._room("report"), make)

    async def reread(self, assignment: Assignment, text: str) -> str:
        """See `ports.Reasoner.reread`; asked alone, without sources or problems."""
        language = assignment.brief.language
        prompt = self._render(
            "reread",
            question=_quoted(assignment.question),
            report=clean_own(text),
            language=language_name(language),
            opening=asked_length(language),
        )
        return (await self._ask.act("report", [user(prompt)], ())).text

    def _problems(self, problems: Sequence[Problem], report: str, library: Library, length: str) -> ModelMessage:
        """Return a message of the problems, for edits of `report` or a new one.

        A new report is one of so much `length`.
        """
        ids = [key for problem in problems for key in problem.passages]
        passages = within_tokens(passages_of(ids, library), min(_PROBLEM_TOKENS, self._window // 8)) if ids else []
        failed = [e.old for p in problems for e in p.failed_edits]
        rows = [{"number": n, **p.model_dump(include={"kind", "quote", "problem", "evidence", "passages"})}
                for n, p in enumerate(problems, 1)]  # fmt: skip
        return user(
            self._render(
                "revise",
                problems=rows,
                passages=show_passages(passages, library),
                failed=failed,
                report=report,
                length=length,
                lookups=REVISION_LOOKUPS,
            )
        )

    def _writer_tools(self, assignment: Assignment) -> Sequence[ToolSpec]:
        """Return the tools of a writer, those of its own research if it continues that."""
        return self._tools if assignment.research else self._lookups

    def _writing(
        self, assignment: Assignment, turns: Sequence[Turn], library: Library, budget: int
    ) -> list[ModelMessage]:
        """Return the writer's conversation in `budget` tokens; passages are cut first.

        Who has researched the whole question itself goes on in that conversation. Where it no longer fits it has shrunk
        to names; then question and brief are told again, with the passages of its notes.
        """
        research, is_whole = self._research_of(assignment, library, budget)
        brief, language = assignment.brief, assignment.brief.language
        standing = self._render(
            "write",
            question=_quoted(assignment.question),
            date=self._date,
            language=language_name(language),
            style=phrase("writing_style", language),
            length=self._length(assignment),
            opening=asked_length(language),
            lookups=LOOKUPS,
            has_appendix=self._settings.depth != "brief",
            output_format=assignment.analysis.output_format,
            is_agreed=brief.is_agreed,
            mcp_prompt=self._settings.mcp_prompt,
            is_own=bool(research),
        )
        looked_up = messages_of(turns, library, budget=int(budget * _LOOKED_UP_SHARE), calls=LOOKUPS)
        room = int(budget * (1 - _LOOKED_UP_SHARE - _REVISED_SHARE)) - estimate_tokens(standing)
        if is_whole:
            return [*research, user(standing), *looked_up]
        if research:
            room -= sum(estimate_tokens(m.text) for m in research)
            bare = assignment.model_copy(update={"sections": ()})
            return [*research, user(f"{standing}\n\n{self._given(bare, library, max(0, room))}"), *looked_up]
        return [system(standing), user(self._given(assignment, library, max(0, room))), *looked_up]

    def _length(self, assignment: Assignment) -> str:
        """Return how long a report is to be."""
        besides = (
            "ids and code not counted" if self._settings.depth == "brief" else "ids, code and appendix not counted"
        )
        if assignment.brief.language in _CHARACTER_LANGUAGES:
            return f"{_SIGNS[self._settings.depth]} characters, a Latin word as one, {besides}"
        return f"{_WORDS[self._settings.depth]} words, {besides}"

    def _research_of(self, assignment: Assignment, library: Library, budget: int) -> tuple[list[ModelMessage], bool]:
        """Return the writer's own research, if any, and whether all of it is shown."""
        whole = assignment.whole
        if whole is None or not assignment.research:
            return [], False
        task, calls = self._task(whole, assignment.brief), self._calls(whole)
        full = messages_of(assignment.research, library, budget=self._window, calls=calls)
        if sum(estimate_tokens(m.text) for m in (*task, *full)) <= budget * _WHOLE_SHARE:
            return [*task, *full], True
        room = int(budget * _SHRUNK_SHARE)
        return [*task, *messages_of(assignment.research, library, budget=room, calls=calls)], False

    def _given(self, assignment: Assignment, library: Library, room: int) -> str:
        """Return question, notes and passages within `room` tokens."""
        notes = [s.model_copy(update={"content": clean_own(s.content)}) for s in assignment.sections if s.content]
        size = sum(estimate_tokens(s.content) for s in notes)
        most = max(int(room * _NOTES_SHARE), room - self._passage_tokens)
        if size > most:
            notes = [trimmed(s, int(estimate_tokens(s.content) * most / size)) for s in notes]
            size = most
        left = min(self._passage_tokens, room - size - estimate_tokens(assignment.brief.research_brief))
        passages = distinct_passages(passages_of(assignment.passages, library)) if left > 0 else []
        chosen = within_tokens(passages, left) if passages else []
        return self._render(
            "assignment",
            parts=assignment.analysis.parts,
            brief=brief_text(assignment.brief),
            assumptions=assignment.brief.assumptions,
            sections=notes,
            not_found=[clean(text) for text in assignment.not_found],
            passages=show_passages(in_reading_order(chosen), library),
            remarks=assignment.brief.remarks,
        )


def _edits_of(answer: ReviseAnswer, problems: int) -> tuple[Edit, ...]:
    """Return an answer's edits; a problem the writer rejects has one without words."""
    edits = [
        Edit(old=e.old, new=e.new, problems=tuple(n - 1 for n in e.problems if 0 < n <= problems))
        for e in answer.edits
        if e.old.strip()
    ]
    rejected = {row.number - 1: row.why for row in answer.rejected if 0 < row.number <= problems}
    return (*edits, *(Edit(old="", new="", problems=(n,), reply=why) for n, why in rejected.items()))


def _edits_as_text(edits: Sequence[Edit]) -> str:
    answer = ReviseAnswer.model_validate(
        {"edits": [{"problems": [n + 1 for n in e.problems], "old": e.old, "new": e.new} for e in edits if e.old]}
    )
    return answer.model_dump_json()


def _quoted(question: Question) -> str:
    """Return the person's words, a line each: earlier ones, answers, the question."""
    said = [*(m.text[:_SAID_CHARS] for m in question.history[-_SAID:] if m.role == "user"), question.text]
    return "\n> ".join(" ".join(clean(one).split()) for one in said)
