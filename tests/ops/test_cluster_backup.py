"""The page of the cluster, followed: pgBackRest on every node, a restore point, and all nodes back at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

import psycopg
import pytest

from core.platform.backups import BackupError
from tests.adapters.backup.databases import backed_up, contents
from tests.citus import Node, administrator, running_cluster
from tests.citus_databases import CitusDatabases
from tests.documents import MANUAL
from tests.other_postgres import require
from tests.waiting import wait_until

pytestmark = pytest.mark.long

PAGE: Final = MANUAL / "cluster.md"
PROGRAM_SECONDS_MAX: Final = 300.0


def blocks(section: str, language: str) -> list[str]:
    """Return the code blocks in a language of a section, also those in lists."""
    [text] = re.findall(rf"^## {section}$(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for _indentation, block in found]


@pytest.fixture
def databases() -> Iterator[CitusDatabases]:
    """The maker of databases on a cluster whose nodes hand over what they write."""
    require(is_there=shutil.which("pgbackrest") is not None, package="pgbackrest")
    with running_cluster(archive_mode="on", archive_timeout="60s") as cluster:
        for node in cluster.nodes:
            prepare(node)
        databases = CitusDatabases(cluster)
        yield databases
        databases.close()


def prepare(node: Node) -> None:
    """Do what the page says of a node before its first backup."""
    configuration, archiving = blocks("Backups", "ini")
    for name in ("repository", "locks", "logs"):
        (node.folder / name).mkdir()
        own(node, node.folder / name)
    places = f"pg1-socket-path={node.folder}\npg1-user=postgres\n"
    usual = f"[global]\nlock-path={node.folder / 'locks'}\nlog-path={node.folder / 'logs'}\n"
    text = configuration.replace("pg1-path=/var/lib/postgresql/15/main\n", f"pg1-path={node.data}\n{places}")
    text = text.replace("[global]\n", usual)
    path = configuration_of(node)
    path.write_text(text.replace("/var/lib/pgbackrest", str(node.folder / "repository")))
    own(node, path)
    [command] = re.findall(r"archive_command = '(.*)'", archiving)
    with administrator(node) as connection:
        changed = command.replace("pgbackrest ", f"pgbackrest --config={configuration_of(node)} ")
        connection.execute(f"ALTER SYSTEM SET archive_command = '{changed}'".encode())
        connection.execute("SELECT pg_reload_conf()")


def own(node: Node, path: Path) -> None:
    """Give a file to the account of the servers."""
    if os.geteuid() == 0:
        os.chown(path, node.programs.account.pw_uid, node.programs.account.pw_gid)


def configuration_of(node: Node) -> Path:
    """Return the file that stands for the usual one of pgBackRest."""
    return node.folder / "pgbackrest.conf"


def run_on_each(nodes: Sequence[Node], lines: str) -> None:
    """Run commands of pgBackRest on every node."""
    for line in lines.splitlines():
        for node in nodes:
            run(node, line)


def run(node: Node, line: str) -> None:
    """Run a command of pgBackRest on a node."""
    program, *arguments = line.split()
    account = node.programs.account
    done = subprocess.run(
        [program, f"--config={configuration_of(node)}", *arguments],
        check=False,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=PROGRAM_SECONDS_MAX,
        user=account.pw_uid if os.geteuid() == 0 else None,
        group=account.pw_gid if os.geteuid() == 0 else None,
        extra_groups=[] if os.geteuid() == 0 else None,
    )
    assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"


def write(url: str, first: int, number: int) -> None:
    """Confirm changes on the coordinator, each with its row on a worker."""
    with psycopg.connect(url, autocommit=True) as connection:
        for one in range(first, first + number):
            with connection.transaction():
                connection.execute(
                    "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, now(), now())",
                    (UUID(int=one), f"{one}@example.com"),
                )
                connection.execute(
                    """
                    INSERT INTO mails (id, organization_id, recipient, template, state, attempts, due_at, created_at)
                    VALUES (%s, %s, %s, 'welcome', 'sent', 1, now(), now())
                    """,
                    (UUID(int=one), UUID(int=one), f"{one}@example.com"),
                )


def test_all_nodes_go_back_to_a_restore_point(databases: CitusDatabases, tmp_path: Path) -> None:
    nodes = databases.cluster.nodes
    preparing, restoring = blocks("Backups", "sh")
    [making] = blocks("Backups", "sql")
    with databases.migrated() as url:
        write(url, 1, 20)
        with pytest.raises(BackupError, match="Back up every node with pgBackRest"):
            backed_up(url, tmp_path / "coordinator.tar")
        run_on_each(nodes, preparing)
        write(url, 21, 20)
        before = contents(url)
        with psycopg.connect(databases.nodes_of(url)[0], autocommit=True) as connection:
            for statement in making.split(";"):
                if statement.strip():
                    connection.execute(statement.encode())
        write(url, 41, 20)
        assert contents(url) != before

        databases.close_pool()
        for node in nodes:
            node.stop()
        run_on_each(nodes, restoring)
        for node in reversed(nodes):
            node.start()
        for node in nodes:
            wait_until(lambda node=node: has_recovered(node), seconds_max=120)

        assert contents(url) == before
        write(url, 61, 1)


def has_recovered(node: Node) -> bool:
    """Return whether a node takes changes."""
    with administrator(node) as connection:
        return connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
