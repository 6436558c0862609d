"""Commands that the pages tell people to type are commands that there are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_help import ALL

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCED = re.compile(r"^```(?:bash|sh|console|shell)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TARGETS = set(re.findall(r"^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
# What parts commands of one line; what stands behind a redirection is a file.
JOINTS = {"&&", "||", ";", "|", "&"}
REDIRECTIONS = {">", ">>", "<", "2>"}


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each command in the page's fenced shell blocks, without variables set before it."""
    for block in FENCED.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            words: list[str] = []
            for word in [*shlex.split(line.removeprefix("$ "), comments=True), ";"]:
                if word in JOINTS:
                    if words:
                        yield words
                    words = []
                elif words or not re.fullmatch(r"[A-Z_]+=.*", word):
                    words.append(word)


def without_redirections(words: list[str]) -> list[str]:
    for index, word in enumerate(words):
        if word in REDIRECTIONS:
            return words[:index]
    return words


ASKED = [
    pytest.param(words, id=f"{page.name}: {' '.join(words)[:60]}")
    for page in PAGES
    for words in commands(page)
    if words[0].removeprefix(".venv/bin/") in ("mafteach", "make")
]


@pytest.mark.parametrize("words", ASKED)
def test_a_command_of_a_page_parses(words: list[str]) -> None:
    program, *arguments = without_redirections(words)
    if program == "make":
        assert {word for word in arguments if "=" not in word and not word.startswith("-")} <= TARGETS
        return
    named = max((known for known in ALL if tuple(arguments[: len(known)]) == known), key=len)
    # Parses, runs nothing; raises where a command, an option or a value is wrong.
    ALL[named].make_context(named[-1] if named else "mafteach", arguments[len(named) :])


def test_the_readme_begins_with_the_two_commands() -> None:
    first = list(commands(ROOT / "README.md"))[:2]
    assert first == [["make", "demo"], ["make", "test"]]
