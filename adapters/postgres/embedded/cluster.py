"""What PostgreSQL needs on disk before it can start: the cluster's files, its password, settings and socket.

`server.py` starts, joins and stops it. Callers of these functions hold the locks described there, so no other process
creates or runs the same cluster meanwhile.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import signal
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from adapters.postgres.embedded.folder import PRIVATE_FILE, PRIVATE_FOLDER
from adapters.postgres.embedded.programs import Account, EmbeddedPostgresError, failure, programs_folder, programs_for

SUPERUSER = "postgres"
PORT = 5432
SOCKET_NAME = f".s.PGSQL.{PORT}"
# Lines of postmaster.pid, as PostgreSQL's miscadmin.h numbers them, from zero.
PID_LINE = 0
SOCKET_LINE = 4
PASSWORD_BYTES = 24
DIGEST_CHARACTERS = 16
READABLE_FILE = 0o644
# sockaddr_un has 108 bytes for the path and the zero that ends it.
SOCKET_PATH_BYTES_MAX = 107
# pg_ctl and initdb put paths into shell commands and libpq puts hosts into lists, each without quoting all of these.
UNSUPPORTED_CHARACTERS = frozenset("\"'`$\\,\n\r")

SETTINGS = """\
# Written by Gatehouse at every start, so changes made here are lost. Use ALTER SYSTEM, which takes precedence.

# Local processes of the same user only; there is no port to attack.
listen_addresses = ''
port = {port}
unix_socket_directories = '"{socket_folder}"'
unix_socket_permissions = 0700

# A small footprint: one service on one machine.
max_connections = 100
shared_buffers = '64MB'
max_wal_size = '256MB'
min_wal_size = '32MB'
io_method = 'sync'
# A page of a log locks each of its months with their indexes: 15 a month, and audit entries are kept for ever.
max_locks_per_transaction = 256
# What is read often is in memory, where random access costs hardly more than sequential access.
random_page_cost = 1.1

timezone = 'UTC'
log_timezone = 'UTC'

