"""`mafteach ask`: an answer with its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.cli.context import opened
from api.cli.output import JsonFlag, TenantOption, clean, print_json, print_line
from api.cli.routed import AsOfOption, DerivedFlag, RouteOption, WithoutOption
from api.cli.search import parsed_filters, print_derived

if TYPE_CHECKING:
    from query.answer_result import AnswerResult

# What people know the fields of a request by.
NAMES: Final = {
    "question": "QUESTION",
    "query": "QUESTION",
    "context": "--context",
    "filters": "--filter",
    "mode": "--mode",
    "route": "--route",
    "as_of": "--as-of",
    "without": "--without",
    "tenant": "--tenant",
}
# Longest quote, and most of the nearest passages, that are printed for people; --json gives all.
SHOWN: Final = 300
NEAREST: Final = 3


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: mafteach ask 'כמה אישורי חניה מגיעים לתושב?' --tenant demo")(ask)


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In Hebrew, English or both.")],
    tenant: TenantOption,
    context: Annotated[
        int, typer.Option("--context", "-c", help="Passages that the answer may be written from, 4 to 10.")
    ] = 5,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", "-f", metavar="FIELD=VALUE", help="Only passages of such documents, as in mafteach search."
        ),
    ] = None,
    mode: Annotated[str, typer.Option("--mode", metavar="MODE", help="auto, hybrid, lexical or dense.")] = "auto",
    route: RouteOption = "auto",
    as_of: AsOfOption = None,
    without: WithoutOption = None,
    derived: DerivedFlag = True,
    as_json: JsonFlag = False,
) -> None:
    """Answer a question from a tenant's documents, with citations.

    Without a language model (MAFTEACH_LLM_URL) the answer is the passages' own sentences. A refusal is an answer.
    """
    from pydantic import ValidationError

    from api.cli.failures import invalid_values
    from query.answer_request import AnswerRequest
    from query.answering import answer
    from query.request import SearchRequest
    from query.validation import clean_query
    from search_config.records import tenant_id

    narrowed = parsed_filters(filters or [])
    try:
        search = SearchRequest.model_validate(
            {
                "tenant": tenant_id(tenant),
                "query": question,
                "filters": narrowed,
                "mode": mode,
                "route": route,
                "as_of": as_of,
                "without": without or [],
                "derived": derived,
            }
        )
        request = AnswerRequest(search=search, context=context)
    except ValidationError as error:
        raise invalid_values(error, NAMES) from error
    with opened() as runtime:
        # Before a node is started for it.
        clean_query(question, max_chars=runtime.settings.max_query_chars)
        model = runtime.language_model
        runtime.known_tenant(search.tenant)
        result = answer(request, runtime.search_context, model=model)
    if as_json:
        print_json(result.model_dump(mode="json", by_alias=True))
    else:
        _print(result)


def _print(result: AnswerResult) -> None:
    for line in result.answer.splitlines():
        print_line(clean(line))
    print_line()
    print_derived(result.search)
    if result.explanation:
        print_line(clean(result.explanation))
    for part in () if result.refused else result.not_in_sources:
        print_line(f"Not in the sources: {clean(part)}")
    for sentence in result.sentences:
        for problem in sentence.problems:
            print_line(f"Problem: {clean(problem)}")
    for note in (*result.search.notes, *result.notes):
        print_line(f"Note: {clean(note)}")
    if result.refused:
        _print_nearest(result)
    for citation in result.citations:
        place = " · ".join(part for part in (citation.document_name, citation.locator_label) if part)
        print_line(f"[{citation.index}] {clean(place)}")
        print_line(f"    {clean(_short(citation.quote))}")
        print_line(f"    {citation.url or citation.document_id}{citation.fragment}")
    print_line()
    print_line(f"{result.label} · {result.method}{'' if result.model is None else f' ({clean(result.model)})'}")


def _print_nearest(result: AnswerResult) -> None:
    for hit in result.search.hits[:NEAREST]:
        place = " · ".join(part for part in (hit.title, hit.section, hit.locator.label) if part)
        print_line(f"Nearest: {clean(place)}")
        print_line(f"    {clean(_short(hit.content))}")


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} …"
