"""Stand-ins for the world, over real HTTP: for the tests of this program and of programs built on it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.clock import FakeClock as FakeClock
    from tests.support.dns import FakeDns as FakeDns
    from tests.support.fake_web import FakeWeb as FakeWeb
    from tests.support.scripted_provider import RecordedCall as RecordedCall
    from tests.support.scripted_provider import ScriptedProvider as ScriptedProvider
    from tests.support.scripted_replies import Call as Call
    from tests.support.scripted_replies import Reply as Reply

_HOME = {
    "Call": "scripted_replies",
    "FakeClock": "clock",
    "FakeDns": "dns",
    "FakeWeb": "fake_web",
    "RecordedCall": "scripted_provider",
    "Reply": "scripted_replies",
    "ScriptedProvider": "scripted_provider",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used."""
    if name in _HOME:
        return getattr(import_module(f"tests.support.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
