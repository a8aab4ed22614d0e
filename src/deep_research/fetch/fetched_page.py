"""What a fetch brings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was fetched. `url` is the address asked for, `final_url` where redirects led.

    `media_type` is what the body is (not only what the server said); `charset` an encoding that the
    body is declared in and decodes in, None when that must be guessed. `retrieved_at` is ISO 8601 in
    UTC: when the server gave or confirmed the body. `archived_url` is the dead address that an
    archived copy stands for, "" for a live page.
    """

    url: str
    final_url: str
    status: int
    media_type: str
    charset: str | None
    body: bytes
    retrieved_at: str
    etag: str = ""
    last_modified: str = ""
    archived_url: str = ""
