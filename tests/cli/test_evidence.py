"""`mafteach evidence`, as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli
from tests.contracts.model_server import KEY, serving

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
    judged = json.dumps({"support": "not_supported", "why": "It says otherwise.", "missing": ""})
    with serving(lambda request: judged if "response_format" in request else "NO ANSWER") as server:
        model = {"MAFTEACH_LLM_URL": server.url, "MAFTEACH_LLM_MODEL": "scripted", "MAFTEACH_LLM_API_KEY": KEY}
        proposed = cli("evidence", "propose", case, "--tenant", "demo", "--resamples", "2", "--json", **model)
    assert json.loads(proposed.stdout)["standing"] == "a proposal, not a verdict", proposed.stderr
    verdict = ("--attachment", "attached", "--attachment-reason", "נפתח", "--support", "supported")
    arguments = ("evidence", "decide", case, claim, "--tenant", "demo", "--reviewer", "dana", *verdict)
    assert cli(*arguments, "--support-reason", " ").returncode == 2
    assert cli(*arguments, "--support-reason", "כתוב כך").returncode == 0
    # A second decision that names none before it is refused.
    assert cli(*arguments, "--support-reason", "אחרת").returncode == 2
    shown = json.loads(cli("evidence", "show", case, "--tenant", "demo", "--json").stdout)[0]
    # What the model proposed stands apart, and in no count.
    assert shown["counts"]["by_verdict"] == {
        "supported": 1, "partially_supported": 0, "not_supported": 0, "cannot_be_evaluated": 0,
    }  # fmt: skip
    assert {(row["by_model"]["support"], row["by_model"]["kept"]) for row in shown["rows"]} == {("not_supported", 0)}
    assert cli("evidence", "export", case, "--tenant", "demo", "--out", "pack.zip").returncode == 0
    assert cli("evidence", "verify", "pack.zip").returncode == 0
    replayed = cli("evidence", "replay", case, "--tenant", "demo", "--json")
    assert replayed.returncode == 0, replayed.stdout
    assert json.loads(replayed.stdout)["runs"][0]["comparable"]


def test_every_answer_of_a_log_is_frozen(cli: Cli, tmp_path: Path) -> None:
    refused = json.loads(cli("ask", "מהו קוטר הירח הגדול של צדק", "--tenant", "demo", "--json").stdout)
    lines = [json.dumps(one) for one in (refused, {**refused, "question": "ומה קוטרו של הקטן?"})]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    frozen = cli("evidence", "freeze", "--from-log", "log.jsonl", "--tenant", "demo", "--owner", "noa", "--json")
    assert frozen.returncode == 0, frozen.stderr
    found = json.loads(frozen.stdout)
    assert [one["outcome"] for one in found] == ["refusal", "refusal"]
    assert len({one["case"] for one in found}) == 2
