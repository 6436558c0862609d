"""`mafteach evidence`, as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli

EXAMPLES = Path(__file__).parents[2] / "examples" / "evidence"


def test_a_pack_is_verified_and_a_changed_byte_is_named(cli: Cli, tmp_path: Path) -> None:
    assert cli("evidence", "export", str(EXAMPLES / "04-elevator-rescue"), "--out", "pack.zip").returncode == 0
    assert cli("evidence", "verify", "pack.zip").returncode == 0
    pack = bytearray((tmp_path / "pack.zip").read_bytes())
    pack[pack.index(b"900")] ^= 1
    (tmp_path / "pack.zip").write_bytes(pack)
    found = cli("evidence", "verify", "pack.zip", "--json")
    assert found.returncode == 1
    assert json.loads(found.stdout)["part"]


def test_a_case_from_question_to_pack(cli: Cli) -> None:
    made = cli("evidence", "freeze", "כמה אישורי חניה מגיעים לתושב?", "--tenant", "demo", "--owner", "dana", "--json")
    assert made.returncode == 0, made.stderr
    case = json.loads(made.stdout)[0]["case"]
    split = cli("evidence", "claims", case[:12], "--tenant", "demo", "--json")
    claim = next(one["claim_id"] for one in json.loads(split.stdout)["claims"] if one["material"])
    verdict = ("--attachment", "attached", "--attachment-reason", "נפתח", "--support", "supported")
    arguments = ("evidence", "decide", case, claim, "--tenant", "demo", "--reviewer", "dana", *verdict)
    assert cli(*arguments, "--support-reason", " ").returncode == 2
    assert cli(*arguments, "--support-reason", "כתוב כך").returncode == 0
    # A second decision that names none before it is refused.
    assert cli(*arguments, "--support-reason", "אחרת").returncode == 2
    shown = json.loads(cli("evidence", "show", case, "--tenant", "demo", "--json").stdout)[0]
    assert shown["counts"]["by_verdict"]["supported"] == 1
    assert cli("evidence", "export", case, "--tenant", "demo", "--out", "pack.zip").returncode == 0
    assert cli("evidence", "verify", "pack.zip").returncode == 0
    replayed = cli("evidence", "replay", case, "--tenant", "demo", "--json")
    assert replayed.returncode == 0, replayed.stdout
    assert json.loads(replayed.stdout)["runs"][0]["comparable"]
