"""`mafteach status`: engine, index, model, chunk size, documents by state."""

from __future__ import annotations

from typing import Any

import typer

from api.cli.context import Runtime, opened
from api.cli.failures import Exit
from api.cli.output import JsonFlag, print_json, print_line, print_pairs, print_table
from search_config.errors import IndexMismatch, IndexMissing


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach status --json")(status)


def status(as_json: JsonFlag = False) -> None:
    """Show what runs and what is stored. Starts nothing.

    Exits 3 where the engine does not run, and 1 where the index was made for another model.
    """
    with opened() as runtime:
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
    from query.profile import load_profile
    from query.tenants import known_tenants

    profile = load_profile(runtime.settings.profile)
    settings, model = runtime.settings, runtime.embedder.description
    engine = _engine(runtime)
    index, documents, mismatch = None, {}, None
    changed: tuple[str, ...] = ()
    if engine["running"]:
        try:
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
        "profile": {"name": profile.label, "changed_since": list(changed)},
        "mismatch": mismatch,
        "documents": documents,
    }


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
    for change in found["profile"]["changed_since"]:
        print_line(f"Warning: {change}")
    if found["documents"]:
        print_line()
        rows = [
            (tenant, state, count) for tenant, counts in found["documents"].items() for state, count in counts.items()
        ]
        print_table(("tenant", "state", "documents"), rows)
