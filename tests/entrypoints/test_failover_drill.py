"""The drill of a failover, with the files of `ops/failover/`: the primary is lost in every way, under load.

Two servers register accounts meanwhile, one behind HAProxy, one that knows all three PostgreSQL by name. Both answer
with 200 or 503 and nothing else, both are back in time, and no account that was confirmed is missing afterwards.
"""

from __future__ import annotations

import logging
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import pytest

from tests.documents import ROOT, block
from tests.entrypoints.confirmed_writes import confirmed_since, interruption, registering
from tests.failover_files import PASSWORD, PATH, passwords
from tests.processes import Commands, Service, Services, given_database
from tests.shown_text import shows
from tests.stopwatch import Stopwatch
from tests.switchboard import Cut
from tests.three_machines import Machine, ThreeMachines, send, three_machines
from tests.waiting import wait_until

# It starts a dozen programs, and each way takes up to a minute; CI runs it in its turn.
pytestmark = pytest.mark.long

RUNBOOK: Final = ROOT / "ops" / "runbooks" / "failover.md"
ROLES: Final = ROOT / "ops" / "database" / "roles.sql"
CLIENTS: Final = 2
# Before the primary is lost, and after its machine is back.
CONFIRMED_MIN: Final = 20
KILLED_SECONDS_MAX: Final = 15.0
BEYOND_TTL_SECONDS_MAX: Final = 10.0
BACK_SECONDS_MAX: Final = 120.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Site:
    """Three machines, and a server for each way to their database."""

    machines: ThreeMachines
    by_proxy: Service
    by_names: Service

    @property
    def ports(self) -> list[int]:
        """The ports of both servers."""
        return [self.by_proxy.port, self.by_names.port]

    def accounts(self) -> set[str]:
        """Return the addresses of all accounts that the present primary has."""
        rows = self.machines.leader().ask("SELECT email FROM users", "gatehouse")
        return {str(email) for (email,) in rows}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The machines with a database that was made as the runbook says, and both servers, which are ready."""
    with three_machines(tmp_path_factory.mktemp("logs")) as machines:
        leader = machines.wait_until_whole()
        leader.ask("CREATE DATABASE gatehouse")
        subprocess.run(
            ["psql", "--quiet", "--no-psqlrc", "--dbname=gatehouse", f"--file={ROLES}"],
            check=True,
            env={
                "PATH": PATH,
                "PGHOST": str(leader.folder),
                "PGUSER": "postgres",
                "PGPASSWORD": PASSWORD,
                **passwords(),
            },
        )
        folder = tmp_path_factory.mktemp("servers")
        owner = {"GATEHOUSE_DATABASE_URL": machines.url_by_proxy("gatehouse_owner")}
        migrated = Commands(folder, given_database("postgresql://x@/x") | owner).run("migrate")
        assert migrated.returncode == 0, migrated.stderr
        services = Services(folder, given_database("postgresql://x@/x"))
        try:
            yield Site(
                machines,
                services.ready(DATABASE_URL=machines.url_by_proxy("gatehouse_server"), DATA_DIR="data-1"),
                services.ready(DATABASE_URL=machines.url_by_names("gatehouse_server"), DATA_DIR="data-2"),
            )
        finally:
            services.close()


def kill_postgres(_: ThreeMachines, machine: Machine) -> None:
    """End PostgreSQL as the system does when it has no memory left; its Patroni lives."""
    send(machine.postgres(), signal.SIGKILL)


def lose_machine(_: ThreeMachines, machine: Machine) -> None:
    """End everything on the machine at once."""
    send(machine.processes(), signal.SIGKILL)


def hang(_: ThreeMachines, machine: Machine) -> None:
    """Stop everything on the machine, as a virtual machine that is suspended; its connections stay open."""
    send(machine.processes(), signal.SIGSTOP)


def cut_off(machines: ThreeMachines, machine: Machine) -> None:
    """Hold everything to the machine and from it, which goes on working.

    Without etcd, a primary asks the Patroni of the others whether it may go on, which no other machine does meanwhile.
    """
    machines.switchboard.cut_off(Cut(machine.name, b"POST /failsafe "))


def hand_over(machines: ThreeMachines, machine: Machine) -> None:
    """Change the primary on purpose, as the runbook says."""
    command = block(RUNBOOK, "sh", "Changing the primary on purpose").split()
    names = {"one": machine.name, "two": machines.synchronous_standby().name}
    machine.run(*(names.get(part, part) for part in command))


def mend(machines: ThreeMachines, machine: Machine) -> None:
    """Undo what was done to the machine."""
    machines.switchboard.mend()
    send(machine.processes(), signal.SIGCONT)
    machine.start()


@pytest.mark.parametrize("lose", [kill_postgres, lose_machine, hang, cut_off, hand_over])
def test_a_primary_that_is_lost_is_replaced_in_time_and_nothing_confirmed_is_lost(
    site: Site, lose: Callable[[ThreeMachines, Machine], None], stopwatch: Stopwatch
) -> None:
    primary = site.machines.wait_until_whole()
    others = [machine for machine in site.machines.machines if machine is not primary]

    with registering(site.ports, name=lose.__name__.replace("_", "-"), clients=CLIENTS) as clients:
        wait_until(lambda: all(len(client.confirmed) >= CONFIRMED_MIN for client in clients))
        broken_at = time.monotonic()
        lose(site.machines, primary)
        wait_until(lambda: any(machine.is_leader() for machine in others), seconds_max=BACK_SECONDS_MAX)
        promoted_at = time.monotonic()
        wait_until(lambda: confirmed_since(clients, promoted_at), seconds_max=BACK_SECONDS_MAX)
        mend(site.machines, primary)
        assert site.machines.wait_until_whole() is not primary
        whole_at = time.monotonic()
        wait_until(lambda: confirmed_since(clients, whole_at))

    seconds = interruption(clients, broken_at)
    statuses = sum((client.statuses for client in clients), Counter[int]())
    missing = {address for client in clients for _, address in client.confirmed} - site.accounts()
    # Shown by `-o log_cli=true --log-level=INFO`.
    log.info("%s: %.1f s, promoted after %.1f s, %s", lose.__name__, seconds, promoted_at - broken_at, dict(statuses))
    assert missing == set()
    assert statuses.keys() == {200, 503}
    assert [failure for client in clients for failure in client.failures] == []
    seconds_max = (
        KILLED_SECONDS_MAX
        if lose in (kill_postgres, hand_over)
        else site.machines.dynamic["ttl"] + BEYOND_TTL_SECONDS_MAX
    )
    stopwatch.assert_within(seconds, seconds_max)
    for service in (site.by_proxy, site.by_names):
        assert service.is_running()
        assert not shows(service.log, "Traceback")
