"""Who runs the node, and where its parts lie.

The engine refuses to run as root. Started by root, it runs as an unprivileged account, which must be able to reach the
home, the Java runtime and the data. Where the configured folders are closed to it (below `/root`, say), the parts go
to `/var/lib/mafteach` instead: `engine/` shared by all nodes, `nodes/<hash of the data folder>/` for each node.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from search_config.errors import NodeError

# An account of our own where the administrator made one, else the one that every system has.
ACCOUNTS = ("mafteach", "nobody")
# Root's own folder for a service's state (Filesystem Hierarchy Standard 3.0, 5.8): survives a reboot, unlike /tmp.
FALLBACK = Path("/var/lib/mafteach")
# Folders on the way to the node's files: all may pass, only the owner may write.
OPEN_DIR = 0o755
# The node's own folders: data, logs, configuration.
PRIVATE_DIR = 0o700


@dataclass(frozen=True)
class Account:
    """The account that the node runs as when root starts it."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True)
class Placement:
    """Where things lie. `account` is None when the node runs as the caller."""

    account: Account | None
    engine_dir: Path
    node_dir: Path

    @property
    def data(self) -> Path:
        """Indices; closed to all but the node."""
        return self.node_dir / "data"

    @property
    def logs(self) -> Path:
        """The engine's log and what the Java runtime itself prints."""
        return self.node_dir / "logs"

    @property
    def config(self) -> Path:
        """`opensearch.yml`, `log4j2.properties` and the engine's keystore."""
        return self.node_dir / "config"

    @property
    def tmp(self) -> Path:
        """Temporary files of the Java runtime."""
        return self.node_dir / "tmp"

    @property
    def pid_file(self) -> Path:
        """Owned by the caller, so the node itself can't point it at another process."""
        return self.node_dir / "node.pid"

    @property
    def lock_file(self) -> Path:
        """Held while a node is started or stopped."""
        return self.node_dir / "node.lock"


def place(cache_dir: Path, data_dir: Path) -> Placement:
    """Decide on account and folders; creates nothing.

    Raises:
        NodeError: root has no unprivileged account to run the node as.
    """
    engine_dir = cache_dir.expanduser().absolute() / "engine"
    node_dir = data_dir.expanduser().absolute() / "node"
    if os.geteuid() != 0:
        return Placement(None, engine_dir, node_dir)
    account = unprivileged_account()
    if not is_reachable(engine_dir, account):
        engine_dir = FALLBACK / "engine"
    if not is_reachable(node_dir, account):
        node_dir = FALLBACK / "nodes" / hashlib.sha256(str(node_dir).encode()).hexdigest()[:12]
    return Placement(account, engine_dir, node_dir)


def unprivileged_account() -> Account:
    """The first of `ACCOUNTS` that exists."""
    for name in ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise NodeError(
        f"The engine refuses to run as root, and none of the accounts {', '.join(ACCOUNTS)} exists.",
        remedy=f"Create an account {ACCOUNTS[0]}, or start the node as another user.",
    )


def is_reachable(path: Path, account: Account) -> bool:
    """Whether the account may enter every existing folder on the way to `path`, itself included, and read a file.

    Folders that do not exist yet count as reachable: we make them with `OPEN_DIR`.
    """
    target = path.resolve()
    for part in (target, *target.parents):
        try:
            status = part.stat()
        except FileNotFoundError:
            continue
        wanted = stat.S_IXOTH if stat.S_ISDIR(status.st_mode) else stat.S_IROTH
        if status.st_uid == account.uid:
            # The owner's bits count for the owner: shifted by six, the same two bits.
            wanted <<= 6
        if not status.st_mode & wanted:
            return False
    return True


def make_folders(placement: Placement) -> None:
    """Create the node's folders: the outer one the caller's, the inner ones the node's own and closed to others.

    Raises:
        NodeError: a folder can't be made or belongs to another user.
    """
    try:
        _make_open(placement.node_dir)
        for folder in (placement.data, placement.logs, placement.config, placement.tmp):
            folder.mkdir(mode=PRIVATE_DIR, exist_ok=True)
            own(folder, placement.account)
    except OSError as error:
        raise NodeError(
            f"The node's folder can't be made: {error.strerror}.",
            where=str(error.filename or placement.node_dir),
            remedy="Name a folder that you own by MAFTEACH_DATA_DIR.",
        ) from error


def own(folder: Path, account: Account | None) -> None:
    """Give a folder to the node's account and close it to all others."""
    if account is not None:
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)
    folder.chmod(PRIVATE_DIR)


def _make_open(folder: Path) -> None:
    """Like `mkdir -p`, with `OPEN_DIR` for what is made, whatever the umask; existing folders are left as they are."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        path.chmod(OPEN_DIR)
