"""Models on the Hugging Face Hub (https://huggingface.co/docs/hub/api)."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from deep_research.data import Found, SearchResult
from deep_research.errors import Unreadable
from deep_research.ports import ApiResponse
from deep_research.sources import _record_documents as _writing
from deep_research.sources._api import ApiOptions, ApiSource, result
from deep_research.sources._api_answers import failure, json_of
from deep_research.sources._fields import first, iso_date, number, objects, score, text, texts

_MAX_TAGS = 30


class HuggingFaceModelsOptions(ApiOptions):
    """Options of the model search."""

    base_url: str = Field("https://huggingface.co", description="Address of the site.")
    requests_per_second: float = Field(
        1.0, gt=0, le=2, description="500 calls in five minutes (huggingface.co/docs/hub/rate-limits)."
    )
    burst: int = Field(50, ge=1, le=1000, description="Calls that may follow each other at once after a pause.")
    sort: str = Field("downloads", description="Order: downloads, likes, trendingScore, createdAt, lastModified.")


class HuggingFaceModelsSource(ApiSource[HuggingFaceModelsOptions]):
    """Searches models by words in their names."""

    name = "huggingface_models"
    purpose = "Models on the Hugging Face Hub with task, downloads, likes and licence."
    narrow = True

    async def _search(self, query: str, limit: int) -> SearchResult:
        params = {"search": query, "sort": self.options.sort, "direction": -1, "limit": min(limit, 100)}
        return result(parse_models(await self._get("/api/models", params)))


def parse_models(response: ApiResponse) -> list[Found]:
    """Return the models of a list in its order. Raises SourceError."""
    answer = json_of(response, HuggingFaceModelsSource)
    if not isinstance(answer, list):
        raise failure(Unreadable, response, HuggingFaceModelsSource, "the answer is no list of models")
    return [found for entry in objects(answer) if (found := _model(entry))]


def _model(entry: Mapping[str, Any]) -> Found | None:
    name = first(entry, "id", "modelId")
    if not name:
        return None
    author = text(entry.get("author")) or (name.split("/", maxsplit=1)[0] if "/" in name else "")
    published = iso_date(text(entry.get("createdAt")))
    facts = (
        ("Task", text(entry.get("pipeline_tag"))),
        ("Library", text(entry.get("library_name"))),
        ("Downloads", number(entry.get("downloads"))),
        ("Likes", number(entry.get("likes"))),
        ("Last change", iso_date(text(entry.get("lastModified")))),
        ("Tags", texts(entry.get("tags"))[:_MAX_TAGS]),
    )
    return Found(
        key=f"hf-model:{name}",
        title=name,
        url=f"https://huggingface.co/{name}",
        origin=HuggingFaceModelsSource.name,
        published=published,
        authors=(author,) if author else (),
        snippet="; ".join(f"{label}: {value}" for label, value in facts[:4] if value),
        score=score(entry.get("trendingScore")),
        document=_writing.document(name, facts=facts, published=published, authors=(author,) if author else ()),
    )
