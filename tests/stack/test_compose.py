"""The stack: docker-compose.yml is valid, and every command of ours in it runs as written, without containers.

What was never run: the containers themselves. No engine with the security plugin, no Dashboards and no build of the
image ran here; a TLS proxy that asks for user and password stands for the first, a small server for the second.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
import tomllib
import urllib.request
import uuid
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from search_config.client import Engine
from search_config.install import uninstall
from search_config.local_node import free_port
from search_config.names import Names
from search_config.settings import Settings
from tests.cli.conftest import environment
from tests.dashboards import standing
from tests.tls import TlsProxy

ROOT = Path(__file__).parents[2]
PASSWORD = "Ab-12345-סוד"
TOKEN = "metrics-token"
OURS = {"certificates", "setup", "api", "worker", "setup-dashboards"}
LONG = {"opensearch", "dashboards", "api", "worker"}
# Starting takes seconds; a machine that does much else takes longer.
PATIENCE_S = 300.0
Json = dict[str, Any]


def config(**variables: str) -> subprocess.CompletedProcess[str]:
    """`docker-compose config` with the example of an .env, and what is set here."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAFTEACH_", "OPENSEARCH_"))}
    return subprocess.run(
        ["docker-compose", "--env-file", ".env.example", "--file", "docker-compose.yml", "config"],
        cwd=ROOT,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.fixture(scope="module")
def stack() -> Json:
    """The stack as docker-compose reads it."""
    done = config(OPENSEARCH_INITIAL_ADMIN_PASSWORD=PASSWORD, METRICS_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    read: Json = yaml.safe_load(done.stdout)
    return read


@pytest.mark.extra("docker-compose")
def test_the_file_is_valid_and_asks_for_its_secrets(stack: Json) -> None:
    assert set(stack["services"]) == OURS | LONG
    missing = config(METRICS_TOKEN=TOKEN)
    assert missing.returncode != 0
    assert "OPENSEARCH_INITIAL_ADMIN_PASSWORD" in missing.stderr
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    written = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"\$\{(\w+)", written))
    assert named <= set(re.findall(r"^(?:# )?(\w+)=", example, re.MULTILINE))


@pytest.mark.extra("docker-compose")
def test_every_service_is_limited_watched_and_kept_to_itself(stack: Json) -> None:
    for name, service in stack["services"].items():
        assert service["mem_limit"], name
        assert ("healthcheck" in service) == (name in LONG), name
        for port in service.get("ports", ()):
            assert str(port).startswith("127.0.0.1:"), name
        if name in OURS:
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
        else:
            assert service["image"].endswith(":3.6.0")
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in stack["volumes"], name
    engine = stack["services"]["opensearch"]["environment"]
    assert not any("DISABLE" in name for name in engine)
    assert stack["services"]["api"]["environment"]["MAFTEACH_OPENSEARCH_URL"].startswith("https://")
    # The key of the engine's certificate is in no container that has no use for it.
    holders = {name for name, one in stack["services"].items() if any(v.startswith("certs:") for v in one["volumes"])}
    assert holders == {"certificates", "opensearch"}


@pytest.mark.extra("docker-compose")
def test_every_setting_that_is_handed_on_is_one(stack: Json) -> None:
    for name in OURS:
        for variable in stack["services"][name].get("environment", {}):
            field = variable.removeprefix("MAFTEACH_").lower()
            assert field in Settings.model_fields, (name, variable)


