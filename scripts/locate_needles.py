"""Put every needle's offset into a data set's queries.jsonl, after its documents or the extraction changed.

    python -m scripts.locate_needles examples [--check]

Each needle must stand exactly once in the canonical texts of the whole corpus. --check writes nothing and fails where
an offset is not up to date.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from evaluation.dataset import DOCUMENTS_FOLDER, QUERIES_FILE
from ingest.extract.registry import extract
from search_config.settings import load_settings


def main() -> int:
    """Exit status 0, or 1 where a needle is missing, ambiguous, or (with --check) at another place."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    root = arguments.folder / DOCUMENTS_FOLDER
    limit = load_settings().max_file_bytes
    texts = {
        path.relative_to(root).as_posix(): extract(path.read_bytes(), name=path.name, max_bytes=limit).text
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
    queries = arguments.folder / QUERIES_FILE
    before = queries.read_text(encoding="utf-8")
    questions = [json.loads(line) for line in before.splitlines() if line.strip()]
    problems = [problem for question in questions for problem in _locate(question, texts)]
    after = "".join(json.dumps(question, ensure_ascii=False) + "\n" for question in questions)
    if arguments.check and after != before:
        problems.append(f"{queries} is not up to date")
    elif not arguments.check:
        queries.write_text(after, encoding="utf-8")
    print("\n".join(problems) or f"{len(questions)} questions, every needle at its one place")
    return 1 if problems else 0


def _locate(question: dict[str, object], texts: dict[str, str]) -> list[str]:
    problems = []
    needles = question.get("needles")
    for needle in needles if isinstance(needles, list) else []:
        document = str(needle.get("document_id") or question["document_id"])
        places = {name: text.count(needle["text"]) for name, text in texts.items() if needle["text"] in text}
        if places == {document: 1}:
            needle["from"] = texts[document].index(needle["text"])
        else:
            problems.append(f"{question['id']}: {needle['text']!r} stands in {places}, expected once in {document}")
    return problems


if __name__ == "__main__":
    sys.exit(main())
