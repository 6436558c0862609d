"""The query log as a data stream: rows expire behind all of its indices; a policy only where the cluster has such."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from api.query_log import QueryLog, QueryRow
from models.base import Embedder
from search_config.client import Engine
from search_config.errors import EngineRejected
from search_config.install import install
from search_config.names import Names
from search_config.retention import _is_same, has_state_management, is_stream, policy, put_retention
from tests.conftest import MakeIndex


def write(engine: Engine, names: Names, *days: int) -> None:
    lines = []
    for ago in days:
        at = datetime.now(UTC) - timedelta(days=ago)
        row = QueryRow(at=at, request_id=f"r{ago}", tenant="town", caller="k", path="GET /x", status=200)
        lines += [json.dumps({"create": {"_index": names.queries}}), row.model_dump_json(exclude_none=True)]
    assert all(item.ok for item in engine.bulk(lines, refresh="true"))


def test_rows_expire_behind_every_index_of_the_stream(engine: Engine, make_index: MakeIndex) -> None:
    names = make_index()[0].names
    assert is_stream(engine, names.queries)
    write(engine, names, 1, 40)
    engine.request("POST", f"/{names.queries}/_rollover")
    write(engine, names, 2, 50)
    log = QueryLog(engine, names, days=30)
    assert log.expire() == 2
    assert [row.request_id for row in log.rows("town")] == ["r1", "r2"]
    assert len(engine.request("GET", f"/_data_stream/{names.queries}")["data_streams"][0]["indices"]) == 2


def test_a_log_of_before_streams_goes_on(engine: Engine, embedder: Embedder, make_index: MakeIndex) -> None:
    info, settings = make_index()
    names = info.names
    engine.request("DELETE", f"/_data_stream/{names.queries}")
    engine.request("DELETE", f"/_index_template/{names.template('queries')}")
    engine.request("PUT", f"/{names.queries}", body={"mappings": {"properties": {"at": {"type": "date"}}}})
    install(engine, settings, embedder.description)
    assert not is_stream(engine, names.queries)
    fields = engine.request("GET", f"/{names.queries}/_mapping")[names.queries]["mappings"]["properties"]
    assert {"tenant", "took_ms", "no_result"} <= set(fields), "it was given the fields that it lacked"
    write(engine, names, 1, 40)
    assert QueryLog(engine, names, days=30).expire() == 1


def test_a_policy_is_put_only_where_there_is_the_plugin(engine: Engine, make_index: MakeIndex) -> None:
    """The embedded node has none; with one, the policy was never run here."""
    names = make_index()[0].names
    assert not has_state_management(engine)
    assert put_retention(engine, names, 90) is False
    with pytest.raises(EngineRejected):
        engine.request("GET", f"/_plugins/_ism/policies/{names.queries}")


@pytest.mark.parametrize(("days", "step"), [(1, 1), (9, 1), (90, 9), (3650, 365)])
def test_the_policy_deletes_no_row_too_early(days: int, step: int) -> None:
    states = policy(Names(prefix="town"), days)["policy"]["states"]
    rollover = states[0]["actions"][0]["rollover"]
    assert rollover["min_index_age"] == f"{step}d"
    # The last row of an index may be written a moment before the next one begins.
    assert states[0]["transitions"][0]["conditions"]["min_index_age"] == f"{days + step}d"
    assert states[1]["actions"] == [{"delete": {}}]
    assert {one["name"] for one in states} == {"written", "old"}


def test_a_policy_is_the_same_in_spite_of_what_the_engine_adds() -> None:
    wanted = policy(Names(prefix="town"), 90)["policy"]
    there = json.loads(json.dumps(wanted))
    there["policy_id"] = "town-queries"
    there["states"][1]["actions"][0]["retry"] = {"count": 3}
    assert _is_same(there, wanted)
    assert not _is_same(there, policy(Names(prefix="town"), 30)["policy"])
    there["states"].append({"name": "more"})
    assert not _is_same(there, wanted)
