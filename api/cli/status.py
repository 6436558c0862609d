"""`mafteach status`: engine, index, model, chunk size, documents by state."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from api.cli.context import Runtime, opened
from api.cli.failures import Exit
from api.cli.output import JsonFlag, print_json, print_line, print_pairs, print_table
from search_config.errors import EngineUnreachable, IndexMismatch, IndexMissing


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach status --json")(status)


def status(
    stale: Annotated[
        bool, typer.Option("--stale", help="Show documents by what they were made with, and what differs now.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show what runs and what is stored. Starts nothing.

    With --stale the documents are listed by model, analyzer, extractor and chunking instead; those that `mafteach
    migrate` would make anew are marked, and those whose file must be ingested again.

    Exits 3 where the engine does not run, and 1 where the index was made for another model.
    """
    with opened() as runtime:
        if stale:
            _stale(runtime, as_json=as_json)
            return
        found = _gather(runtime)
    if as_json:
        print_json(found)
    else:
        _print(found)
    if not found["engine"]["running"]:
        raise typer.Exit(Exit.ENGINE)
    if found["mismatch"]:
        raise typer.Exit(Exit.FAILED)


def _gather(runtime: Runtime) -> dict[str, Any]:
    from query.drift import corpus_of, drift
    from query.profile import profile_for
    from query.tenants import known_tenants
    from search_config.hebrew import ANALYZER_VERSION

    profile = profile_for(runtime.embedder.description, ANALYZER_VERSION, runtime.settings.profile)
    settings, model = runtime.settings, runtime.embedder.description
    engine = _engine(runtime)
    index, documents, mismatch, migration = None, {}, None, None
    changed: tuple[str, ...] = ()
    if engine["running"]:
        try:
            migration = _migration(runtime)
            info = runtime.info
            index = {
                "name": info.index,
                "model": info.model.identity,
                "analyzer": info.analyzer,
                "pipeline": info.pipeline,
            }
            documents = {
                tenant: {str(state): count for state, count in runtime.registry.summary(tenant).by_state.items()}
                for tenant in known_tenants(runtime.engine, runtime.names)
            }
            changed = drift(profile, corpus_of(runtime.engine, info))
        except IndexMissing:
            index = None
        except IndexMismatch as error:
            # What runs and what is configured is what the reader needs in order to mend it.
            mismatch = error.as_dict()
    return {
        "engine": engine,
        "model": {**model.model_dump(mode="json"), "identity": model.identity},
        "chunking": {
            "strategy": settings.chunk_strategy,
            "target_characters": settings.chunk_target,
            "window_tokens": runtime.embedder.passage_window,
        },
        "index": index,
        "profile": {"name": profile.label, "changed_since": list(changed), "warning": profile.warning},
        "mismatch": mismatch,
        "migration": migration,
        "documents": documents,
    }


def _migration(runtime: Runtime) -> dict[str, Any] | None:
    """The latest migration as far as it concerns anybody: unfinished, or with a version before that is still there."""
    from search_config.install import live_index
    from search_config.migration import read_migration, versions

    stored = read_migration(runtime.engine, runtime.names)
    live = live_index(runtime.engine, runtime.names)
    old = [name for name in versions(runtime.engine, runtime.names) if name != live]
    if stored is None or (stored.row.finished and not old):
        return None
    return {
        **stored.row.model_dump(mode="json", exclude={"lease", "model"}),
        "model": stored.row.model.identity,
        "other_versions": old,
    }


def _stale(runtime: Runtime, *, as_json: bool) -> None:
    from ingest.extract.registry import EXTRACTORS_VERSION
    from ingest.stale import documents_by_stamp
    from search_config.install import wanted_meta
    from search_config.records import Stamps

    meta = wanted_meta(runtime.settings, runtime.embedder.description)
    wanted = Stamps(
        model=meta.model.identity, analyzer=meta.analyzer, extractor=EXTRACTORS_VERSION, pipeline=meta.pipeline
    )
    if not _engine(runtime)["running"]:
        raise EngineUnreachable(
            "OpenSearch does not run.", where="embedded node", remedy="Start it: mafteach node start"
        )
    rows = [
        {
            "tenant": group.tenant,
            **group.stamps.model_dump(),
            "documents": group.documents,
            "chunks": group.chunks,
            "differs": list(group.differs(wanted)),
            "remedy": _remedy(group.differs(wanted)),
        }
        for group in documents_by_stamp(runtime.engine, runtime.names)
    ]
    if as_json:
        print_json({"wanted": wanted.model_dump(), "documents": rows})
        return
    print_pairs([("configured", ", ".join(f"{name} {value}" for name, value in wanted.model_dump().items()))])
    columns = ("tenant", "model", "analyzer", "extractor", "pipeline", "documents", "differs", "remedy")
    print_table(
        columns,
        [[", ".join(value) if isinstance(value := row[name], list) else value for name in columns] for row in rows],
    )


def _remedy(differs: tuple[str, ...]) -> str:
    if "extractor" in differs:
        return "mafteach ingest"
    return "mafteach migrate" if differs else ""


def _engine(runtime: Runtime) -> dict[str, Any]:
    settings = runtime.settings
    if settings.opensearch_url is None:
        from search_config.local_node import LocalNode

        node = LocalNode(settings).status()
        if not node.running:
            return {"embedded": True, "running": False, "url": node.url, "version": None}
    answer = runtime.engine.request("GET", "/")
    return {
        "embedded": settings.opensearch_url is None,
        "running": True,
        "url": runtime.engine.url,
        "version": answer["version"]["number"],
    }


def _index(found: dict[str, Any]) -> str:
    index, mismatch = found["index"], found["mismatch"]
    if mismatch:
        return f"{mismatch['where']}: REFUSED. {mismatch['what']} {mismatch['remedy']}"
    return f"{index['name']}, pipeline {index['pipeline']}" if index else "none yet (mafteach setup)"


def _migration_line(row: dict[str, Any]) -> str:
    if row["state"] in ("done", "abandoned"):
        return f"migration  done; {', '.join(row['other_versions'])} kept (mafteach migrate --drop-old)"
    why = f". It stopped: {row['reason']}" if row["reason"] else ""
    return (
        f"migration  {row['state']}: {row['source_index']} to {row['target_index']} ({row['model']}, "
        f"{row['pipeline']}), {row['migrated']} of {row['documents']} documents{why}"
    )


def _print(found: dict[str, Any]) -> None:
    engine, model, chunking = found["engine"], found["model"], found["chunking"]
    kind = "embedded node" if engine["embedded"] else "cluster"
    state = f"OpenSearch {engine['version']}" if engine["running"] else "not running (mafteach node start)"
    print_pairs(
        [
            ("engine", f"{kind} at {engine['url']}, {state}"),
            ("index", _index(found)),
            ("profile", found["profile"]["name"]),
            ("model", f"{model['identity']}, window {model['window']} tokens"),
            (
                "chunks",
                f"strategy {chunking['strategy']}, up to {chunking['target_characters']} characters or "
                f"{chunking['window_tokens']} tokens, whichever is less",
            ),
        ]
    )
    if found["migration"]:
        print_line(_migration_line(found["migration"]))
    for warning in (*found["profile"]["changed_since"], found["profile"]["warning"]):
        if warning:
            print_line(f"Warning: {warning}")
    if found["documents"]:
        print_line()
        rows = [
            (tenant, state, count) for tenant, counts in found["documents"].items() for state, count in counts.items()
        ]
        print_table(("tenant", "state", "documents"), rows)