def test_the_image_is_built_from_what_there_is() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    stages = text.split("\nFROM ")
    assert len(stages) == 3, "a stage that builds and one that ships"
    sources = [word for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE) for word in line.split()]
    assert all((ROOT / source).exists() for source in sources)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= set(sources)
    (extras,) = re.findall(r"^ARG EXTRAS=(.+)$", text, re.MULTILINE)
    assert set(extras.split(",")) <= set(project["project"]["optional-dependencies"])
    assert re.search(r"^USER 1000:1000$", stages[2], re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {f"!{source}" for source in sources} <= set(ignored)
    for variable in re.findall(r"MAFTEACH_(\w+)=", text):
        assert variable.lower() in Settings.model_fields


@dataclass(frozen=True)
class Machine:
    """A folder that stands for the volumes, and the addresses that stand for the network."""

    stack: Json
    folder: Path
    prefix: str
    port: int
    dashboards: str
    engine: str = ""

    def words(self, words: list[str]) -> list[str]:
        """A command with the volumes' paths and the port put in, and nothing else changed."""
        return [self._placed(word).replace("127.0.0.1:8080", f"127.0.0.1:{self.port}") for word in words]

    def env(self, service: str) -> dict[str, str]:
        given = self.stack["services"][service].get("environment", {})
        placed = {name: self._placed(str(value)) for name, value in given.items() if value is not None}
        own = {
            "MAFTEACH_CACHE_DIR": os.environ.get("MAFTEACH_CACHE_DIR", ""),
            "MAFTEACH_DATA_DIR": f"{self.folder}/data",
            "MAFTEACH_HOST": "127.0.0.1",
            "MAFTEACH_PORT": str(self.port),
            "MAFTEACH_INDEX_PREFIX": self.prefix,
        }
        paths = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
        return environment(**placed, **{name: value for name, value in own.items() if value}, **paths)

    def run(self, service: str, words: list[str] | None = None) -> subprocess.CompletedProcess[str]:
        """A service's own command, or another one in its environment."""
        return subprocess.run(
            self.words(words or self.stack["services"][service]["command"]),
            cwd=self.folder,
            env=self.env(service),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )

    def start(self, service: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{service}.log").open("wb")
        with log:
            return subprocess.Popen(
                self.words(self.stack["services"][service]["command"]),
                cwd=self.folder,
                env=self.env(service),
                stdout=log,
                stderr=log,
            )

    def _placed(self, text: str) -> str:
        text = re.sub(r"(?<![\w.])/(certs|ca|data|cache)(?=/|$)", rf"{self.folder}/\1", text)
        addresses = {"https://opensearch:9200": self.engine, "http://dashboards:5601": self.dashboards}
        for address, other in addresses.items():
            text = text.replace(address, other)
        return text


@pytest.fixture
def machine(stack: Json, settings: Settings, engine: Engine, tmp_path: Path) -> Iterator[Machine]:
    """The engine behind TLS with the certificate of the stack's own command, and behind its password."""
    prefix = f"t{uuid.uuid4().hex[:10]}"
    with standing() as (_, dashboards):
        bare = Machine(stack, tmp_path, prefix, free_port(), dashboards)
        done = bare.run("certificates")
        assert done.returncode == 0, done.stderr
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "certs" / "node.pem", tmp_path / "certs" / "node-key.pem")
        basic = "Basic " + b64encode(f"admin:{PASSWORD}".encode()).decode()
        proxy = TlsProxy(str(settings.opensearch_url), context, authorization=basic)
        url = proxy.url.replace("127.0.0.1", "localhost")
        try:
            yield Machine(stack, tmp_path, prefix, bare.port, dashboards, url)
        finally:
            proxy.close()
            if engine.exists(f"/{Names(prefix=prefix).documents}"):
                uninstall(engine, Names(prefix=prefix))


def ask(machine: Machine, path: str, key: str, body: Json | None = None) -> Json:
    sent = urllib.request.Request(
        f"http://127.0.0.1:{machine.port}{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(sent, timeout=PATIENCE_S) as answer:
        read: Json = json.load(answer)
        return read


def healthy(machine: Machine, service: str, process: subprocess.Popen[bytes]) -> None:
    """The service's own health check, until it holds."""
    test = stack_check(machine.stack, service)
    deadline = time.monotonic() + PATIENCE_S
    while (done := machine.run(service, test)).returncode != 0:
        log = (machine.folder / f"{service}.log").read_text(encoding="utf-8")
        assert process.poll() is None, log
        assert time.monotonic() < deadline, done.stderr + log


def stack_check(stack: Json, service: str) -> list[str]:
    words: list[str]
    kind, *words = stack["services"][service]["healthcheck"]["test"]
    assert kind == "CMD"
    return words


@pytest.mark.extra("docker-compose")
@pytest.mark.slow
def test_every_command_runs_as_written(machine: Machine) -> None:
    assert shutil.which("mafteach", path=machine.env("setup")["PATH"])
    for _ in range(2):  # a stack that starts again sets up again
        done = machine.run("setup")
        assert done.returncode == 0, done.stderr
    done = machine.run("setup-dashboards")
    assert done.returncode == 0, done.stderr
    assert "1 dashboard" in done.stdout

    made = machine.run("setup", ["mafteach", "keys", "create", "--tenant", "town", "--json"])
    key = json.loads(made.stdout)["key"]
    api, worker = machine.start("api"), machine.start("worker")
    try:
        healthy(machine, "api", api)
        healthy(machine, "worker", worker)
        text = "# נוהל חניה\n\nתושב רשאי לקבל אישור חניה אחד לכל רכב."
        sent = ask(machine, "/documents", key, {"name": "parking.md", "text": text})
        deadline = time.monotonic() + PATIENCE_S
        while (row := ask(machine, f"/documents/{sent['id']}", key))["state"] != "ready":
            assert row["state"] not in ("failed", "quarantined"), row
            assert time.monotonic() < deadline, (machine.folder / "worker.log").read_text(encoding="utf-8")
        found = ask(machine, "/search", key, {"query": "כמה אישורי חניה לתושב"})
        assert found["hits"][0]["document_id"] == sent["id"]
        # The worker did it, and not the service beside it.
        assert "parking.md" in (machine.folder / "worker.log").read_text(encoding="utf-8")
    finally:
        for process in (api, worker):
            process.send_signal(signal.SIGTERM)
        ended = [process.wait(PATIENCE_S) for process in (api, worker)]
    assert ended == [0, 0]


@pytest.mark.extra("docker-compose")
def test_certificates_stay_until_they_must_change(machine: Machine) -> None:
    before = {file.name: file.read_bytes() for file in (machine.folder / "certs").iterdir()}
    assert set(before) == {"ca.pem", "node.pem", "node-key.pem"}
    assert (machine.folder / "certs" / "node-key.pem").stat().st_mode & 0o777 == 0o600
    assert machine.run("certificates").returncode == 0
    assert {file.name: file.read_bytes() for file in (machine.folder / "certs").iterdir()} == before
    words = [*machine.stack["services"]["certificates"]["command"], "--host", "search.example"]
    assert machine.run("certificates", words).returncode == 0
    assert (machine.folder / "certs" / "node.pem").read_bytes() != before["node.pem"]
    assert (machine.folder / "ca" / "ca.pem").read_bytes() == (machine.folder / "certs" / "ca.pem").read_bytes()
