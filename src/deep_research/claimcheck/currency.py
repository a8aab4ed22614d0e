"""Whether a statement is told as of its time: relative words of an old source, past futures, sources out of force.

Code flags what a reader would be misled by, and dates it where that can be done exactly; the judge and the writer are
told of the rest.
"""

import datetime
import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from deep_research.i18n import lexicon
from deep_research.i18n.catalog import bracket, phrase
from deep_research.text.cleaning import shorten
from deep_research.text.quantities import quantities
from deep_research.text.standing import NOT_CURRENT, UNDECIDED, Standing
from deep_research.text.units import CALENDAR, Quantity, date_parts

OLD_AFTER_DAYS = 270
"""From this age on, what a source says of its own time is not today's."""
_APART_DAYS = 400
_STEP_CHARS, _MOST_STEPS = 80, 3
_END = re.compile(r"[.!?。！？…]*[\"'”’」』）)\]]*\s*$")


class Dated(NamedTuple):
    """One cited source: the ISO date it speaks of ("" unknown), and its standing."""

    date: str
    standing: Standing


def flags_of(claim: str, sources: Sequence[Dated], today: datetime.date, said: str = "") -> tuple[str, ...]:
    """Return what a reader must know of the time of a factual claim: `relative_time`, `past_future`, `mixed_dates`,
    `not_current`; none where it says so itself.

    Where the text that it cites is given (`said`), a word such as "not yet" or "will" tells of a time only if one of its kind
    stands there too: "changes not yet committed" is true at all times.
    """
    found: list[str] = []
    dates = sorted(day for source in sources if (day := _day(source.date)) is not None)
    years = [q for q in quantities(claim) if q.unit in CALENDAR]
    now, future = _says("currency.now_patterns", claim), _says("currency.future_patterns", claim)
    if future and any(_is_past(q, today) for q in years):
        found.append("past_future")
    elif (
        (
            (now and (not said or _says("currency.now_patterns", said)))
            or (future and (not said or _says("currency.future_patterns", said)))
        )
        and not years
        and dates
        and (today - dates[-1]).days > OLD_AFTER_DAYS
    ):
        found.append("relative_time")
    if dates and (dates[-1] - dates[0]).days > _APART_DAYS and not years and _figures(claim) > 1:
        found.append("mixed_dates")
    statuses = {source.standing.status for source in sources}
    weak = statuses & NOT_CURRENT or (statuses and statuses <= UNDECIDED)
    if weak and not _says("currency.standing_patterns", claim):
        found.append("not_current")
    return tuple(found)


def with_note(
    claim: str, flags: Sequence[str], sources: Sequence[Dated], language: str, left_out: Sequence[str] = ()
) -> str:
    """Return the claim with what its flags ask for in brackets: the date it is as of, the standing of its source, the
    steps of its source that the text has `left_out`."""
    notes: list[str] = []
    dates = sorted(source.date for source in sources if source.date)
    if dates and {"relative_time", "past_future"} & set(flags):
        notes.append(phrase("as_of", language, date=written_date(dates[-1], language)))
    if "mixed_dates" in flags and len(dates) > 1:
        first, last = (written_date(day, language) for day in (dates[0], dates[-1]))
        notes.append(phrase("as_of", language, date=f"{first} – {last}"))
    weak = next((s.standing for s in sources if s.standing.status in NOT_CURRENT | UNDECIDED), None)
    if "not_current" in flags and weak is not None:
        standing = phrase(f"standing_{weak.status}", language)
        name = "source_standing_by" if weak.by else "source_standing"
        notes.append(phrase(name, language, standing=standing, by=weak.by))
    if left_out:
        shown = "; ".join(shorten(step, _STEP_CHARS) for step in left_out[:_MOST_STEPS])
        notes.append(phrase("steps_left_out", language, steps=shown))
    if not notes:
        return claim
    end = _END.search(claim)
    at = end.start() if end is not None else len(claim)
    return f"{claim[:at].rstrip()}{bracket('; '.join(notes), language)}{claim[at:]}"


def written_date(iso: str, language: str) -> str:
    """Return an ISO date as the language writes it: 2025-03 is March 2025, 2025年3月."""
    year, month, day = (int(part) for part in (*iso.split("-"), "0", "0")[:3])
    if not month:
        return str(year)
    values = {"year": year, "month": phrase(f"month_{month}", language)}
    if not day:
        return phrase("month_and_year", language, **values)
    return phrase("day_month_year", language, day=day, **values)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(lexicon.any_word(name), re.IGNORECASE)


def _says(name: str, text: str) -> bool:
    return _pattern(name).search(text) is not None


def _figures(claim: str) -> int:
    return sum(
        q.unit not in CALENDAR and re.search(r"\d", claim[q.start : q.end]) is not None for q in quantities(claim)
    )


def _day(iso: str) -> datetime.date | None:
    parts = [int(part) for part in iso.split("-")[:3] if part.isdecimal()]
    try:
        return datetime.date(parts[0], parts[1] if len(parts) > 1 else 7, parts[2] if len(parts) > 2 else 1)
    except (IndexError, ValueError):
        return None


def _is_past(quantity: Quantity, today: datetime.date) -> bool:
    year, month, day = date_parts(quantity)
    if not year:
        return False
    return (year, month or 12, day or 31) < (today.year, today.month, today.day)
