"""YAML front matter: metadata, never content. Every scalar stays the string that was written. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

# Front matter is a few lines; a longer block between two rules is text.
FRONT_MATTER_CHARS_MAX: Final = 20_000
_FENCED: Final = re.compile(r"\s*---[ \t]*\n(?P<yaml>.*?)(?:(?<=\n)|^)(?:---|\.\.\.)[ \t]*(?:\n|$)", re.S)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stood in front, and where the body begins."""

    values: dict[str, Any] = field(default_factory=dict)
    body_from: int = 0
    report: tuple[str, ...] = ()


class _StringLoader(yaml.BaseLoader):
    """Resolves nothing (a date stays `2024-03-19`, a version `1.10`), and follows no alias: they grow without end."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        return super().compose_node(parent, index)


def read_front_matter(text: str) -> FrontMatter:
    """Read the block between `---` lines at the very start of a text.

    YAML that does not parse is kept out of the content all the same, and reported; a block that is no mapping is text
    between two rules, and stays content.
    """
    if not text.lstrip().startswith("---"):
        return FrontMatter()
    found = _FENCED.match(text, 0, FRONT_MATTER_CHARS_MAX)
    if found is None:
        return FrontMatter()
    try:
        # The subclass of the safe BaseLoader makes strings, lists and mappings only.
        values = yaml.load(found["yaml"], Loader=_StringLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError) as error:
        problem = " ".join(str(error).split())[:200]
        return FrontMatter(body_from=found.end(), report=(f"The front matter is not valid YAML, ignored: {problem}",))
    if isinstance(values, dict):
        return FrontMatter(values={str(key): value for key, value in values.items()}, body_from=found.end())
    return FrontMatter(body_from=found.end()) if not found["yaml"].strip() else FrontMatter()
