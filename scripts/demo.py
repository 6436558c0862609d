"""`make demo`: the main job end to end, by the commands that a user types."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
TENANT = "demo"
MAFTEACH = Path(sys.executable).with_name("mafteach")
QUESTIONS = (
    "מה קורה בבית הספר ביום הראשון ללימודים?",
    "כמה זמן יש לספק להגיע כשמישהו נתקע במעלית?",
    "E-4031",
    "How many days a week may staff work from abroad?",
    "Who approves a purchase without a tender?",
)
PASSAGES = "3"


def main() -> int:
    """Exit status 0, or that of the first command that failed."""
    begin = time.monotonic()
    commands = [
        ("node", "start"),
        ("ingest", "examples/documents", "--tenant", TENANT),
        *(("search", question, "--tenant", TENANT, "--size", PASSAGES) for question in QUESTIONS),
    ]
    for command in commands:
        print(f"\n$ mafteach {shlex.join(command)}", flush=True)
        status = subprocess.run([MAFTEACH, *command], cwd=ROOT, check=False).returncode  # noqa: S603 - our own command
        if status:
            return status
    print(
        f'\nDone in {time.monotonic() - begin:.0f} s. The node goes on running: try `.venv/bin/mafteach search "…" '
        f"--tenant {TENANT}`, `make serve`, or stop it with `.venv/bin/mafteach node stop`."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