# Gatehouse gets the error of a failed statement and logs it with the request. Here it would only fill the disk, and a
# statement or the key that it violated may contain what belongs in no log.
log_min_messages = 'log'
log_min_error_statement = 'panic'
log_error_verbosity = 'terse'
log_checkpoints = off
"""


class Cluster:
    """The files of a cluster inside a data folder, and how each of them is created."""

    def __init__(self, data_folder: Path) -> None:
        self.folder = data_folder / "postgres"
        self.log = data_folder / "postgres.log"
        self.password_file = data_folder / "postgres.password"
        self._unfinished = data_folder / "postgres.new"
        self._settings = data_folder / "postgres.conf"
        self._postmaster = self.folder / "postmaster.pid"

    def create(self, account: Account, *, inherited: Sequence[int]) -> None:
        """Run initdb in a temporary folder and rename it, so that a crash leaves either a whole cluster or none."""
        self._check_path()
        if self._unfinished.exists():
            shutil.rmtree(self._unfinished)
        _make_folder_for(account, self._unfinished)
        _write_password(self.password_file, account)
        programs = programs_for(account, self._unfinished, log=self.log)
        is_created = programs.run(
            "initdb",
            f"--pgdata={self._unfinished}",
            f"--username={SUPERUSER}",
            f"--pwfile={self.password_file}",
            "--auth=scram-sha-256",
            # Collation and letter case come from PostgreSQL; the locales of the system change between its releases.
            "--encoding=UTF8",
            "--no-locale",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            # One system call instead of a thousand fsyncs, which take seconds on a busy disk.
            "--sync-method=syncfs",
            "--no-instructions",
            inherited=inherited,
        )
        if not is_created:
            raise failure("initdb could not create the database cluster.", self.log)
        with (self._unfinished / "postgresql.conf").open("a") as settings:
            # Relative to this file, so that the data folder may be moved.
            settings.write(f"\ninclude '../{self._settings.name}'\n")
            settings.flush()
            os.fsync(settings.fileno())
        self._unfinished.rename(self.folder)
        _sync_folder(self.folder.parent)

    def prepare_launch(self, account: Account) -> Path:
        """Write the settings, remove what a crash left behind, and return the folder for the socket.

        The caller knows that no process of the cluster is running. PostgreSQL would only guess, and mistake a process
        that by chance has the pid in these files for another PostgreSQL.
        """
        self._check_path()
        socket_folder = self._make_socket_folder(account)
        self._settings.write_text(SETTINGS.format(port=PORT, socket_folder=socket_folder))
        self._settings.chmod(READABLE_FILE)
        self._postmaster.unlink(missing_ok=True)
        (socket_folder / f"{SOCKET_NAME}.lock").unlink(missing_ok=True)
        return socket_folder

    def remove_socket_folder(self) -> None:
        """Remove the socket folder in the system's temporary folder, if there is one."""
        if self._has_short_path():
            return
        # If PostgreSQL left files in it, the next start removes them and reuses the folder.
        with suppress(OSError):
            self._short_socket_folder().rmdir()

    def password(self) -> str:
        """Return the password that the cluster was created with."""
        try:
            return self.password_file.read_text().strip()
        except FileNotFoundError as missing:
            raise EmbeddedPostgresError(
                f"{self.password_file}, which belongs to {self.folder}, is missing. "
                "Put it back from a backup, or move that folder away to start with an empty database."
            ) from missing

    def socket_folder_in_use(self) -> str | None:
        """Return the folder of the socket on which PostgreSQL listens; None before it does."""
        lines = self._postmaster_lines()
        return lines[SOCKET_LINE] if len(lines) > SOCKET_LINE else None

    def has_postmaster(self) -> bool:
        """Return whether PostgreSQL's main process is visible; one in another container is not."""
        lines = self._postmaster_lines()
        if not lines:
            return False
        # A server in single-user mode writes its pid with a minus sign.
        return self._is_ours(Path("/proc") / lines[PID_LINE].strip().lstrip("-"))

    def kill_processes(self) -> None:
        """Kill every visible process of PostgreSQL on this cluster; the next start recovers."""
        for process in Path("/proc").glob("[0-9]*"):
            if self._is_ours(process):
                with suppress(ProcessLookupError):
                    os.kill(int(process.name), signal.SIGKILL)

    def _is_ours(self, process: Path) -> bool:
        try:
            if (process / "comm").read_bytes().strip() != b"postgres":
                return False
            return (process / "cwd").samefile(self.folder)
        except (FileNotFoundError, ProcessLookupError):
            return False
        except PermissionError:
            # In a container not even root may see the working folder of another user's process. Every user may read
            # the command line.
            return os.fsencode(self.folder) in (process / "cmdline").read_bytes().split(b"\0")

    def _postmaster_lines(self) -> list[str]:
        try:
            return self._postmaster.read_text().splitlines()
        except FileNotFoundError:
            return []

    def _check_path(self) -> None:
        for path in (self.folder, programs_folder()):
            if not UNSUPPORTED_CHARACTERS.isdisjoint(str(path)):
                raise EmbeddedPostgresError(
                    f"PostgreSQL's programs cannot handle the path {path}. "
                    "Choose one without quotation marks, dollar signs, backslashes and commas."
                )

    def _make_socket_folder(self, account: Account) -> Path:
        if self._has_short_path():
            return self.folder
        short = self._short_socket_folder()
        try:
            _make_folder_for(account, short)
        except FileExistsError:
            found = short.lstat()
            is_ours = found.st_uid == account.uid and stat.S_ISDIR(found.st_mode)
            # Every user may write to the temporary folder: another user could have created it to listen in our place.
            if not is_ours or stat.S_IMODE(found.st_mode) != PRIVATE_FOLDER:
                raise EmbeddedPostgresError(
                    f"The path {self.folder} is too long for a socket, and {short}, which would take its place, "
                    "is not ours. Remove that folder, or choose a shorter GATEHOUSE_DATA_DIR."
                ) from None
        return short

    def _has_short_path(self) -> bool:
        return len(os.fsencode(self.folder / SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX

    def _short_socket_folder(self) -> Path:
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()
        return Path(tempfile.gettempdir()) / f"gatehouse-{digest[:DIGEST_CHARACTERS]}"


def _make_folder_for(account: Account, folder: Path) -> None:
    folder.mkdir(mode=PRIVATE_FOLDER)
    if os.geteuid() == 0:
        os.chown(folder, account.uid, account.gid)


def _write_password(path: Path, account: Account) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, PRIVATE_FILE)
    try:
        os.write(descriptor, f"{secrets.token_hex(PASSWORD_BYTES)}\n".encode())
        os.fsync(descriptor)
        if os.geteuid() == 0:
            # initdb reads it.
            os.fchown(descriptor, account.uid, account.gid)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
