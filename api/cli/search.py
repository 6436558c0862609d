"""`mafteach search`: ranked passages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import opened
from api.cli.output import JsonFlag, TenantOption, clean, print_json, print_line, say, write_bytes
from api.cli.routed import AsOfOption, DerivedFlag, RouteOption, WithoutOption
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from api.export.files import Format
    from query.request import Filters, Hit, SearchResult

# What people know the fields of a request by.
NAMES = {
    "query": "QUERY",
    "size": "--size",
    "filters": "--filter",
    "mode": "--mode",
    "mmr_lambda": "--mmr-lambda",
    "route": "--route",
    "as_of": "--as-of",
    "without": "--without",
    "facets": "--facet",
    "from": "--from",
    "tenant": "--tenant",
}
# Longest passage that is printed for people, in characters; --json gives all of it.
SHOWN = 600


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach search 'אישור חניה לתושב' --tenant demo --filter type=procedure")(search)


def search(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What to look for, in Hebrew, English or both; or an identifier.")
    ],
    tenant: TenantOption,
    size: Annotated[int, typer.Option("--size", "-n", help="How many passages, 1 to 100.")] = 10,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            "-f",
            metavar="FIELD=VALUE",
            help="Only passages of such documents; a field given twice means one of both. Fields: document_id, type, "
            "language, tags, reference, groups, party, vendor, client, authority, person, currency, amount_min, "
            "amount_max, in_force_on, and date_, dated_, signed_, effective_, expires_ with from or to.",
        ),
    ] = None,
    mode: Annotated[str, typer.Option("--mode", metavar="MODE", help="auto, hybrid, lexical or dense.")] = "auto",
    group: Annotated[bool, typer.Option("--group", help="One row a document: its best passage.")] = False,
    diverse: Annotated[
        bool, typer.Option("--diverse", help="Leave near-duplicates for later places: as --mmr-lambda 0.7.")
    ] = False,
    mmr_lambda: Annotated[
        float | None,
        typer.Option(
            "--mmr-lambda",
            metavar="LAMBDA",
            help="Diversity: 1 keeps the ranking, 0 looks at difference alone; else the profile's.",
        ),
    ] = None,
    route: RouteOption = "auto",
    as_of: AsOfOption = None,
    without: WithoutOption = None,
    derived: DerivedFlag = True,
    facets: Annotated[
        list[str] | None,
        typer.Option(
            "--facet",
            metavar="FIELD",
            help="Count documents by type, language, tags, party, vendor, client, currency or year.",
        ),
    ] = None,
    from_: Annotated[int, typer.Option("--from", metavar="N", help="Skip so many passages: the next page.")] = 0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say of each passage why it stands there; show weights and times.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write the result to this file, .xlsx or .csv, with citations."
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Search a tenant's documents for passages."""
    from pydantic import ValidationError

    from api.cli.failures import invalid_values
    from query.request import SearchRequest
    from query.validation import clean_query
    from search_config.records import tenant_id

    if diverse and mmr_lambda is None:
        from query.diversity import DEFAULT_LAMBDA

        mmr_lambda = DEFAULT_LAMBDA
    form = None if out is None else _form(out)
    try:
        request = SearchRequest.model_validate(
            {
                "tenant": tenant_id(tenant),
                "query": query,
                "size": size,
                "filters": parsed_filters(filters or []),
                "mode": mode,
                "group": group,
                "mmr_lambda": mmr_lambda,
                "explain": explain,
                "route": route,
                "as_of": as_of,
                "without": without or [],
                "derived": derived,
                "facets": facets or [],
                "from": from_,
            }
        )
    except ValidationError as error:
        raise invalid_values(error, NAMES) from error
    with opened() as runtime:
        # Before a node is started for it.
        clean_query(request.query, max_chars=runtime.settings.max_query_chars)
        runtime.load_ahead()
        # The longest import of a search goes on while the model is loaded.
        from query.search import search as run_search

        runtime.known_tenant(request.tenant)
        result = run_search(request, runtime.search_context)
        if out is not None and form is not None:
            from api.export.files import exported

            file = exported(result, form, registry=runtime.registry, tenant=request.tenant, groups=None)
            write_bytes(out, file.data)
            say(f"Written: {out}")
    if as_json:
        print_json(result.model_dump(mode="json", by_alias=True))
    else:
        _print(result, explain=explain)


def _form(out: Path) -> Format:
    """The format that a file's ending names.

    Raises:
        InvalidRequest
    """
    match out.suffix.lower():
        case ".xlsx":
            return "xlsx"
        case ".csv":
            return "csv"
        case _:
            raise InvalidRequest("The ending names no format.", where=f"--out {out}", remedy="End it in .xlsx or .csv.")


