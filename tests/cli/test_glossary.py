"""`mafteach glossary`: import, list, export, delete."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli


def test_a_file_goes_in_and_comes_out_again(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "terms.jsonl"
    lines = [{"term": "מתנ״ס", "kind": "acronym", "equivalents": ["מרכז קהילתי"]}]
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    done = cli("glossary", "import", str(file), "--tenant", "demo", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"written": 1, "deleted": 0}
    assert json.loads(cli("glossary", "list", "--tenant", "demo", "--json").stdout) == lines
    assert [json.loads(line) for line in cli("glossary", "export", "--tenant", "demo").stdout.splitlines()] == lines
    assert cli("glossary", "list", "--tenant", "other", "--json").stdout.strip() == "[]"
    assert cli("glossary", "delete", "מתנ״ס", "--tenant", "demo").returncode == 0
    assert cli("glossary", "list", "--tenant", "demo", "--json").stdout.strip() == "[]"


def test_every_bad_line_is_named(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "terms.jsonl"
    file.write_text('{"term": "x"}\n{"term": "", "equivalents": ["y"]}\nno json\n', encoding="utf-8")
    done = cli("glossary", "import", str(file), "--tenant", "demo")
    assert done.returncode == 2
    assert all(f"line {number}" in done.stderr for number in (1, 2, 3))
