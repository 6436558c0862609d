"""The layers of the house are complete: no folder that ships, and no folder at all, is left out of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_package_that_ships_is_in_a_layer(project: dict[str, Any]) -> None:
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    linter = project["tool"]["importlinter"]
    layers = next(contract for contract in linter["contracts"] if contract["type"] == "layers")["layers"]
    named = [name.strip() for layer in layers for name in layer.split("|")]
    assert sorted(named) == sorted(shipped)
    assert sorted(linter["root_packages"]) == sorted(shipped)


def test_every_package_ships_and_is_typed(project: dict[str, Any]) -> None:
    """Tests and scripts are for who works here; everything else that Python can import is the product."""
    there = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "scripts"}
    assert there == set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    assert there <= set(project["tool"]["mypy"]["files"])
    assert {path.parent.name for path in ROOT.glob("*/*.py")} - {"tests", "scripts"} == there


def test_no_layer_escapes_the_contract_of_a_foreign_library(project: dict[str, Any]) -> None:
    """Each contract that forbids a library names every layer but the one that may use it, or it would have a hole."""
    shipped = set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    contracts = [one for one in project["tool"]["importlinter"]["contracts"] if one["type"] == "forbidden"]
    assert len(contracts) >= 3
    for contract in contracts:
        assert len(shipped - set(contract["source_modules"])) == 1, contract["name"]


def test_no_module_is_long() -> None:
    lengths = {
        path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines())
        for package in ("search_config", "models", "ingest", "query", "evaluation", "api")
        for path in (ROOT / package).rglob("*.py")
    }
    assert {str(path): lines for path, lines in lengths.items() if lines > 400} == {}
    assert sorted(lengths.values())[len(lengths) // 2] < 150
