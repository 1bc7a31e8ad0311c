"""The doctor asks the servers that are set, all at once, and names those that hang, refuse or are away."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from core.secrets import Secret
from entrypoints import added_providers
from entrypoints.operator import dependency_checks
from entrypoints.setting_kinds import Bind
from tests.breached import answer_of, breached_file, digits_of, range_answer
from tests.collector import collecting
from tests.entrypoints.operator.doctors import Doctor, Finding
from tests.mail_server import PostOffice
from tests.name_server import NameServer
from tests.openid_provider import CLIENT_SECRET, running_openid_provider
from tests.payment_provider import KEY, running_provider
from tests.shown_text import shows
from tests.stopwatch import Stopwatch
from tests.world.added_providers import providers_file

LOOPBACK = "127.0.0.1"
ASKED = {"mail", "payment provider", "name server", "traces", "codehost"}
# For the other checks, on a busy machine.
OTHERS_SECONDS_MAX = 4.0


@contextmanager
def hanging_server() -> Generator[int]:
    """Listen, and never answer; yield the port."""
    with socket.create_server((LOOPBACK, 0), backlog=50) as listener:
        yield listener.getsockname()[1]


def test_servers_that_hang_are_asked_at_once_and_named(
    healthy_doctor: Doctor, monkeypatch: pytest.MonkeyPatch, stopwatch: Stopwatch
) -> None:
    monkeypatch.setattr(dependency_checks, "ASKED_SECONDS_MAX", 2.0)
    with hanging_server() as port, stopwatch.within(2.0 + OTHERS_SECONDS_MAX):
        findings = healthy_doctor.examine(
            smtp_url=Secret(f"smtp://{LOOPBACK}:{port}?from=id@example.com"),
            billing_secret_key=Secret("sk_live_1"),
            billing_url=f"http://{LOOPBACK}:{port}",
            dns_server=Bind(LOOPBACK, port),
            codehost_client_id="gate",
            codehost_client_secret=Secret("hush hush"),
            codehost_token_url=f"http://{LOOPBACK}:{port}/token",
            mail_to="ann@example.com",
        )

    assert healthy_doctor.status == 1
    hanging = ASKED - {"traces"}
    assert {subject for subject, finding in findings.items() if finding.verdict == "NOT OK"} == hanging
    assert findings["mail"].what == (
        "The mail server accepts the connection and does not answer. It hangs: 2 s have passed."
    )
    assert findings["payment provider"].what == f"{LOOPBACK}:{port} hangs: there was no answer within 2 s"
    assert findings["codehost"].what == f"{LOOPBACK}:{port} hangs: there was no answer within 2 s"
    assert findings["name server"].what == f"{LOOPBACK}:{port} does not answer"
    assert all("ops/runbooks/" in findings[subject].advice for subject in hanging)


def test_servers_that_answer_are_ok(healthy_doctor: Doctor) -> None:
    names = NameServer()
    with running_provider() as provider, names.open(), running_provider() as codehost, collecting() as collector:
        findings = healthy_doctor.examine(
            billing_secret_key=Secret(KEY.replace("test", "live")),
            billing_url=provider.url,
            dns_server=Bind(LOOPBACK, names.port),
            traces_url=collector.url,
            codehost_client_id="gate",
            codehost_client_secret=Secret("hush hush"),
            codehost_token_url=f"{codehost.url}/token",
        )

    assert healthy_doctor.status == 0
    assert {findings[subject].verdict for subject in ASKED} == {"ok"}
    # None of the requests has an effect.
    assert [(request.method, request.path) for request in provider.requests] == [("GET", "/v1/subscriptions")]
    assert [(request.method, request.path) for request in codehost.requests] == [("GET", "/token")]


def test_servers_that_refuse_or_fail_are_not_ok(healthy_doctor: Doctor, mail_server: PostOffice) -> None:
    mail_server.logins["gate"] = "other"
    with running_provider() as provider:
        provider.misbehave(503, times=2)
        findings = healthy_doctor.examine(
            smtp_url=Secret(f"smtp://gate:wrong@{LOOPBACK}:{mail_server.port}?from=id@example.com"),
            billing_secret_key=Secret("sk_live_1"),
            billing_url=provider.url,
            codehost_client_id="gate",
            codehost_client_secret=Secret("hush hush"),
            codehost_token_url=f"{provider.url}/token",
        )

    assert findings["mail"].verdict == "NOT OK"
    assert findings["payment provider"].what == "The provider answers with the status 503."
    assert findings["codehost"].what == f"{provider.url}/token answers with the status 503"
    assert not shows(str(findings), "wrong")
    assert not shows(str(findings), "hush")


def test_a_list_of_breached_passwords_that_can_be_asked_is_ok(healthy_doctor: Doctor, tmp_path: Path) -> None:
    path = breached_file(tmp_path, "password")
    with answering(range_answer("password")) as port:
        findings = [
            healthy_doctor.examine(breached_passwords=known)["breached passwords"]
            for known in (path, f"http://{LOOPBACK}:{port}/range")
        ]

    assert findings == [
        Finding("ok", f"{path} can be searched"),
        Finding("ok", f"http://{LOOPBACK}:{port}/range answers"),
    ]
    assert healthy_doctor.status == 0


def test_one_that_cannot_be_asked_is_named_and_the_other_checks_are_made(
    healthy_doctor: Doctor, tmp_path: Path
) -> None:
    (tmp_path / "unsorted.txt").write_text("".join(f"{digits_of(str(number))}\n" for number in range(9)))
    with answering(answer_of("Sign in first")) as port, hanging_server() as hanging:
        places = {
            tmp_path / "none.txt": "is wrong",
            tmp_path / "unsorted.txt": "not sorted",
            f"http://{LOOPBACK}:{port}": "no list of ranges",
            f"http://{LOOPBACK}:{hanging}": "in time",
        }
        for place, problem in places.items():
            findings = healthy_doctor.examine(breached_passwords=place)

            assert healthy_doctor.status == 1
            assert findings["breached passwords"].verdict == "NOT OK"
            assert problem in findings["breached passwords"].what
            assert findings["breached passwords"].advice.startswith("Meanwhile passwords that have leaked can be set")
            assert findings["housekeeping"].verdict == "ok"


@contextmanager
def answering(answer: bytes) -> Generator[int]:
    """Answer every connection with these bytes; yield the port."""
    with socket.create_server((LOOPBACK, 0)) as listener:
        thread = threading.Thread(target=_answer, args=(listener, answer), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def _answer(listener: socket.socket, answer: bytes) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)


@pytest.mark.parametrize(
    ("document", "secret", "verdict", "what"),
    [
        ({}, CLIENT_SECRET, "ok", "The provider can be reached, and describes itself as it should."),
        ({}, "another-secret", "NOT OK", "The provider does not accept the client secret."),
        (
            {"issuer": "https://another.example"},
            CLIENT_SECRET,
            "NOT OK",
            "The discovery document names another issuer.",
        ),
        ({"jwks_uri": None}, CLIENT_SECRET, "NOT OK", "The discovery document names no usable jwks_uri."),
    ],
)
def test_an_added_provider_is_asked_what_it_says_of_itself_and_of_the_credentials(
    healthy_doctor: Doctor, tmp_path: Path, document: dict[str, Any], secret: str, verdict: str, what: str
) -> None:
    with running_openid_provider() as acme:
        acme.document = document
        file = providers_file(tmp_path, {"acme": acme.url}, client_secret=secret)
        findings = healthy_doctor.examine(providers_file=added_providers.read(str(file)))

    assert (findings["acme"].verdict, findings["acme"].what.startswith(what)) == (verdict, True), findings["acme"]
    assert secret not in str(findings)


def test_an_added_provider_that_is_away_is_not_ok(healthy_doctor: Doctor, tmp_path: Path) -> None:
    file = providers_file(tmp_path, {"acme": "http://127.0.0.1:9"})

    findings = healthy_doctor.examine(providers_file=added_providers.read(str(file)))

    assert findings["acme"].verdict == "NOT OK"
    assert "cannot be reached: it refused the connection" in findings["acme"].what
    assert "Correct [acme] of GATEHOUSE_PROVIDERS_FILE" in findings["acme"].advice
