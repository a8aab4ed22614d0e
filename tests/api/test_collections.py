"""The garbage collector while runs go on."""

import gc

import pytest

from deep_research.concurrency import ShortCollections


@pytest.fixture(autouse=True)
def nothing_frozen() -> None:
    """Begin as a program begins; other tests may have left something frozen."""
    gc.unfreeze()


def test_what_was_there_is_spared_until_the_last_block_ends() -> None:
    spared, usual, there = ShortCollections(), gc.get_threshold(), [object()]
    with spared:
        assert gc.get_threshold() == (10_000, usual[1], 10 * usual[2])
        with spared:
            assert _is_frozen(there)
        assert _is_frozen(there)
    assert not _is_frozen(there)
    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == usual


def test_a_program_that_freezes_itself_keeps_what_it_froze() -> None:
    its_own = [object()]
    gc.freeze()
    made_later = [object()]
    spared = ShortCollections()
    with spared:
        assert (_is_frozen(its_own), _is_frozen(made_later)) == (True, False)
    assert _is_frozen(its_own)
    gc.unfreeze()
    assert not _is_frozen(its_own)


def _is_frozen(thing: object) -> bool:
    """Tell whether the collector passes over a container; counts would tell of what other threads let go of as well."""
    return not any(each is thing for each in gc.get_objects())
