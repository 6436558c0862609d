"""The section header that strategies E and F embed before a chunk: "[title > section]"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ingest.chunking.base import SECTION_SEPARATOR
from models.base import TokenCounter

# A header says where a passage belongs; past a quarter of the window it would crowd out the passage itself.
WINDOW_SHARE_MAX: Final = 0.25
ELLIPSIS: Final = "…"


def headers(
    title: str, sections: Iterable[tuple[str, ...]], window: int, counter: TokenCounter
) -> dict[tuple[str, ...], str]:
    """The header of each section; one that is too long keeps its beginning (the title) and its end (the section).

    Args:
        title: the document's.
        sections: section paths, without the title.
        window: tokens of a passage.
        counter: counts tokens as the model does.
    """
    most = int(window * WINDOW_SHARE_MAX)
    whole = {section: _header(title, section) for section in set(sections)}
    fitting: dict[tuple[str, ...], str] = {}
    while whole:
        counts = counter.count_tokens(list(whole.values()))
        longer: dict[tuple[str, ...], str] = {}
        for (section, header), tokens in zip(whole.items(), counts, strict=True):
            if tokens <= most:
                fitting[section] = header
            elif len(shorter := _shortened(header, most / tokens)) < len(header):
                longer[section] = shorter
            else:
                fitting[section] = ""
        whole = longer
    return fitting


def _header(title: str, section: tuple[str, ...]) -> str:
    line = SECTION_SEPARATOR.join(part for part in (title, *section) if part)
    return f"[{' '.join(line.split())}]" if line.strip() else ""


def _shortened(header: str, share: float) -> str:
    """About `share` of the header's characters, from both ends, around an ellipsis."""
    inner = header[1:-1].replace(ELLIPSIS, "")
    keep = int(len(inner) * share) // 2
    if keep < 1:
        return header
    return f"[{inner[:keep].rstrip()}{ELLIPSIS}{inner[len(inner) - keep :].lstrip()}]"
