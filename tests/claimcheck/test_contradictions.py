"""Sentences of different sources that cannot both be true, and sentences that only look so."""

import pytest

from deep_research.claimcheck.contradictions import contradict

CONTRADICT = [
    ("The Alpha engine turns at 3,000 rpm.", "Alpha engine turns at 3,500 rpm."),
    ("The Alpha engine was built in 1999 in Graz.", "The Alpha engine was built in 2003 in Graz."),
    ("PostgreSQL supports parallel builds of B-tree indexes.", "PostgreSQL does not support parallel builds of B-tree indexes."),
    ("甲型发动机由李明于1999年在武汉制造。", "甲型发动机由李明于2003年在武汉制造。"),
    ("알파 엔진은 1999년 부산에서 김민수가 만들었다.", "알파 엔진은 2003년 부산에서 김민수가 만들었다."),
]  # fmt: skip
AGREE = [
    ("The Alpha engine turns at 3,000 rpm.", "The Beta engine turns at 3,500 rpm."),
    ("The Alpha engine turns at 3,000 rpm.", "The Alpha engine turns at about 3,200 rpm."),
    ("The Alpha engine turns at 3,000 rpm.", "The Alpha engine turns at 3,000 rpm and weighs 40 kg."),
    ("PostgreSQL 14 allows 32 columns in an index.", "PostgreSQL 15 allows 64 columns in an index."),
    ("The trial of Alpha enrolled 126 patients.", "The trial of Alpha enrolled 250 patients."),
    ("Alpha needs 3 seconds in our experiment.", "Alpha needs 5 seconds in our experiment."),
    ("Alpha engines cost 300 euros.", "Alpha engines cost 300 euros if they are rented, and 500 euros if not."),
    ("The engine turns at 3,000 rpm in summer.", "The engine turns at 3,500 rpm in summer."),
    ("Alpha costs 30 US dollars per month.", "Alpha takes 45 days per month."),
]


@pytest.mark.parametrize(("one", "other"), CONTRADICT)
def test_another_value_or_the_opposite_of_the_same_thing_contradicts(one: str, other: str) -> None:
    about = "发动机" if "发动机" in one else "알파 엔진" if "알파" in one else ""
    assert contradict(one, other, about)
    assert contradict(other, one, about)


@pytest.mark.parametrize(("one", "other"), AGREE)
def test_other_things_conditions_and_studies_do_not_contradict(one: str, other: str) -> None:
    assert not contradict(one, other)
    assert not contradict(other, one)


