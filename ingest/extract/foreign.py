"""The one seam where what parsers raise becomes an error of ours, cause chained."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from lxml import etree

from search_config.errors import ExtractionFailed

# Parsers of office formats check little: what a damaged file makes of them is any error of a wrong shape, key, type or
# number. `MemoryError` is not among them: that is the machine's trouble, not the file's.
PARSER_ERRORS: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    SyntaxError,  # xml.etree's ParseError is one
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    etree.LxmlError,
)
# Of a foreign message, a person needs the beginning.
REASON_CHARS_MAX: Final = 200
_OBJECT: Final = re.compile(r"<[^<>]* object at 0x[0-9a-f]+>")


@contextmanager
def parsing(what: str, name: str, *more: type[Exception]) -> Iterator[None]:
    """Turn a parser's error into `ExtractionFailed`; errors of ours pass.

    Args:
        what: the format, as a person calls it.
        name: the file's name.
        more: roots of errors of the parser's own, which are of no class of `PARSER_ERRORS`.
    """
    known: tuple[type[BaseException], ...] = (*PARSER_ERRORS, *more)
    try:
        yield
    except known as error:
        # Also errors of PARSER_ERRORS' subclasses in libraries' own trees (KeyError, UnicodeError, BadZipFile …).
        message = _OBJECT.sub("…", str(error))
        reason = " ".join(f"{type(error).__name__}: {message}".split())[:REASON_CHARS_MAX]
        raise ExtractionFailed(
            f"The {what} file is damaged, or not what it says it is ({reason}).",
            where=name,
            remedy="Open it in its own program, save it anew, and ingest that.",
        ) from error
