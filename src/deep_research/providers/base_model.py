"""What the models behind all wires share: they are opened alike, and leave out what a server does not take."""

from typing import ClassVar

from deep_research.concurrency import on_wires
from deep_research.data import ModelAnswer, ModelRequest
from deep_research.providers.http_wire import HttpWire, WireFailure
from deep_research.providers.model_families import Family
from deep_research.providers.provider_failures import About, translate, unsupported_parameter
from deep_research.providers.token_stream import call_on_wires


class WiredModel:
    """A chat model behind a wire (`OpenModel`); made once per run."""

    changes: ClassVar[int] = 4
    """How often one request is changed before it counts as refused."""

    def __init__(self, wire: HttpWire, about: About, family: Family, *, thinking: bool = False) -> None:
        """`thinking` lets a model that can think before it answers do so."""
        self.provider = about.provider
        self.model = about.model
        self.address = about.base_url
        self.family = family
        self._wire = wire
        self._about = about
        self._thinking = thinking
        self._left_out: set[str] = set()

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer; see `OpenModel.complete`."""
        return await call_on_wires(lambda: self._complete(request))

    async def _complete(self, request: ModelRequest) -> ModelAnswer:
        for _ in range(self.changes):
            try:
                return await self._ask(request)
            except WireFailure as failure:
                if self._leave_out(unsupported_parameter(failure)):
                    continue
                if made := self._salvaged(failure, request):
                    return made
                raise translate(failure, self._about) from failure
        raise translate(WireFailure("", status=400, body="it refuses one parameter after the other"), self._about)

    async def close(self) -> None:
        """Let go of connections."""
        await on_wires(self._wire.close())

    async def _ask(self, request: ModelRequest) -> ModelAnswer:
        """Send the request and read the answer. Raises WireFailure, and what `understood` raises."""
        raise NotImplementedError

    def _leave_out(self, parameter: str) -> bool:
        """Change what is sent so that `parameter` does not occur any more; False when that changes nothing."""
        raise NotImplementedError

    def _salvaged(self, failure: WireFailure, request: ModelRequest) -> ModelAnswer | None:
        """The answer that a failure carries, for servers that refuse their own model's answers."""
        return None
