"""What every model's text goes through first."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD: UTF-8, and so tokenizers and JSON, can't carry one."""
    return _SURROGATE.sub("\ufffd", text)