# Pairs of which one part of the rule alone decides: one, other, what both are about, and whether they contradict.
DECIDED = [
    # Speaking of their own study, sample or table; the same about the world.
    ("Our Alpha engine turns at 3,000 rpm.", "The Alpha engine turns at 3,500 rpm.", "", False),
    ("The Alpha engine turns at 3,000 rpm.", "In this table the Alpha engine turns at 3,500 rpm.", "", False),
    # Languages apart.
    ("Alpha 发动机 turns at 3,000 rpm 每分钟转速很高很高很高。", "Alpha turns at 3,500 rpm.", "", False),
    # Names of one that the other lacks.
    ("The Alpha engine of Graz turns at 3,000 rpm.", "The Alpha engine turns at 3,500 rpm.", "", False),
    # Without names only what both are known to be about makes them comparable.
    ("The rotary engine turns at 3,000 rpm.", "The rotary engine turns at 3,500 rpm.", "", False),
    ("The rotary engine turns at 3,000 rpm.", "The rotary engine turns at 3,500 rpm.", "rotary engine", True),
    ("The rotary engine turns at 3,000 rpm.", "The rotary engine turns at 3,500 rpm.", "rotary engine turns", True),
    ("The rotary engine turns at 3,000 rpm.", "The rotary engine turns at 3,500 rpm.", "steam engine", False),
    ("The rotary engine turns at 3,000 rpm.", "The rotary engine turns at 3,500 rpm.", "the", False),
    ("The vacancy rate is 5 %.", "The vacancy rate is 7 %.", "vacancy rate", True),  # that is all they share
    # Two values differ, or one has none.
    ("The Alpha engine has 3 valves and 40 pipes.", "The Alpha engine has 4 valves and 50 pipes.", "", False),
    ("The Alpha engine has 3 valves and 40 pipes.", "The Alpha engine has 4 valves and 40 pipes.", "", True),
    ("The Alpha engine has strong valves.", "The Alpha engine has 4 strong valves.", "", False),
    # Loose words on one side.
    ("The Alpha engine usually has 3 valves inside.", "The Alpha engine has 4 valves inside.", "", False),
    ("The Alpha engine has 3 valves inside.", "The Alpha engine usually has 4 valves inside.", "", False),
    # What is counted is not the same.
    ("The Alpha engine has 3 valves inside.", "The Alpha engine has 4 inside.", "", False),
    ("The Alpha engine weighs 300 kg in Graz.", "The Alpha engine weighs 200 g in Graz.", "", True),
    ("The Alpha engine weighs 300 kg in Graz.", "The Alpha engine weighs 200 euros in Graz.", "", False),
    ("The Alpha engine of phase 2 turns well.", "The Alpha engine of phase 3 turns well.", "", False),
    # The opposite as well as another value.
    (
        "The yearly output of the old Alpha engine increased strongly by 30 kg in Graz.",
        "The yearly output of the old Alpha engine decreased strongly by 40 kg in Graz.",
        "",
        False,
    ),
    # One of them has a value that the other has not.
    (
        "The Alpha engine runs well on oil in Graz.",
        "The Alpha engine does not run well on oil in Graz since 1999.",
        "",
        False,
    ),
    (
        "The Alpha engine of Rolf Maier turns at 3,000 rpm.",
        "The Alpha engine of Anna Holm turns at 3,500 rpm.",
        "",
        False,
    ),
    # A name that only one of them has, among many words in common.
    (
        "The Alpha engine of the new ferry of the northern line weighs 80 kg without oil, water and tools.",
        "The Alpha engine of the new ferry of the Kiel line weighs 95 kg without oil, water and tools.",
        "",
        False,
    ),
    (
        "The Alpha engine of the new ferry of the northern line weighs 80 kg without oil, water and tools.",
        "The Alpha engine of the new ferry of the northern line weighs 95 kg without oil, water and tools.",
        "",
        True,
    ),
    # The opposite, with a value that only one of them has.
    (
        "The Alpha engine of the ferry runs well on oil in summer, in autumn and at sea.",
        "The Alpha engine of the ferry does not run well on oil in summer, in autumn and at sea for 3 days.",
        "",
        False,
    ),
    # A plain number counts the word behind it; one at the end counts nothing else.
    ("The Alpha engine of Graz has valves: 3.", "The Alpha engine of Graz has valves: 4.", "", False),
    # The opposite alone.
    ("The Alpha engine runs well on oil in Graz.", "The Alpha engine does not run well on oil in Graz.", "", True),
    ("The Alpha engine gained much weight in Graz.", "The Alpha engine lost all its old valves in Graz.", "", False),
    ("The Alpha engine turns well in Graz.", "The Alpha engine turns well in Graz.", "", False),
    # Too few words in common to be one statement.
    ("Alpha has 3 valves.", "Alpha has 4 valves.", "", False),
    ("The Alpha engine has 3 steel valves.", "The Alpha engine has 4 brass pipes.", "", False),
    (
        "The Alpha engine has 3 steel valves.",
        "The Alpha engine that Rolf built long ago for a mill has 4 steel valves.",
        "",
        False,
    ),
]


@pytest.mark.parametrize(("one", "other", "about", "expected"), DECIDED)
def test_each_condition_of_a_contradiction(one: str, other: str, about: str, expected: bool) -> None:
    assert contradict(one, other, about) == expected
    assert contradict(other, one, about) == expected