def parsed_filters(given: list[str]) -> Filters:
    """Filters from `FIELD=VALUE` arguments; every problem at once.

    Raises:
        InvalidRequest: another form, an unknown field, a date that is none, a single-valued field given twice.
    """
    from pydantic import ValidationError

    from api.cli.failures import invalid_values
    from query.request import Filters

    values: dict[str, Any] = {}
    problems: list[str] = []
    for item in given:
        field, equals, value = item.partition("=")
        known = Filters.model_fields.get(field)
        if not equals or not value or known is None:
            problems.append(repr(item[:80]))
        elif known.default == ():
            values.setdefault(field, []).append(value)
        elif field in values:
            problems.append(f"{field} twice")
        else:
            values[field] = value
    if problems:
        raise InvalidRequest(
            f"Not a filter: {', '.join(problems)}.",
            where="--filter",
            remedy=f"Write FIELD=VALUE; fields: {', '.join(Filters.model_fields)}.",
        )
    try:
        return Filters.model_validate(values)
    except ValidationError as error:
        raise invalid_values(error, {name: f"--filter {name}" for name in Filters.model_fields}) from error


def _print(result: SearchResult, *, explain: bool) -> None:
    print_metadata(result)
    if result.refused:
        print_line(f"Nothing here answers this. {clean(result.reason or '')}".rstrip())
    elif not result.hits and result.metadata is None:
        print_line("Nothing was found.")
    if result.did_you_mean:
        print_line(f"Did you mean: {clean(result.did_you_mean)}")
    for note in result.notes:
        print_line(f"Note: {clean(note)}")
    for leg in result.degraded:
        print_line(f"Note: the {leg.leg} leg failed: {clean(leg.reason)}")
    for hit in result.hits:
        _print_hit(hit, explain=explain)
    for facet in result.facets:
        counts = ", ".join(f"{value.value} {value.documents} ({value.found})" for value in facet.values)
        print_line(f"{facet.field}: {clean(counts)}")
    if explain:
        if result.routed is not None:
            print_line(f"route {result.route}, by {result.routed.by}: {clean(result.routed.reason)}")
        weights = ", ".join(f"{leg} {weight:g}" for leg, weight in result.weights.items())
        times = ", ".join(f"{stage} {ms:.1f} ms" for stage, ms in result.took_ms.items())
        print_line(f"language {result.language} · profile {result.profile} · weights {weights} · {times}")


def print_metadata(result: SearchResult) -> None:
    """What the documents' fields say, what was counted, and the filters that the question named. That they do not
    understand a question is no news above passages that answer it."""
    said = result.metadata
    if said is not None and said.not_understood and result.hits and not result.refused:
        said = None
    if said is not None:
        print_line(clean(said.text))
    print_derived(result)
    if said is not None or result.derived.given():
        print_line()


def print_derived(result: SearchResult) -> None:
    """The filters that the question named."""
    derived = result.derived.given()
    if derived:
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in derived.items())
        day = "" if result.as_of is None else f" (as of {result.as_of})"
        print_line(f"Filters of the question{day}: {clean(shown)}. Leave one out with --without FIELD.")


def _shown(value: Any) -> str:
    return "|".join(map(str, value)) if isinstance(value, list) else str(value)


def _print_hit(hit: Hit, *, explain: bool) -> None:
    place = " · ".join(part for part in (hit.title, hit.section, hit.locator.label) if part)
    print_line(f"{hit.rank}. {clean(place)}")
    shown = hit.content if len(hit.content) <= SHOWN else f"{hit.content[:SHOWN]} …"
    for line in shown.splitlines():
        print_line(f"   {clean(line)}")
    distance = "" if hit.cosine_distance is None else f" · distance {hit.cosine_distance:.3f}"
    print_line(f"   {hit.document_id} [{hit.locator.from_}:{hit.locator.to}]{distance}")
    if hit.superseded is not None:
        print_line(
            f"   superseded by {clean(hit.superseded.title or hit.superseded.document_id or 'another document')}"
        )
    if explain:
        for step in hit.explanation:
            print_line(f"   {clean(step.text)}")
        legs = {"bm25": hit.scores.bm25, "knn": hit.scores.knn, "sparse": hit.scores.sparse}
        parts = [f"{leg} #{score.rank} ({score.score:.3f})" for leg, score in legs.items() if score is not None]
        parts += [
            f"{name} {value:.5f}"
            for name, value in (("fused", hit.scores.fused), ("rerank", hit.scores.rerank))
            if value is not None
        ]
        print_line(f"   {' · '.join(parts)}")
    print_line()
