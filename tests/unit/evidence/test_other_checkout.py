"""A pack made here is verified by another checkout, in another process: nothing of this one is needed but the pack."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from evaluation.evidence.folder import case_folders, load_case
from evaluation.evidence.pack import build_pack

ROOT: Final = Path(__file__).parents[3]
PACKAGES: Final = ("search_config", "models", "ingest", "query", "evaluation")
# Names where the code came from, then says of each pack whether it holds, and which part does not.
SCRIPT: Final = """
import json, sys
from pathlib import Path
import evaluation
from evaluation.evidence.verify import verify_file
found = [verify_file(Path(name)) for name in sys.argv[1:]]
print(json.dumps([evaluation.__file__, *([one.holds, one.part] for one in found)]))
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code, elsewhere."""
    there = tmp_path_factory.mktemp("checkout")
    kept = shutil.ignore_patterns("__pycache__", "*.onnx", "*.npz", "*.parquet")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, there / name, ignore=kept)
    return there


def verified(checkout: Path, *packs: Path) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, packs)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def test_a_pack_made_here_holds_there_and_a_changed_one_does_not(checkout: Path, tmp_path: Path) -> None:
    data = build_pack([load_case(folder) for folder in case_folders(ROOT / "examples" / "evidence")])
    good, bad = tmp_path / "good.zip", tmp_path / "bad.zip"
    good.write_bytes(data)
    at = data.index(b"decisions.json") - 1
    bad.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    code, first, second = verified(checkout, good, bad)
    assert Path(code).is_relative_to(checkout)
    assert first == [True, None]
    assert second[0] is False
    assert second[1]
