"""What the user says to a run while it goes on."""

from typing import Literal

from pydantic import Field

from deep_research.data.noun import Noun

SteerKind = Literal["remark", "drop", "add", "finish"]


class Steer(Noun):
    """One thing the user said to a run that goes on.

    `text` is the remark, or what an added section should look for; `section` the title of the section that is
    dropped or added. `id` tells two alike apart, so that each takes effect once. `stop` ends the sitting that goes on.
    """

    kind: SteerKind | Literal["stop"]
    text: str = Field("", max_length=2_000)
    section: str = Field("", max_length=200)
    id: str = ""


class Changes(Noun):
    """What the user has changed about a run while it went on, for its report."""

    remarks: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    finished_early: bool = False
