"""What a report is exported from, and what comes of it."""

from typing import Literal

from pydantic import Field

from deep_research.data.noun import Noun
from deep_research.data.result import Report


class PassageContext(Noun):
    """The text of a snapshot just before and after a passage; "" at its ends."""

    before: str = ""
    after: str = ""


class ExportPoint(Noun):
    """A number of a figure, or a dated event: `display` is how it stands in its statement."""

    label: str
    value: float
    display: str
    passages: tuple[str, ...] = ()


class ExportFigure(Noun):
    """Verified numbers that can be compared (`bar`), one number over the years (`line`), or dated events (`timeline`)."""

    kind: Literal["bar", "line", "timeline"]
    title: str
    points: tuple[ExportPoint, ...]


class ExportInput(Noun):
    """A report with what the library of its run adds: authors by source id, the surroundings of passages by id.

    `font_folder` holds fonts to use beside those of the system ("" for none).
    """

    report: Report
    authors: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    contexts: dict[str, PassageContext] = Field(default_factory=dict)
    figures: tuple[ExportFigure, ...] = ()
    font_folder: str = ""


class Export(Noun):
    """A report in another format, with the file name it would be saved under."""

    data: bytes
    media_type: str
    file_name: str
