"""The three machines of `ops/failover/` on this one: etcd, Patroni with PostgreSQL and HAProxy, as their files say it.

Each machine has an address for the others, which leads through a switchboard, and one on which its programs listen.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil
import psycopg

from tests.failover_files import PASSWORD, PATH, FailoverFiles, Program, passwords, read_files
from tests.other_postgres import require
from tests.postgres import data_folder
from tests.seeds import Unfollowed
from tests.switchboard import Switchboard
from tests.waiting import wait_until

NAMES: Final = ("one", "two", "three")
ETCD_CLIENTS, POSTGRES, REST, PROXY = 2379, 5432, 8008, 5000
# Making the cluster copies it twice, on a machine that others use.
START_SECONDS_MAX: Final = 180.0
END_SECONDS_MAX: Final = 60.0
REST_SECONDS_MAX: Final = 1.0


@dataclass
class Machine:
    """One of the three."""

    name: str
    folder: Path
    logs: Path
    account: pwd.struct_passwd
    programs: Mapping[str, Program]
    listen_address: str
    _started: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict[str, "subprocess.Popen[bytes]"])

    def start(self) -> None:
        """Start the programs of it that do not run."""
        for name, program in self.programs.items():
            if name not in self._started or self._started[name].poll() is not None:
                self._started[name] = self._start(program, self.logs / f"{self.name}-{name}.log")

    def _start(self, program: Program, log_file: Path) -> subprocess.Popen[bytes]:
        # PostgreSQL refuses to run as root.
        is_root = os.geteuid() == 0
        with log_file.open("ab") as log:
            return subprocess.Popen(
                program.command,
                cwd=self.folder,
                env=program.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                user=self.account.pw_uid if is_root else None,
                group=self.account.pw_gid if is_root else None,
                extra_groups=[] if is_root else None,
            )

    def reap(self) -> None:
        """Take notice that its programs have ended."""
        for program in self._started.values():
            program.wait(END_SECONDS_MAX)

    def processes(self) -> list[psutil.Process]:
        """Return every process of the machine."""
        pids = [program.pid for program in self._started.values() if program.poll() is None]
        return [one for pid in pids for one in _with_children(pid)] + self.postgres()

    def postgres(self) -> list[psutil.Process]:
        """Return the processes of its PostgreSQL, the first one first."""
        try:
            pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        except (OSError, IndexError):
            return []
        return _with_children(pid)

    def is_leader(self) -> bool:
        """Return whether its Patroni says that it has the lock."""
        return self._confirms("primary")

    def may_be_promoted(self) -> bool:
        """Return whether its Patroni knows that commits wait for it; a little later than the primary waits for it."""
        return self._confirms("synchronous")

    def _confirms(self, path: str) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self.listen_address}:{REST}/{path}", None, REST_SECONDS_MAX):
                return True
        except OSError:
            return False

    def ask(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Return the rows of a statement, as a superuser."""
        url = f"postgresql://postgres:{PASSWORD}@/{database}?host={self.folder}"
        with psycopg.connect(url, autocommit=True, connect_timeout=2) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def run(self, *command: str) -> None:
        """Run a command as an operator does on the machine."""
        done = subprocess.run(
            command,
            check=False,
            cwd=self.folder,
            env=self.programs["patroni"].environment | {"PATRONICTL_CONFIG_FILE": str(self.folder / "patroni.yml")},
            capture_output=True,
            text=True,
            timeout=END_SECONDS_MAX,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def standbys(self) -> list[str]:
        """Return how each standby that streams from it is waited for, such as `sync`."""
        rows = self.ask("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming' ORDER BY 1")
        return [str(state) for (state,) in rows]


def _with_children(pid: int) -> list[psutil.Process]:
    try:
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def send(processes: list[psutil.Process], number: signal.Signals) -> None:
    """Send a signal to processes, the first ones first; one that has ended needs none."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(number)


@dataclass
class ThreeMachines:
    """All three, and the HAProxy of the machine that the test itself is."""

    machines: tuple[Machine, ...]
    switchboard: Switchboard
    addresses: Mapping[str, str]
    proxy_address: str

    def leader(self) -> Machine:
        """Return the machine whose Patroni has the lock; wait for one."""
        found: list[Machine] = []

        def is_found() -> bool:
            found[:] = [machine for machine in self.machines if machine.is_leader()]
            return len(found) == 1

        wait_until(is_found, seconds_max=START_SECONDS_MAX)
        return found[0]

    def wait_until_whole(self) -> Machine:
        """Return the primary, once both standbys follow it and one of them, for which commits wait, may be promoted."""

        def is_whole() -> bool:
            is_followed = self.leader().standbys() == ["async", "sync"]
            return is_followed and any(machine.may_be_promoted() for machine in self.machines)

        wait_until(is_whole, seconds_max=START_SECONDS_MAX)
        return self.leader()

    def synchronous_standby(self) -> Machine:
        """Return the standby for which a commit waits."""
        [(name,)] = self.leader().ask("SELECT application_name FROM pg_stat_replication WHERE sync_state = 'sync'")
        return next(machine for machine in self.machines if machine.name == name)

    @property
    def dynamic(self) -> dict[str, Any]:
        """The settings that all Patronis share."""
        with urllib.request.urlopen(f"http://{self.machines[0].listen_address}:{REST}/config") as answer:
            return json.load(answer)

    def url_by_proxy(self, role: str) -> str:
        """Return the address of the database behind HAProxy."""
        return f"postgresql://{role}:{PASSWORD}@{self.proxy_address}:{PROXY}/gatehouse"

    def url_by_names(self, role: str) -> str:
        """Return the address that names all three PostgreSQL."""
        return f"postgresql://{role}:{PASSWORD}@{','.join(self.addresses.values())}/gatehouse"


@contextmanager
def three_machines(logs: Path) -> Generator[ThreeMachines]:
    """Start three machines and a HAProxy, which have no database yet; what they write stays in a folder."""
    for program, package in {"patroni": "patroni", "etcd": "etcd-server", "haproxy": "haproxy"}.items():
        require(is_there=shutil.which(program, path=PATH) is not None, package=package)
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    require(is_there=bool(binaries), package="postgresql")
    files = read_files(binaries[-1])
    # Addresses of this machine that no other run uses, so that the ports can be as in the files.
    chance = Unfollowed()
    block = f"127.{chance.randint(64, 254)}.{chance.randint(1, 254)}"
    addresses = {name: f"{block}.{number}" for number, name in enumerate(NAMES, start=1)}
    common = {f"NODE_{name.upper()}": address for name, address in addresses.items()} | passwords()
    proxy_address = f"{block}.250"
    machines: list[Machine] = []
    with data_folder() as folder, closing(Switchboard()) as switchboard:
        # The account of PostgreSQL passes through it.
        folder.chmod(0o755)
        try:
            for number, name in enumerate(NAMES, start=101):
                listen_address, way_out = f"{block}.{number}", f"{block}.{number + 100}"
                for port in (POSTGRES, REST):
                    switchboard.forward(name, (addresses[name], port), (listen_address, port))
                for port, address in enumerate(addresses.values(), start=ETCD_CLIENTS):
                    switchboard.forward(name, (way_out, port), (address, ETCD_CLIENTS))
                values = common | {"NODE": name, "ADDRESS": addresses[name], "LISTEN_ADDRESS": listen_address}
                machines.append(_machine(files, folder / name, logs, values, way_out))
                machines[-1].start()
            haproxy = files.haproxy(common | {"PROXY_ADDRESS": proxy_address})
            with _running(haproxy, logs / "haproxy.log"):
                yield ThreeMachines(tuple(machines), switchboard, addresses, proxy_address)
        finally:
            processes = [process for machine in machines for process in machine.processes()]
            send(processes, signal.SIGKILL)
            psutil.wait_procs(processes, END_SECONDS_MAX)
            for machine in machines:
                machine.reap()


def _machine(files: FailoverFiles, folder: Path, logs: Path, values: Mapping[str, str], way_out: str) -> Machine:
    account = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    folder.mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.chown(folder, account.pw_uid, account.pw_gid)
    # A machine that is cut off does not reach etcd, which stays whole: its three members are beside the switchboard.
    etcd = files.etcd(folder, {**values, "LISTEN_ADDRESS": values["ADDRESS"]})
    patroni = files.patroni(folder, values)
    # Otherwise Patroni goes on to the addresses that etcd names to it.
    patroni.environment["PATRONI_ETCD_USE_PROXIES"] = "on"
    patroni.environment["PATRONI_ETCD_HOSTS"] = ",".join(
        f"{way_out}:{port}" for port in range(ETCD_CLIENTS, ETCD_CLIENTS + len(NAMES))
    )
    programs = {"etcd": etcd, "patroni": patroni}
    return Machine(values["NODE"], folder, logs, account, programs, values["LISTEN_ADDRESS"])


@contextmanager
def _running(program: Program, log_file: Path) -> Generator[None]:
    with log_file.open("wb") as log:
        process = subprocess.Popen(program.command, env=program.environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.kill()
        process.wait()
