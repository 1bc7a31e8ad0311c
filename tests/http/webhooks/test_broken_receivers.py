"""Receivers that answer nonsense: what lists of deliveries, streams, connections and mail servers say.

They are here together because all of them say it in the same words, which are ours and never those of a library.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from adapters.gateways.attempts import HttpLogoutSender
from adapters.gateways.key_sets import HttpKeySets
from adapters.gateways.outbound import outbound_client
from entrypoints.settings import LOOPBACK
from tests.broken_answers import BROKEN, OK, assert_in_our_words, open_broken
from tests.mail_server import scripted_server
from tests.world.hooks import Hooks
from tests.world.team import Team

CONNECTION = {"name": "Acme", "client_id": "gatehouse", "client_secret": "the-secret-of-acme"}


async def test_the_deliveries_of_a_webhook_say_in_our_words_what_was_wrong(hooks: Hooks) -> None:
    for name, (answer, end) in BROKEN.items():
        async with open_broken(answer) as receiver:
            webhook_id = await hooks.create(receiver.url, name=name)
            await hooks.test(webhook_id)
            await hooks.send()

        [shown] = await hooks.deliveries(webhook_id)
        assert (shown["delivered"], shown["response_status_code"]) == (False, None), name
        assert_in_our_words(shown["delivery_error"])
        assert shown["delivery_error"].endswith(end), name


async def test_the_test_of_a_stream_says_in_our_words_what_was_wrong(team: Team) -> None:
    half = (OK + b"Content-Length: 1000\r\n\r\n{", "closed the connection before the answer was complete.")
    for name, (answer, end) in {**BROKEN, "half an answer": half}.items():
        async with open_broken(answer) as receiver:
            body = {"provider": "splunk", "endpoint": receiver.url.removesuffix("/hook"), "token": "a-token"}
            assert (await team.request("admin", "POST", "/siem", body=body)).status == 200

            tested = (await team.request("admin", "POST", "/siem/test")).json

        assert tested["success"] is False, name
        assert_in_our_words(tested["message"])
        assert tested["message"].endswith(end), name


async def test_the_test_of_a_connection_says_in_our_words_what_was_wrong_with_discovery_keys_and_metadata(
    team: Team,
) -> None:
    for name, (answer, end) in BROKEN.items():
        async with open_broken(answer) as receiver, open_broken(b"") as described:
            broken, issuer = receiver.url.removesuffix("/hook"), described.url.removesuffix("/hook")
            document = {
                "issuer": issuer,
                "jwks_uri": broken,
                "authorization_endpoint": issuer,
                "token_endpoint": issuer,
            }
            content = json.dumps(document).encode()
            described.answers(_whole(content))
            saml = await _connection(team, type="saml", name="Acme")
            told = [
                await _tested(team, await _connection(team, type="oidc", issuer=broken, **CONNECTION)),
                await _tested(team, await _connection(team, type="oidc", issuer=issuer, **CONNECTION)),
                await _refused_metadata(team, saml, receiver.url),
            ]

        for text in told:
            assert_in_our_words(text)
            assert end.replace("receiver", "provider") in text, (name, text)


async def test_a_provider_that_describes_itself_wrongly_is_told_apart(team: Team) -> None:
    for document, problem in (
        (b"null", "has no discovery document at this issuer. Copy the issuer again"),
        (b"[]", "is not a discovery document. Copy the issuer again"),
        (b"<html>", "is not a discovery document. Copy the issuer again"),
        (b'{"issuer": "https://other.example"}', "names another issuer. Set the issuer exactly as the document"),
        (b'{"issuer": "%s/"}', "which differs by the slash at the end. Set the issuer exactly so."),
        (b'{"issuer": "%s"}', "names no usable authorization_endpoint. Ask the vendor"),
    ):
        async with open_broken(b"") as receiver:
            issuer = receiver.url.removesuffix("/hook")
            receiver.answers(_whole(document.replace(b"%s", issuer.encode())))

            message = await _tested(team, await _connection(team, type="oidc", issuer=issuer, **CONNECTION))

        assert_in_our_words(message)
        assert problem in message


async def test_a_logout_token_that_is_not_taken_is_logged_in_our_words() -> None:
    async with outbound_client(LOOPBACK) as client:
        for name, (answer, end) in BROKEN.items():
            async with open_broken(answer) as receiver:
                attempt = await HttpLogoutSender(client, version="1").send(UUID(int=9), receiver.url, "a.logout.token")

            assert_in_our_words(attempt.error)
            assert attempt.error is not None
            assert attempt.error.endswith(end), name


async def test_keys_of_a_client_that_cannot_be_read_are_none_whatever_is_answered() -> None:
    async with outbound_client(LOOPBACK) as client:
        for name, (answer, _) in BROKEN.items():
            async with open_broken(answer) as receiver:
                assert await HttpKeySets(client).fetch(UUID(int=9), receiver.url) is None, name


@pytest.mark.parametrize(
    ("talk", "message"),
    [
        (lambda connection: None, "The mail server closed the connection before it had answered."),
        (lambda connection: connection.sendall(b"garbage\r\n"), "The mail server sent no valid SMTP answer."),
        (lambda connection: connection.sendall(b"2" * 10_000), "The mail server sent no valid SMTP answer."),
        (lambda connection: connection.sendall(b"HTTP/1.1 400 Bad\r\n"), "The mail server sent no valid SMTP answer."),
        (
            lambda connection: connection.sendall(b"554 5.7.1 you are on a list\r\n"),
            "The mail server answered 554 5.7.1 you are on a list",
        ),
    ],
    ids=["nothing", "garbage", "a long line", "HTTP", "a refusal"],
)
async def test_the_test_of_a_mail_server_says_in_our_words_what_was_wrong(
    team: Team, talk: Callable[[socket.socket], None], message: str
) -> None:
    with scripted_server(talk) as port:
        assert await _mail_problem(team, port=port) == message


async def test_a_mail_server_that_speaks_no_tls_is_told_in_our_words(team: Team) -> None:
    with scripted_server(lambda connection: connection.sendall(b"220 mail.test\r\n")) as port:
        message = await _mail_problem(team, port=port, tls="tls")

    assert message == "The mail server cannot be reached: it does not speak TLS 1.2 or newer at this port."


def _whole(content: bytes) -> bytes:
    return OK + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(content) + content


async def _connection(team: Team, **body: Any) -> str:
    answer = await team.request("owner", "POST", "/upstream-providers", body=body)
    assert answer.status == 200, answer.text
    return answer.json["id"]


async def _tested(team: Team, connection_id: str) -> str:
    answer = await team.request("owner", "POST", f"/upstream-providers/{connection_id}/test")
    assert (answer.status, answer.json["success"]) == (200, False)
    return answer.json["message"]


async def _refused_metadata(team: Team, connection_id: str, url: str) -> str:
    answer = await team.request("owner", "PATCH", f"/upstream-providers/{connection_id}", body={"metadata_url": url})
    assert answer.invalid_fields == ["metadata_url"]
    return answer.json["details"][0]["message"]


async def _mail_problem(team: Team, **changes: Any) -> str:
    body = {
        "host": "127.0.0.1",
        "tls": "none",
        "from_name": "Acme",
        "from_email": "post@acme.example",
    }
    assert (await team.request("owner", "PUT", "/smtp", body=body | changes)).status == 200
    answer = await team.request("owner", "POST", "/smtp/test", body={"to": "ada@example.org"})
    assert answer.json["success"] is False
    return answer.json["message"]


@pytest.mark.parametrize("url", ["https://xn--a.example/hook", "https://xn--99999999.example/hook"])
async def test_a_host_that_is_no_name_in_the_xn_form_is_told_and_stops_no_sending(
    team: Team, hooks: Hooks, url: str
) -> None:
    webhook_id = await hooks.create(url)
    await hooks.test(webhook_id)
    await hooks.send()
    body = {"provider": "splunk", "endpoint": url, "token": "a-token"}
    assert (await team.request("admin", "POST", "/siem", body=body)).status == 200
    tested = (await team.request("admin", "POST", "/siem/test")).json

    [shown] = await hooks.deliveries(webhook_id)
    assert "Check the address" in shown["delivery_error"]
    assert tested["success"] is False
    assert "Check the address" in tested["message"]
