"""Session fixtures: a real OpenSearch node on a free port, the embedded model, and indices of a test's own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import uuid
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

# Before numpy is imported. Its linear algebra ends its threads when a process forks, and a product that another thread
# computes at that moment waits for them for ever, deaf to signals. A node that runs as another account is a fork.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from models.base import Embedder
from models.factory import load_embedder
from search_config.client import Engine
from search_config.install import IndexInfo, install, uninstall
from search_config.local_node import LocalNode, free_port
from search_config.names import Names
from search_config.settings import Settings

# Characters of a failure that are shown at once; the summary has all of them.
SHOWN_AT_ONCE = 3_000
# Seconds from which a test is named: three of the tests take longer on two idle cores.
LONG_S = 30.0

MakeIndex = Callable[..., tuple[IndexInfo, Settings]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--no-skips`: CI has every extra and system package, so that a skip there is a test that nobody ever runs."""
    parser.addoption("--no-skips", action="store_true", help="fail the session where a test was skipped")
    parser.addoption(
        "--node-url",
        help="a running node to test on, so that several sessions of a developer share one; its indices of other "
        "prefixes are left alone",
    )


class _AtOnce:
    """Shows a failure when it happens, and a test that takes long: a run that is cut off has said what it knew."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called for setup, call and teardown of each test, by the process that prints."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None:
            return
        if report.failed:
            reporter.write_line("")
            reporter.write_line(f"{report.nodeid} failed in its {report.when}:", red=True)
            reporter.write_line(report.longreprtext[-SHOWN_AT_ONCE:])
        if report.duration > LONG_S:
            reporter.write_line("")
            reporter.write_line(f"{report.nodeid}: its {report.when} took {report.duration:.0f} s")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a test logged goes from process to process as UTF-8, which has no lone surrogates; some tests send them."""
    report = yield
    report.sections = [(name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections]
    return report


def pytest_configure(config: pytest.Config) -> None:
    """Of several processes (`--numprocesses`), one prints. Started in the background, a shell lets all of them ignore
    Ctrl-C, and so would the commands that tests interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_AtOnce(config))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say why the session fails, below the list of skips."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped and config.getoption("--no-skips"):
        terminalreporter.write_line(
            f"--no-skips: {len(skipped)} test(s) were skipped; install what they need.", red=True
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a session that passed but for skips."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter is not None and reporter.stats.get("skipped")
    if skipped and session.config.getoption("--no-skips") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_report_header() -> list[str]:
    """Versions of what is under test."""
    import onnxruntime
    import opensearchpy

    return [f"onnxruntime {onnxruntime.__version__}, opensearch-py {opensearchpy.__versionstr__}"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs an extra or a system package that is missing, and say so."""
    for item in items:
        for marker in item.iter_markers("extra"):
            missing = [name for name in marker.args if not _present(name)]
            if missing:
                item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(missing)}"))


def _present(name: str) -> bool:
    return importlib.util.find_spec(name) is not None or shutil.which(name) is not None


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    """Tests do not depend on the developer's MAFTEACH_* variables; MAFTEACH_CACHE_DIR alone is kept (it is big)."""
    saved = {name: value for name, value in os.environ.items() if name.startswith("MAFTEACH_")}
    for name in saved:
        if name != "MAFTEACH_CACHE_DIR":
            del os.environ[name]
    yield
    os.environ.update(saved)


@pytest.fixture(scope="session")
def settings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _no_settings_from_outside: None
) -> Iterator[Settings]:
    """Settings of a running node: this session's own, or the one of `--node-url`."""
    base = Settings(
        _env_file=None,
        node_port=free_port(),
        node_heap_mb=768,
        data_dir=tmp_path_factory.mktemp("node"),
    )
    if shared := request.config.getoption("--node-url"):
        yield base.model_copy(update={"opensearch_url": shared})
        return
    node = LocalNode(base)
    try:
        yield base.model_copy(update={"opensearch_url": node.start().url})
    finally:
        node.remove()


@pytest.fixture(scope="session")
def engine(settings: Settings) -> Iterator[Engine]:
    """The real engine."""
    engine = Engine(str(settings.opensearch_url), timeout_s=settings.request_timeout_s)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def embedder(settings: Settings) -> Embedder:
    """The embedded model."""
    return load_embedder(settings)


@pytest.fixture
def make_index(engine: Engine, settings: Settings, embedder: Embedder) -> Iterator[MakeIndex]:
    """`make_index(**settings)` installs under its own prefix, gives `(IndexInfo, Settings)`, and removes all after."""
    made: list[Names] = []

    def make(**overrides: object) -> tuple[IndexInfo, Settings]:
        prefix = f"t{uuid.uuid4().hex[:10]}"
        own = settings.model_copy(update={"index_prefix": prefix, **overrides})
        made.append(Names(prefix=prefix))
        return install(engine, own, embedder.description), own

    yield make
    for names in made:
        uninstall(engine, names)


@pytest.fixture
def examples() -> Path:
    """The project's own corpus."""
    return Path(__file__).parent.parent / "examples"
