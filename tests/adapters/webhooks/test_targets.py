"""Where deliveries go: never to a private address, whatever the name says, and only to hosts of the certificate."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_network

import pytest
import trio
import trustme

from adapters.gateways.attempts import HttpWebhookSender
from adapters.gateways.outbound import outbound_client
from tests.adapters.webhooks.sending import DELIVERY, NOW, ORGANIZATION_ID, SECRETS, asking, attempt
from tests.broken_answers import assert_in_our_words
from tests.name_server import NameServer
from tests.receiver import Receiver, open_receiver


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """A certificate authority."""
    return trustme.CA()


HOST = "hooks.example.com"


@pytest.fixture
def here(names: NameServer) -> NameServer:
    """A name server by which the host is this machine."""
    names.lead(HOST, ["127.0.0.1"])
    return names


class TestTargets:
    """A name never leads to a private address, and the checked address is the one that is connected to."""

    @pytest.mark.parametrize(
        "addresses",
        [
            *(["127.0.0.1"], ["10.0.0.1"], ["169.254.169.254"], ["::1"], ["fe80::1"], ["fd00::1"], ["0.0.0.0"]),
            *(["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["10.0.0.1", "127.0.0.1"]),
        ],
    )
    async def test_a_name_that_leads_to_a_private_address_is_refused(
        self, receiver: Receiver, names: NameServer, addresses: list[str]
    ) -> None:
        names.lead(HOST, addresses)

        found = await attempt(f"http://hooks.example.com:{receiver.port}/", allowed=(), names=names)

        assert found.status_code is None
        assert "private address" in (found.error or "")
        assert receiver.connections == 0

    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]"]
    )
    async def test_a_literal_private_address_is_refused_in_every_form(self, receiver: Receiver, host: str) -> None:
        found = await attempt(f"http://{host}:{receiver.port}/", allowed=())

        assert found.status_code is None
        assert receiver.connections == 0

    async def test_a_name_that_changes_its_answer_is_connected_to_at_the_checked_address(
        self, receiver: Receiver, names: NameServer
    ) -> None:
        names.lead(HOST, ["127.0.0.1"], ["10.0.0.1"])

        found = await attempt(f"http://hooks.example.com:{receiver.port}/", names=names)

        assert found.is_success
        assert names.lookups_of(HOST) == 1
        assert receiver.received[0].headers["host"] == f"hooks.example.com:{receiver.port}"

    async def test_a_name_that_becomes_private_is_refused_at_the_next_connection(
        self, receiver: Receiver, names: NameServer
    ) -> None:
        receiver.answers(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        names.lead(HOST, ["127.0.0.1"], ["127.9.9.9"])
        url = f"http://hooks.example.com:{receiver.port}/"
        async with outbound_client((ip_network("127.0.0.1/32"),), lookups=asking(names)) as client:
            sender = HttpWebhookSender(client, version="1.2.3")
            first = await sender.send(ORGANIZATION_ID, url, DELIVERY, SECRETS[:1], at=NOW)
            second = await sender.send(ORGANIZATION_ID, url, DELIVERY, SECRETS[:1], at=NOW)

        assert (first.status_code, second.status_code) == (200, None)
        assert "private address" in (second.error or "")

    async def test_an_allowed_address_is_used_although_the_name_has_private_ones_too(
        self, receiver: Receiver, names: NameServer
    ) -> None:
        names.lead(HOST, ["10.0.0.1", "127.0.0.1"])

        assert (await attempt(f"http://hooks.example.com:{receiver.port}/", names=names)).is_success

    async def test_a_name_that_does_not_resolve_is_a_failure_that_says_so(self, names: NameServer) -> None:
        found = await attempt("http://hooks.example.com/", names=names)

        assert found.error == "The name hooks.example.com does not resolve."

    @pytest.mark.parametrize(
        "url", ["http://" + "a" * 70 + ".example.com/", "http://[::1%25x]/", "http://a..b/", "http://exa_mple/"]
    )
    async def test_a_url_that_the_client_does_not_understand_is_a_failure(self, names: NameServer, url: str) -> None:
        found = await attempt(url, names=names)

        assert found.status_code is None
        assert found.error

    async def test_a_proxy_of_the_environment_is_not_used(
        self, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:9/")

        assert (await attempt(receiver.url)).is_success


class TestTls:
    """TLS verifies the name of the target, although the connection goes to an address."""

    @asynccontextmanager
    async def serving(self, authority: trustme.CA, name: str) -> AsyncGenerator[Receiver]:
        """Serve with a certificate for that name."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        authority.issue_cert(name).configure_cert(context)
        async with open_receiver(context) as receiver:
            yield receiver

    def trusting(self, authority: trustme.CA) -> ssl.SSLContext:
        """Return the context of a client that trusts the authority."""
        context = ssl.create_default_context()
        authority.configure_trust(context)
        return context

    async def test_a_valid_certificate_of_the_name_is_accepted(self, authority: trustme.CA, here: NameServer) -> None:
        async with self.serving(authority, "hooks.example.com") as receiver:
            url = f"https://hooks.example.com:{receiver.port}/"
            found = await attempt(url, names=here, tls=self.trusting(authority))

        assert found.is_success

    async def test_a_certificate_of_another_name_is_refused(self, authority: trustme.CA, here: NameServer) -> None:
        async with self.serving(authority, "other.example.com") as receiver:
            url = f"https://hooks.example.com:{receiver.port}/"
            found = await attempt(url, names=here, tls=self.trusting(authority))

        assert found.status_code is None
        assert found.error == "The certificate of the receiver is not valid: it is for another name."
        assert receiver.received == []

    async def test_a_certificate_of_an_unknown_authority_is_refused(
        self, authority: trustme.CA, here: NameServer
    ) -> None:
        async with self.serving(authority, "hooks.example.com") as receiver:
            found = await attempt(f"https://hooks.example.com:{receiver.port}/", names=here)

        assert found.status_code is None
        assert_in_our_words(found.error)
        assert (found.error or "").startswith("The certificate of the receiver is not valid: its issuer is not trusted")

    async def test_a_certificate_that_has_expired_or_vouches_for_itself_is_refused(
        self, authority: trustme.CA, here: NameServer
    ) -> None:
        expired = authority.issue_cert("hooks.example.com", not_after=datetime(2020, 1, 1, tzinfo=UTC))
        later = authority.issue_cert("hooks.example.com", not_before=datetime(2100, 1, 1, tzinfo=UTC))
        itself = trustme.CA()
        for key, chain, problem in (
            (expired.private_key_pem, expired.private_key_and_cert_chain_pem, "it has expired"),
            (later.private_key_pem, later.private_key_and_cert_chain_pem, "it is not valid yet"),
            (itself.private_key_pem, itself.cert_pem, "it is self-signed"),
        ):
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            with key.tempfile() as key_path, chain.tempfile() as chain_path:
                context.load_cert_chain(chain_path, key_path)
            async with open_receiver(context) as receiver:
                url = f"https://hooks.example.com:{receiver.port}/"
                found = await attempt(url, names=here, tls=self.trusting(authority))

            assert found.error == f"The certificate of the receiver is not valid: {problem}."

    async def test_a_receiver_that_speaks_no_tls_is_told_so(self, authority: trustme.CA, here: NameServer) -> None:
        async def greet(stream: trio.SocketStream) -> None:
            async with stream:
                await stream.send_all(b"220 mail.example.com ready\r\n")

        async with trio.open_nursery() as nursery:
            [listener] = await nursery.start(partial(trio.serve_tcp, greet, 0, host="127.0.0.1"))
            url = f"https://hooks.example.com:{listener.socket.getsockname()[1]}/"
            found = await attempt(url, names=here, tls=self.trusting(authority))
            nursery.cancel_scope.cancel()

        assert found.error == "The receiver cannot be reached: it does not speak TLS 1.2 or newer at this port."

    async def test_a_receiver_that_refuses_connections_is_told_so(self) -> None:
        async with open_receiver() as closed:
            url = closed.url

        assert (await attempt(url)).error == "The receiver cannot be reached: it refused the connection."
