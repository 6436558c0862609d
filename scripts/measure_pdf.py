"""Character error rates of the text that is read from PDF files of Chromium, LibreOffice and reportlab.

    python -m scripts.measure_pdf [--makers chromium libreoffice reportlab] [--only NAME] [--keep FOLDER] [--json FILE]

Every document is made with and without lines around its tables. The rate is the edit distance to the known text over
its length, white space squeezed; table rows are expected as `header: value | header: value`. Exit status 1 where the
rate over all is above the target.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rapidfuzz.distance import Levenshtein

from ingest.extract.options import ExtractOptions
from ingest.extract.pdf import extract_pdf
from scripts import pdf_makers
from scripts.pdf_documents import Source, example_sources, hard_sources

TARGET: Final = 0.01
EXAMPLES: Final = Path("examples/documents")
MAKERS: Final = ("chromium", "libreoffice", "reportlab")


@dataclass(frozen=True, slots=True)
class Measured:
    """One PDF file."""

    maker: str
    tables: str
    document: str
    characters: int
    errors: int
    pages: int
    doubts: int

    @property
    def rate(self) -> float:
        """Character error rate."""
        return self.errors / max(1, self.characters)


def main() -> int:
    """Print the rates by maker and document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--makers", nargs="+", choices=MAKERS, default=list(MAKERS), help="programs that make the files"
    )
    parser.add_argument("--only", default="", help="documents whose name holds this")
    parser.add_argument("--keep", type=Path, help="a folder for the files, their known texts and what was read")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    arguments = parser.parse_args()
    sources = [one for one in (*hard_sources(), *example_sources(EXAMPLES)) if arguments.only in one.name]
    missing = [
        name
        for name, program in (("chromium", "chromium"), ("libreoffice", "soffice"))
        if name in arguments.makers and shutil.which(program) is None
    ]
    if missing:
        parser.error(f"not installed: {', '.join(missing)}; leave them out with --makers")
    started = time.perf_counter()
    figures: list[Measured] = []
    for maker in arguments.makers:
        for ruled in (True, False):
            figures += _measured(maker, sources, arguments.keep, ruled=ruled)
    _print(figures)
    total = _rate(figures)
    print(
        f"all: {total:.4f} over {sum(one.characters for one in figures):,} characters, "
        f"{len(figures)} files, {sum(one.pages for one in figures)} pages, {time.perf_counter() - started:.0f} s"
    )
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(one) for one in figures], ensure_ascii=False, indent=1))
    return 0 if total <= TARGET else 1


def _measured(maker: str, sources: Sequence[Source], keep: Path | None, *, ruled: bool) -> Iterator[Measured]:
    tables = "ruled" if ruled else "plain"
    with tempfile.TemporaryDirectory() as folder:
        for source, data in _made(maker, sources, Path(folder), ruled=ruled):
            document = extract_pdf(data, name=f"{source.name}.pdf", options=ExtractOptions(ocr=False))
            read, known = " ".join(document.text.split()), " ".join(source.text.split())
            if keep is not None:
                place = keep / maker / tables
                place.mkdir(parents=True, exist_ok=True)
                (place / f"{source.name}.pdf").write_bytes(data)
                (place / f"{source.name}.known.txt").write_text(source.text, encoding="utf-8")
                (place / f"{source.name}.read.txt").write_text(document.text, encoding="utf-8")
            yield Measured(
                maker=maker,
                tables=tables,
                document=source.name,
                characters=len(known),
                errors=Levenshtein.distance(read, known),
                pages=max((block.locator.page or 0 for block in document.blocks), default=0),
                doubts=len(document.doubts),
            )


def _made(maker: str, sources: Sequence[Source], folder: Path, *, ruled: bool) -> Iterator[tuple[Source, bytes]]:
    if maker == "chromium":
        return pdf_makers.chromium(sources, ruled=ruled)
    if maker == "libreoffice":
        return pdf_makers.libreoffice(sources, folder, ruled=ruled)
    return pdf_makers.reportlab(sources, ruled=ruled)


def _rate(figures: Sequence[Measured]) -> float:
    return sum(one.errors for one in figures) / max(1, sum(one.characters for one in figures))


def _print(figures: Sequence[Measured]) -> None:
    columns = list(dict.fromkeys((one.maker, one.tables) for one in figures))
    by_place = {(one.document, one.maker, one.tables): one for one in figures}
    names = list(dict.fromkeys(one.document for one in figures))
    print(f"| {'document':28} | " + " | ".join(f"{maker} {tables}" for maker, tables in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name in names:
        cells = [by_place[name, *column] for column in columns]
        rates = " | ".join(f"{one.rate:.4f}{' doubted' if one.doubts else ''}" for one in cells)
        print(f"| {name:28} | {rates} |")
    rates = " | ".join(
        f"{_rate([one for one in figures if (one.maker, one.tables) == column]):.4f}" for column in columns
    )
    print(f"| {'all':28} | {rates} |")


if __name__ == "__main__":
    sys.exit(main())
