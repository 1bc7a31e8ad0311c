"""A PostgreSQL of Debian that takes connections by TCP, with TLS: the one of the wheel is built without it."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
import trustme

from tests.postgres import data_folder
from tests.proxies import free_port
from tests.waiting import wait_until

PROGRAMS: Final = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
PASSWORD: Final = "secret"
SECONDS_MAX: Final = 60.0
SETTINGS: Final = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
fsync = off
ssl = {ssl}
ssl_cert_file = '{folder}/server.pem'
ssl_key_file = '{folder}/server.key'
"""


@contextmanager
def tls_postgres(certificate: trustme.LeafCert | None) -> Generator[int]:
    """Run one with a certificate, or without TLS, and yield its port; its superuser is gatehouse."""
    if not PROGRAMS:
        # In CI a missing program is an error, so that success means that these tests ran.
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing("no PostgreSQL with TLS; apt-get install postgresql")
    with data_folder() as folder:
        port = free_port()
        password = folder / "password"
        password.write_text(PASSWORD)
        if certificate is not None:
            certificate.private_key_pem.write_to_path(folder / "server.key")
            certificate.cert_chain_pems[0].write_to_path(folder / "server.pem")
            (folder / "server.key").chmod(0o600)
        account = _account()
        for path in (folder, *folder.iterdir()):
            os.chown(path, account.get("user", -1), account.get("group", -1))
        data = folder / "data"
        arguments = [f"--pgdata={data}", "--username=gatehouse", f"--pwfile={password}", "--auth=scram-sha-256"]
        _run("initdb", *arguments, "--encoding=UTF8", "--no-locale", "--no-sync")
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(SETTINGS.format(port=port, folder=folder, ssl="off" if certificate is None else "on"))
        server = subprocess.Popen(
            [PROGRAMS[-1] / "postgres", "-D", data],
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **account,
        )
        try:
            wait_until(lambda: server.poll() is not None or _answers(port), seconds_max=SECONDS_MAX)
            assert server.poll() is None, "PostgreSQL did not start"
            yield port
        finally:
            server.terminate()
            server.wait(SECONDS_MAX)


def _run(program: str, *arguments: str) -> None:
    done = subprocess.run(
        [PROGRAMS[-1] / program, *arguments],
        check=False,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        **_account(),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _account() -> dict[str, Any]:
    """Return the user who runs it, who is not root, because PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _answers(port: int) -> bool:
    try:
        psycopg.connect(
            host="127.0.0.1", port=port, user="gatehouse", password=PASSWORD, dbname="postgres", sslmode="prefer"
        ).close()
    except psycopg.OperationalError:
        return False
    return True
