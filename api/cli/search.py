"""`mafteach search`: ranked passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import opened
from api.cli.output import JsonFlag, TenantOption, clean, print_json, print_line
from search_config.errors import InvalidRequest

if TYPE_CHECKING:
    from query.request import Filters, Hit, SearchResult

# What people know the fields of a request by.
NAMES = {
    "query": "QUERY",
    "size": "--size",
    "filters": "--filter",
    "mode": "--mode",
    "mmr_lambda": "--mmr-lambda",
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
            "language, tags, reference, date_from, date_to.",
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
    explain: Annotated[bool, typer.Option("--explain", help="Show scores by stage, weights and times.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Search a tenant's documents for passages."""
    from pydantic import ValidationError

    from api.cli.failures import invalid_values
    from query.diversity import DEFAULT_LAMBDA
    from query.request import SearchRequest
    from query.search import search as run_search
    from query.validation import clean_query
    from search_config.records import tenant_id

    try:
        request = SearchRequest.model_validate(
            {
                "tenant": tenant_id(tenant),
                "query": query,
                "size": size,
                "filters": parsed_filters(filters or []),
                "mode": mode,
                "group": group,
                "mmr_lambda": DEFAULT_LAMBDA if diverse and mmr_lambda is None else mmr_lambda,
                "explain": explain,
            }
        )
    except ValidationError as error:
        raise invalid_values(error, NAMES) from error
    with opened() as runtime:
        # Before a node is started for it.
        clean_query(request.query, max_chars=runtime.settings.max_query_chars)
        runtime.known_tenant(request.tenant)
        result = run_search(request, runtime.search_context)
    if as_json:
        print_json(result.model_dump(mode="json", by_alias=True))
    else:
        _print(result, explain=explain)


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
        if not equals or not value or field not in Filters.model_fields:
            problems.append(repr(item[:80]))
        elif field.startswith("date_"):
            if field in values:
                problems.append(f"{field} twice")
            values[field] = value
        else:
            values.setdefault(field, []).append(value)
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
    if result.refused:
        print_line(f"Nothing here answers this. {clean(result.reason or '')}".rstrip())
    elif not result.hits:
        print_line("Nothing was found.")
    for note in result.notes:
        print_line(f"Note: {clean(note)}")
    for leg in result.degraded:
        print_line(f"Note: the {leg.leg} leg failed: {clean(leg.reason)}")
    for hit in result.hits:
        _print_hit(hit, explain=explain)
    if explain:
        weights = ", ".join(f"{leg} {weight:g}" for leg, weight in result.weights.items())
        times = ", ".join(f"{stage} {ms:.1f} ms" for stage, ms in result.took_ms.items())
        print_line(f"language {result.language} · profile {result.profile} · weights {weights} · {times}")


def _print_hit(hit: Hit, *, explain: bool) -> None:
    place = " · ".join(part for part in (hit.title, hit.section, hit.locator.label) if part)
    print_line(f"{hit.rank}. {clean(place)}")
    shown = hit.content if len(hit.content) <= SHOWN else f"{hit.content[:SHOWN]} …"
    for line in shown.splitlines():
        print_line(f"   {clean(line)}")
    distance = "" if hit.cosine_distance is None else f" · distance {hit.cosine_distance:.3f}"
    print_line(f"   {hit.document_id} [{hit.locator.from_}:{hit.locator.to}]{distance}")
    if explain:
        legs = {"bm25": hit.scores.bm25, "knn": hit.scores.knn, "sparse": hit.scores.sparse}
        parts = [f"{leg} #{score.rank} ({score.score:.3f})" for leg, score in legs.items() if score is not None]
        parts += [
            f"{name} {value:.5f}"
            for name, value in (("fused", hit.scores.fused), ("rerank", hit.scores.rerank))
            if value is not None
        ]
        print_line(f"   {' · '.join(parts)}")
    print_line()
