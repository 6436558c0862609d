"""What a query must be before anything is asked, and how its text is cleaned. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

from pydantic import ValidationError

from query.request import SearchRequest
from search_config.errors import EmptyQuery, InvalidRequest, QueryTooLong
from search_config.records import tenant_id

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Directional marks, zero-width blanks, soft hyphens, byte order marks: they come along with text copied from a page and
# are never meant. U+200C and U+200D stay: some scripts and emoji need them.
_INVISIBLE: Final = re.compile("[\u200b\u200e\u200f\u061c\u2060\u202a-\u202e\u2066-\u2069\ufeff\u00ad]")


def clean_query(text: str, *, max_chars: int) -> str:
    """The query as it is searched: NFC, without invisible marks, control characters (NUL too) and runs of blanks as
    one blank.

    Query-syntax characters stay: a query is plain text and is never parsed.

    Args:
        text: as it came.
        max_chars: the longest query that is accepted, in characters as it came.

    Raises:
        QueryTooLong: over `max_chars`.
        InvalidRequest: a lone surrogate, by its position.
        EmptyQuery: no letter and no digit in it.
    """
    if len(text) > max_chars:
        raise QueryTooLong(
            f"The query has {len(text):,} characters, the limit is {max_chars:,}.",
            where="query",
            remedy="Shorten it, or raise MAFTEACH_MAX_QUERY_CHARS.",
        )
    surrogate = _SURROGATE.search(text)
    if surrogate:
        raise InvalidRequest(
            f"The query has a lone surrogate, U+{ord(surrogate.group()):04X}, which is not a character.",
            where=f"query, position {surrogate.start()}",
            remedy="Send valid Unicode text.",
        )
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFC", text))
    cleaned = " ".join("".join(" " if unicodedata.category(c) == "Cc" else c for c in visible).split())
    if not any(unicodedata.category(c)[0] in "LN" for c in cleaned):
        raise EmptyQuery(
            "The query has no letter and no digit.",
            where="query",
            remedy="Ask with at least one word, number or identifier.",
        )
    return cleaned


def search_request(*, tenant: str | None, query: str, **fields: Any) -> SearchRequest:
    """A validated request, with all problems at once; the door's way from loose values to a request.

    Raises:
        MissingTenant, InvalidTenant: before anything else is looked at.
        InvalidRequest: every other field that is wrong, by its name.
    """
    try:
        return SearchRequest(tenant=tenant_id(tenant), query=query, **fields)
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise InvalidRequest(f"{error.error_count()} problem(s): {problems}.", where="request") from error
