"""The client of the measurements: a connection that the server has closed meanwhile."""

from __future__ import annotations

import socket
import threading

import pytest

from ops.benchmarks import client as client_module
from ops.benchmarks.client import Client
from ops.benchmarks.servers import HOST, RunningServer

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def serving(answers_of_connections: list[int]) -> RunningServer:
    """Serve so many answers on each connection, and close it before the next one."""
    listener = socket.create_server((HOST, 0))

    def serve() -> None:
        with listener:
            for answers in answers_of_connections:
                connection, _ = listener.accept()
                with connection, connection.makefile("rb") as lines:
                    for _ in range(answers):
                        while lines.readline() != b"\r\n":
                            pass
                        connection.sendall(ANSWER)

    threading.Thread(target=serve, daemon=True).start()
    return RunningServer(name="closing", port=listener.getsockname()[1], roots=(0,), start_seconds=0.0)


def test_a_connection_that_was_closed_while_it_was_idle_is_opened_again() -> None:
    client = Client(serving([1, 1]))

    assert [client.get("/").body, client.get("/").body] == [b"ok", b"ok"]
    client.close()


def test_a_request_after_a_timeout_gets_its_own_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "ANSWER_SECONDS_MAX", 0.1)
    silent = socket.create_server((HOST, 0))
    client = Client(RunningServer(name="silent", port=silent.getsockname()[1], roots=(0,), start_seconds=0.0))

    for _ in range(2):
        with pytest.raises(TimeoutError):
            client.get("/")
    silent.close()


def test_a_new_connection_without_an_answer_is_an_error() -> None:
    client = Client(serving([0]))

    with pytest.raises(ConnectionError):
        client.get("/")
    client.close()
