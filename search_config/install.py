"""Set-up of the engine, and the one check that everybody passes who attaches to an index."""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from search_config import templates
from search_config.client import Engine
from search_config.errors import EngineRejected, IndexMismatch, IndexMissing
from search_config.hebrew import ANALYZER_VERSION
from search_config.model_description import ModelDescription
from search_config.names import Names
from search_config.retention import drop_retention, put_retention
from search_config.settings import Settings

Json = dict[str, Any]

# Changes whenever the same file would give other chunks or other fields than before.
PIPELINE_VERSION: Final = "1"
# k-NN must work inside the engine and weighted RRF pipelines exist since 2.19; fusion bugs were fixed in 3.5, and we
# compare the engine's own fusion with ours.
OLDEST_ENGINE: Final = (3, 5)
SPACE: Final = "cosinesimil"


class IndexMeta(BaseModel):
    """What an index of chunks was made for; stored in its mapping's `_meta`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: ModelDescription
    space: str
    analyzer: str
    pipeline: str
    building: bool = False  # by a migration that has not come to its end: nobody may attach


class IndexInfo(BaseModel):
    """A checked attachment to the live index of chunks."""

    model_config = ConfigDict(frozen=True)

    names: Names
    index: str
    model: ModelDescription
    analyzer: str
    pipeline: str
    engine_version: str


def pipeline_stamp(settings: Settings) -> str:
    """How documents are cut: pipeline version, chunking strategy, target length."""
    return f"{PIPELINE_VERSION}/{settings.chunk_strategy}/{settings.chunk_target}"


def install(engine: Engine, settings: Settings, model: ModelDescription) -> IndexInfo:
    """Put templates and pipelines, create what is missing, attach. Safe to repeat and to run twice at once.

    Raises:
        IndexMismatch: the live index was made for another model or analyzer.
        EngineRejected, EngineUnreachable, EngineOverloaded
    """
    names = Names(prefix=settings.index_prefix)
    _check_engine(engine)
    # A live index of another model is refused before its templates are touched.
    if live_index(engine, names) is not None:
        attach(engine, settings, model)
    wanted = put_templates(engine, settings, model)
    # Where there is no pipeline at all the engine answers 404 with an empty object.
    there = engine.request("GET", "/_search/pipeline", params={"ignore": 404})
    for name, body in templates.search_pipelines(names).items():
        # Each write goes through the cluster's state and costs a tenth of a second; install is run at every ingest.
        if there.get(name) != body:
            engine.request("PUT", f"/_search/pipeline/{name}", body=body)
    if live_index(engine, names) is None:
        create_chunks_index(engine, settings, model, version=1, live=True)
    _create_rows(engine, names, wanted)
    # Before the log's first index, which takes its policy when it is made.
    put_retention(engine, names, settings.query_log_days)
    _create_stream(engine, names.queries)
    _extend(engine, names.queries, wanted[names.template("queries")])
    for stream in (names.evidence, names.feedback):
        _create_stream(engine, stream)
    return attach(engine, settings, model)


def extend_old(engine: Engine, settings: Settings) -> None:
    """Give a set-up of an earlier version the indices that it lacks, without touching what is made for a model.

    Raises:
        EngineRejected, EngineUnreachable, EngineOverloaded
    """
    names = Names(prefix=settings.index_prefix)
    if engine.exists(f"/{names.migrations}"):
        return
    wanted = templates.index_templates(names, settings, dim=1)
    del wanted[names.template("chunks")]
    for name, body in wanted.items():
        engine.request("PUT", f"/_index_template/{name}", body=body)
    _create_rows(engine, names, wanted)


def put_templates(engine: Engine, settings: Settings, model: ModelDescription) -> dict[str, Json]:
    """Put the templates of new indices, for a model's vectors. Gives the index templates by their full name.

    Raises:
        EngineRejected, EngineUnreachable, EngineOverloaded
    """
    names, sparse = Names(prefix=settings.index_prefix), model.sparse_terms is not None
    for name, body in templates.component_templates(names, sparse=sparse).items():
        engine.request("PUT", f"/_component_template/{name}", body=body)
    wanted = templates.index_templates(names, settings, model.dim, sparse=sparse)
    for name, body in wanted.items():
        engine.request("PUT", f"/_index_template/{name}", body=body)
    return wanted


def uninstall(engine: Engine, names: Names) -> None:
    """Delete every index, template and pipeline of a prefix; for temporary installations."""
    engine.request("DELETE", f"/{names.prefix}-*", params={"ignore_unavailable": "true"})
    # Before its template, which the engine keeps as long as a stream is made by it.
    engine.request("DELETE", f"/_data_stream/{names.prefix}-*")
    for kind in ("_index_template", "_component_template"):
        engine.request("DELETE", f"/{kind}/{names.prefix}-*")
    engine.request("DELETE", f"/_search/pipeline/{names.prefix}-*", params={"ignore": 404})
    drop_retention(engine, names)


def create_chunks_index(
    engine: Engine, settings: Settings, model: ModelDescription, *, version: int, live: bool
) -> str:
    """Create one version of the chunks index; `live` puts the alias on it. Gives its name."""
    names = Names(prefix=settings.index_prefix)
    name = names.chunks_version(version)
    meta = wanted_meta(settings, model)
    body: Json = {"mappings": {"_meta": meta.model_dump(mode="json")}}
    if live:
        body["aliases"] = {names.chunks: {"is_write_index": True}}
    _create(engine, name, body)
    return name


def create_next_index(engine: Engine, settings: Settings, model: ModelDescription, name: str) -> None:
    """Create an index of chunks beside the live one, marked as being built; one that is there stays.

    Its mapping is sent whole: templates still are those of the live index, whose processes may put them again.

    Raises:
        EngineRejected, EngineUnreachable, EngineOverloaded
    """
    names, sparse = Names(prefix=settings.index_prefix), model.sparse_terms is not None
    parts = [*templates.component_templates(names, sparse=sparse).values()]
    parts.append(templates.index_templates(names, settings, model.dim, sparse=sparse)[names.template("chunks")])
    body: Json = {"settings": {"index": {}}, "mappings": {"properties": {}}}
    for part in (part["template"] for part in parts):
        body["settings"]["index"] |= part.get("settings", {}).get("index", {})
        mappings = part.get("mappings", {})
        properties = body["mappings"]["properties"] | mappings.get("properties", {})
        body["mappings"] |= {**mappings, "properties": properties}
    meta = wanted_meta(settings, model).model_copy(update={"building": True})
    body["mappings"]["_meta"] = meta.model_dump(mode="json")
    _create(engine, name, body)


def wanted_meta(settings: Settings, model: ModelDescription) -> IndexMeta:
    """What an index that is made now is made for."""
    return IndexMeta(model=model, space=SPACE, analyzer=ANALYZER_VERSION, pipeline=pipeline_stamp(settings))


def finish_index(engine: Engine, index: str) -> None:
    """Mark an index as whole."""
    meta = index_meta(engine, index).model_copy(update={"building": False})
    engine.request("PUT", f"/{index}/_mapping", body={"_meta": meta.model_dump(mode="json")})


def attach(engine: Engine, settings: Settings, model: ModelDescription) -> IndexInfo:
    """Attach to the live index, or refuse.

    Raises:
        IndexMissing: set-up was never run for this prefix.
        IndexMismatch: the index was made for another model (of the same dimension too), space or analyzer.
    """
    names = Names(prefix=settings.index_prefix)
    live = live_index(engine, names)
    if live is None:
        raise IndexMissing(
            "There is no index yet.", where=names.chunks, remedy="Run `mafteach setup`, or ingest documents first."
        )
    meta = index_meta(engine, live)
    _check(meta, model, live)
    return IndexInfo(
        names=names,
        index=live,
        model=model,
        analyzer=meta.analyzer,
        pipeline=pipeline_stamp(settings),
        engine_version=_engine_version(engine),
    )


def _check(meta: IndexMeta, model: ModelDescription, index: str) -> None:
    wrong = []
    if meta.model.identity != model.identity:
        wrong.append(f"its vectors are of the model {meta.model.identity}, the configured model is {model.identity}")
    elif meta.model.token_codes != model.token_codes:
        wrong.append(
            f"its token codes are {meta.model.token_codes or 'absent'}, configured are {model.token_codes or 'none'}"
        )
    elif meta.model.sparse_terms != model.sparse_terms:
        wrong.append(
            f"its sparse terms are {meta.model.sparse_terms or 'absent'}, configured are {model.sparse_terms or 'none'}"
        )
    if meta.building:
        wrong.append("a migration is still building it")
    if meta.space != SPACE:
        wrong.append(f"its vectors are compared by {meta.space}, this version compares by {SPACE}")
    if meta.analyzer != ANALYZER_VERSION:
        wrong.append(f"its text was analysed by {meta.analyzer}, this version analyses by {ANALYZER_VERSION}")
    if wrong:
        raise IndexMismatch(
            f"This index was made otherwise: {'; '.join(wrong)}.",
            where=index,
            remedy="Set MAFTEACH_EMBEDDER, MAFTEACH_EMBEDDER_MODEL and MAFTEACH_SPARSE back; or build the index anew "
            "for them, while searches go on: mafteach migrate.",
        )


def live_index(engine: Engine, names: Names) -> str | None:
    """The one index behind the alias; None where there is no alias.

    Raises:
        IndexMismatch: it stands on several.
    """
    if not engine.exists(f"/_alias/{names.chunks}"):
        return None
    indices = sorted(engine.request("GET", f"/_alias/{names.chunks}"))
    if len(indices) != 1:
        raise IndexMismatch(
            f"The alias stands on {len(indices)} indices ({', '.join(indices)}); vectors would be mixed.",
            where=names.chunks,
            remedy="Take the alias off all but one of them.",
        )
    return str(indices[0])


def index_meta(engine: Engine, index: str) -> IndexMeta:
    """What an index was made for.

    Raises:
        IndexMismatch: it does not say so in a form that we know.
    """
    mapping = engine.request("GET", f"/{index}/_mapping")[index]["mappings"]
    try:
        return IndexMeta.model_validate(mapping.get("_meta", {}))
    except ValidationError as error:
        raise IndexMismatch(
            "This index does not say what it was made for, or says it in another version's form.",
            where=index,
            remedy="Choose another MAFTEACH_INDEX_PREFIX and ingest again.",
        ) from error


def _create(engine: Engine, index: str, body: Json) -> None:
    if engine.exists(f"/{index}"):
        return
    try:
        engine.request("PUT", f"/{index}", body=body)
    except EngineRejected:
        # Another process may have made it between the two calls; attach() checks what it made.
        if not engine.exists(f"/{index}"):
            raise


def _create_rows(engine: Engine, names: Names, wanted: dict[str, Json]) -> None:
    """Indices of rows, whatever the model is; those of an older version get the fields that they lack."""
    for name, index in (
        ("documents", names.documents),
        ("keys", names.keys),
        ("workers", names.workers),
        ("migrations", names.migrations),
        ("glossary", names.glossary),
    ):
        _create(engine, index, {})
        _extend(engine, index, wanted[names.template(name)])


def _extend(engine: Engine, index: str, template: Json) -> None:
    """Give an index of an older version the fields that it lacks; those that it has stay as they are."""
    wanted = template["template"]["mappings"]["properties"]
    # A data stream has several, by the names of the indices behind it.
    for behind, found in engine.request("GET", f"/{index}/_mapping").items():
        there = found["mappings"].get("properties", {})
        missing = {name: mapping for name, mapping in wanted.items() if name not in there}
        if missing:
            engine.request("PUT", f"/{behind}/_mapping", body={"properties": missing})


def _create_stream(engine: Engine, name: str) -> None:
    """A data stream: the engine itself refuses every write to it that is not a creation."""
    if engine.exists(f"/{name}"):
        return
    try:
        engine.request("PUT", f"/_data_stream/{name}")
    except EngineRejected:
        if not engine.exists(f"/{name}"):
            raise


def _engine_version(engine: Engine) -> str:
    return str(engine.request("GET", "/")["version"]["number"])


def _check_engine(engine: Engine) -> None:
    version = _engine_version(engine)
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_ENGINE:
        raise EngineRejected(
            f"OpenSearch {version} is too old.",
            where=engine.url,
            remedy=f"Use {'.'.join(map(str, OLDEST_ENGINE))} or newer.",
        )
