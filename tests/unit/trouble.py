"""Extractors that do what parsers do at their worst; only processes of tests know them."""

from __future__ import annotations

import ctypes
import os
import sys

from ingest.extract.base import ExtractedDocument
from ingest.extract.options import ExtractOptions
from ingest.extract.plain import extract_plain


def hang(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Never come back."""
    while True:
        sum(range(1_000_000))


def crash(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Read address zero, in C."""
    ctypes.string_at(0)
    return extract_plain(data, name=name)


def stray(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Raise what no extractor may raise."""
    raise RuntimeError("never seen")


def eat(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Allocate until there is no more."""
    held = []
    while True:
        held.append(bytearray(10_000_000))


def chatter(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Print, as libraries do."""
    print("warning: something", flush=True)
    sys.stdout.write("more\n")
    return extract_plain(data, name=name)


def environment(data: bytes, *, name: str, options: ExtractOptions) -> ExtractedDocument:
    """Give the names of the variables that it sees."""
    return extract_plain("\n".join(os.environ).encode(), name=name)
