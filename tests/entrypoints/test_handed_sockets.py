"""Sockets that are handed over: whose they are, which is which, and what cannot be served on."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from entrypoints import handed_sockets
from tests.entrypoints import handing

PROGRAM = """
import json, os, sys
from entrypoints import handed_sockets
from entrypoints.refusals import CannotStart
try:
    taken = handed_sockets.taken(os.environ)
except CannotStart as refusal:
    sys.exit(str(refusal))
print(json.dumps({
    name: [one.listener.getsockname()[1], one.is_kept, os.get_inheritable(one.listener.fileno())]
    for name, one in taken.items()
}))
assert not [name for name in os.environ if name.startswith("LISTEN_")]
if len(sys.argv) > 1 and taken:
    del sys.orig_argv[-1]
    handed_sockets.begin_anew({name: handed_sockets.HandedSocket(one.listener, False) for name, one in taken.items()})
"""


def run(sockets: Sequence[socket.socket], names: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program with these sockets handed over."""
    descriptors = [one.fileno() for one in sockets]
    command = [sys.executable, str(Path(handing.__file__)), ",".join(map(str, descriptors)), names]
    return subprocess.run(
        [*command, sys.executable, "-c", PROGRAM, *arguments],
        check=False,
        capture_output=True,
        text=True,
        pass_fds=descriptors,
        cwd=Path(handing.__file__).parents[2],
    )


def test_sockets_are_found_by_their_names_and_handed_on() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as internal,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as public,
    ):
        ports = {"metrics": internal.getsockname()[1], "public": public.getsockname()[1]}

        found = run([internal, public], "metrics,gatehouse.socket", "again")

    assert found.returncode == 0, found.stderr
    by_systemd, by_itself = map(json.loads, found.stdout.splitlines())
    assert by_systemd == {name: [port, True, False] for name, port in ports.items()}
    # No other process keeps those that it has handed to itself.
    assert by_itself == {name: [port, False, False] for name, port in ports.items()}


def test_one_without_a_name_is_for_everyone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as public:
        found = json.loads(run([public], "").stdout)

        assert found == {"public": [public.getsockname()[1], True, False]}


def test_two_of_the_same_kind_are_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        refused = run([one, other], "a,b")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("Two sockets were handed over for public.")


def test_what_does_not_listen_on_tcp_is_refused(tmp_path: Path) -> None:
    with socket.socket() as quiet, socket.socket(socket.AF_UNIX) as local, (tmp_path / "file").open("w") as file:
        local.bind(str(tmp_path / "socket"))
        local.listen()
        for wrong in (quiet, local):
            assert "does not listen on TCP" in run([wrong], "").stderr
        command = [sys.executable, str(Path(handing.__file__)), str(file.fileno()), "", sys.executable, "-c", PROGRAM]
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            pass_fds=[file.fileno()],
            cwd=Path(handing.__file__).parents[2],
        )
        assert "hands over no socket as file 3" in done.stderr


@pytest.mark.parametrize("process", ["1", "", "x"])
def test_the_variables_of_a_parent_are_not_ours(process: str) -> None:
    environment = {"LISTEN_PID": process, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "a", "OTHER": "stays"}

    assert handed_sockets.taken(environment) == {}
    assert environment == {"OTHER": "stays"}
