"""The page that people use, at `/`: fixed files of this package, open to anyone, since they tell nothing of any tenant.

Nothing of a document or of a query is ever in them; the page asks the API for those, with the key of whoever sits
before it. Every file has a route of its own: the gate opens exactly these paths.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Final

from fastapi import APIRouter, Header
from fastapi.responses import Response

router = APIRouter(include_in_schema=False)

INDEX: Final = "index.html"
# What a browser is told of each file; only these are served.
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
# Scripts and styles come from this service alone, none stands in a page or in an attribute, and no text becomes markup
# or code. `blob:` is the PDF that the page fetched with the key, shown in a frame.
CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "frame-src blob:",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
# Asked again at every visit, and sent again only where it has changed: a page never runs with parts of two versions.
CACHED: Final = "no-cache"


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file of the page."""

    path: str
    media_type: str
    data: bytes

    @property
    def tag(self) -> str:
        """Its entity tag: a hash of its bytes."""
        return f'"{hashlib.sha256(self.data).hexdigest()[:32]}"'


@cache
def page_files() -> tuple[PageFile, ...]:
    """Every file of the page, the index first."""
    found = sorted(
        (file for file in files("api").joinpath("ui").iterdir() if f".{file.name.rpartition('.')[2]}" in TYPES),
        key=lambda file: (file.name != INDEX, file.name),
    )
    return tuple(
        PageFile(
            "/" if file.name == INDEX else f"/ui/{file.name}",
            TYPES[f".{file.name.rpartition('.')[2]}"],
            file.read_bytes(),
        )
        for file in found
    )


PAGE_PATHS: Final = frozenset(file.path for file in page_files())


def _route(file: PageFile) -> Callable[[str], Response]:
    headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY, "Cache-Control": CACHED, "ETag": file.tag}

    def show(if_none_match: Annotated[str, Header()] = "") -> Response:
        if file.tag in {tag.strip().removeprefix("W/") for tag in if_none_match.split(",")}:
            return Response(status_code=304, headers=headers)
        return Response(file.data, media_type=file.media_type, headers=headers)

    return show


for _file in page_files():
    router.add_api_route(_file.path, _route(_file), methods=["GET"], name=_file.path)
