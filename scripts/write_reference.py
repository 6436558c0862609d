"""Write the parts of the documentation that the code knows: settings, error codes, the command line.

python scripts/write_reference.py            writes docs/settings.md, docs/errors.md, docs/cli.md
python scripts/write_reference.py --check    exits 1 where one of them is out of date
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

if TYPE_CHECKING:
    from search_config.errors import MafteachError

DOCS = Path(__file__).parent.parent / "docs"
# Help is wrapped at the terminal's width; the documentation's is always this one.
HELP_COLUMNS = "80"

SETTINGS_HEAD = """\
# Settings

Read once at the start, from environment variables and a file `.env` in the working directory; a variable wins over the
file. Invalid values stop the start-up with exit status 2, all of them named at once.

| variable | values | default | what it is |
|---|---|---|---|
"""
ERRORS_HEAD = """\
# Errors

Every error says what happened, where, and what to do. Its code is stable: programs may rely on it.

The command line prints `error: WHAT [WHERE] REMEDY` on standard error; with `--json` one object there:
`{"error": {"code": …, "what": …, "where": …, "remedy": …}}`. HTTP answers with `application/problem+json`: `type`,
`title`, `status`, `detail`, `code`, `where`, `remedy`, and `errors` (each `where` and `what`) for a request whose
fields do not hold. Where the fault is the service's (500 and above), the details are in its log alone; 503 comes with
`Retry-After`.

Exit statuses: 0 done (an empty result and a refusal too), 1 something in the work failed, 2 wrong usage, 3 the engine
can't be reached or started; 130 after Ctrl-C, 141 where the reader of a pipe went away.

| code | meaning | part of | exit status | HTTP status |
|---|---|---|---|---|
"""
HTTP_HEAD = """
Codes that only HTTP has:

| code | HTTP status |
|---|---|
"""
CLI_HEAD = """\
# The command line

Every command takes `--json` and then prints JSON on standard output (`bench` writes it to a file); progress and errors
go to standard error. On a terminal results are tables; elsewhere they are lines with tabs between the columns.
Exit statuses and error codes: [errors.md](errors.md). Settings: [settings.md](settings.md).

Without `MAFTEACH_OPENSEARCH_URL` the embedded node is used, and started where it does not run.

"""


def settings_page() -> str:
    """A table of every setting."""
    from search_config.settings import ENV_PREFIX, Settings

    rows = [
        f"| `{ENV_PREFIX}{name.upper()}` | {_type(field.annotation)}{_limits(field.metadata)} "
        f"| {_default(name, field.get_default())} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    return SETTINGS_HEAD + "".join(f"{row}\n" for row in rows)


def _limits(metadata: Sequence[Any]) -> str:
    words = {"ge": "from {}", "gt": "over {}", "le": "to {}", "lt": "under {}", "pattern": "like `{}`"}
    found: list[str] = []
    for item in metadata:
        # Constraints are objects with one attribute each, a pattern one among others.
        for name, form in words.items():
            value = getattr(item, name, None)
            if value is not None:
                found.append(form.format(f"{value:,}" if isinstance(value, int) else value))
    return f", {' '.join(found)}" if found else ""


def _type(annotation: Any) -> str:
    arguments = [item for item in get_args(annotation) if item is not type(None)]
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{item}`" for item in arguments)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return f"list of {_type(arguments[0])}"
    if arguments:
        return ", ".join(_type(item) for item in arguments)
    return {
        "bool": "`true`, `false`",
        "str": "text",
        "int": "whole number",
        "float": "number",
        "Path": "folder",
        "HttpUrl": "URL",
        "SecretStr": "secret",
    }[annotation.__name__]


def _default(name: str, value: Any) -> str:
    if value is None:
        return "unset"
    # These two depend on the machine.
    return {"cache_dir": "the user's cache folder", "data_dir": "the user's data folder"}.get(name, f"`{value}`")


def errors_page() -> str:
    """A table of every error code."""
    from api.cli.failures import exit_status
    from api.errors import HTTP_CODES, status_of
    from search_config import errors

    meanings = _meanings(errors.__doc__ or "")
    kinds = list(_tree(errors.MafteachError))
    rows = [
        f"| `{kind.code}` | {meanings.get(kind.__name__, '')} | {_parent(kind)} "
        f"| {exit_status(kind):d} | {status_of(kind):d} |\n"
        for kind in kinds
    ]
    codes = {kind.code for kind in kinds}
    own = [f"| `{code}` | {status:d} |\n" for status, code in sorted(HTTP_CODES.items()) if code not in codes]
    return "".join([ERRORS_HEAD, *rows, HTTP_HEAD, *own])


def _tree(kind: type[MafteachError]) -> Iterator[type[MafteachError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _tree(child)


def _parent(kind: type[MafteachError]) -> str:
    parent = kind.__mro__[1]
    return f"`{parent.__dict__['code']}`" if "code" in parent.__dict__ else ""


def _meanings(drawing: str) -> dict[str, str]:
    """What the tree that is drawn on top of the errors says of each class."""
    lines = re.findall(r"[├└]── (\w+) *(.*?) *(?:\(exit \d\))?$", drawing, re.MULTILINE)
    return {name: meaning for name, meaning in lines if meaning}


def cli_page() -> str:
    """The help of every command."""
    import typer

    from api.cli.main import app

    def pages(command: Any, path: list[str], parent: Any) -> Iterator[str]:
        context = command.make_context(path[-1], [], parent=parent, resilient_parsing=True)
        yield f"## {' '.join(path)}\n\n```text\n{command.get_help(context)}\n```\n"
        for name in getattr(command, "commands", {}):
            yield from pages(command.commands[name], [*path, name], context)

    root = typer.main.get_command(app)
    return CLI_HEAD + "\n".join(pages(root, ["mafteach"], None))


PAGES = {"settings.md": settings_page, "errors.md": errors_page, "cli.md": cli_page}


def main() -> int:
    os.environ["COLUMNS"] = HELP_COLUMNS
    stale = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in sys.argv[1:]:
            stale.append(name)
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote docs/{name}")
    if stale:
        print(f"out of date: {', '.join(stale)}; run: python scripts/write_reference.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
