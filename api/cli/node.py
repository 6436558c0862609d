"""`mafteach node start|stop|status|logs`: the embedded OpenSearch node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.output import JsonFlag, print_json, print_line, print_pairs, say

if TYPE_CHECKING:
    from search_config.local_node import LocalNode, NodeStatus

group = typer.Typer(
    help="Start, stop and watch the embedded OpenSearch node.",
    epilog="Example: mafteach node start",
    no_args_is_help=False,
)

DEFAULT_LINES = 50


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="node")


@group.command(epilog="Example: mafteach node start")
def start(as_json: JsonFlag = False) -> None:
    """Start the node; the first time, its parts are downloaded and checked."""
    _show(_node().start(say), as_json)


@group.command(epilog="Example: mafteach node stop")
def stop(as_json: JsonFlag = False) -> None:
    """Stop the node; its data stays."""
    stopped = _node().stop()
    if as_json:
        print_json({"stopped": stopped})
    else:
        print_line("The node was stopped." if stopped else "The node was not running.")


@group.command(epilog="Example: mafteach node status --json")
def status(as_json: JsonFlag = False) -> None:
    """Say whether the node runs, and where."""
    _show(_node().status(), as_json)


@group.command(epilog="Example: mafteach node logs --lines 200")
def logs(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines.")] = DEFAULT_LINES,
    as_json: JsonFlag = False,
) -> None:
    """Print the last lines of the node's log."""
    text = _node().logs(lines)
    if as_json:
        print_json({"lines": text.splitlines()})
    elif text:
        print_line(text)


def _node() -> LocalNode:
    from search_config.local_node import LocalNode
    from search_config.settings import load_settings

    return LocalNode(load_settings())


def as_pairs(found: NodeStatus) -> list[tuple[str, Any]]:
    """A node's state for people."""
    return [
        ("running", "yes" if found.running else "no"),
        ("url", found.url),
        ("version", found.version or "-"),
        ("nodes", found.nodes),
        ("pid", found.pid or "-"),
        ("data", found.data_dir),
    ]


def _show(found: NodeStatus, as_json: bool) -> None:
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_pairs(as_pairs(found))
