"""A check of a connection by SAML sends its identity provider what a sign-in sends."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any
from urllib.parse import parse_qsl

import pytest

from tests.clock import SettableClock
from tests.identity_provider import SSO_URL, IdentityProvider
from tests.service_provider import NAMESPACES, POST, inflated, posted_form
from tests.upstream_provider import Request
from tests.upstream_provider import serving as serving_answers
from tests.world.openid_connection import CONNECTIONS
from tests.world.saml_connection import SamlAcme, saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

BYTES_TOO_MANY = 300_000


class Provider:
    """An identity provider at an address: what it was asked, and with which status it answers."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.content = b"<h1>Sign in</h1>"
        self.asked: list[Request] = []

    def answer(self, request: Request, _path: str, _authorization: str) -> tuple[int, str, bytes]:
        """Answer as a test says."""
        self.asked.append(request)
        return self.status, "text/html", self.content


@pytest.fixture
def at_address() -> Generator[Provider]:
    """An identity provider at an address."""
    running = Provider()
    with serving_answers(running.answer) as url:
        running.url = url
        yield running


@pytest.fixture
async def acme(world: World, visitor: Visitor, clock: SettableClock, at_address: Provider) -> SamlAcme:
    """Acme, whose identity provider is at that address."""
    made = await saml_acme(world, visitor, IdentityProvider(now=clock))
    assert (await made.change(metadata_xml=metadata(made, at_address))).status == 200
    return made


def metadata(acme: SamlAcme, at_address: Provider, **options: Any) -> str:
    """Return the metadata of the identity provider at its address."""
    return acme.idp.metadata(**options).replace(SSO_URL, f"{at_address.url}/sso?tenant=acme")


async def tested(acme: SamlAcme) -> tuple[bool, str]:
    """Test the connection; return whether it works, and the message."""
    answer = await acme.owner.post(f"{CONNECTIONS}/{acme.connection_id}/test")
    assert answer.status == 200, answer.text
    return answer.json["success"], answer.json["message"]


def shape_of(root: Any) -> Any:
    """Return a request without what differs each time."""
    attributes = {name: value for name, value in root.attrib.items() if name not in {"ID", "IssueInstant"}}
    return root.tag, attributes, root.text, [shape_of(child) for child in root]


async def test_a_check_sends_the_request_of_a_sign_in(acme: SamlAcme, at_address: Provider) -> None:
    await acme.change(name_id_format="persistent")
    sent = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")

    assert await tested(acme) == (True, "The provider can be reached, and describes itself as it should.")

    [asked] = at_address.asked
    by_check, by_sign_in = dict(parse_qsl(asked.query)), dict(parse_qsl(sent.headers["Location"].partition("?")[2]))
    assert by_check.keys() == by_sign_in.keys() == {"tenant", "SAMLRequest", "RelayState"}
    assert shape_of(inflated(by_check["SAMLRequest"])) == shape_of(inflated(by_sign_in["SAMLRequest"]))
    assert asked.headers["accept"].startswith("text/html")
    # No sign-in waits for an answer to it.
    assert acme.world.value("SELECT count(*) FROM upstream_sign_ins") == 1


async def test_a_check_posts_where_a_sign_in_posts(acme: SamlAcme, at_address: Provider) -> None:
    wanted = 'WantAuthnRequestsSigned="true"'
    await acme.change(metadata_xml=metadata(acme, at_address, binding=POST, rest=wanted))
    sent = posted_form((await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")).text)

    assert (await tested(acme))[0]

    [asked] = at_address.asked
    assert asked.form.keys() == sent.fields.keys()
    signatures = sent.root.findall(f"{{{NAMESPACES['ds']}}}Signature")
    assert len(signatures) == 1


@pytest.mark.parametrize("status", [400, 403, 404, 500])
async def test_a_provider_that_refuses_the_request_is_told_and_stays_saved(
    acme: SamlAcme, at_address: Provider, status: int
) -> None:
    at_address.status = status

    works, message = await tested(acme)
    page = await acme.owner.get(f"{CONNECTIONS}/{acme.connection_id}")

    assert not works
    assert f"answered {status} to a request for a sign-in" in message
    assert page.json["enabled"]
    assert acme.world.value("SELECT check_problem FROM upstream_connections") == "request_refused"


@pytest.mark.parametrize("status", [200, 302, 401, 0])
async def test_what_says_nothing_of_the_request_is_no_problem(
    acme: SamlAcme, at_address: Provider, status: int
) -> None:
    at_address.status = status

    assert (await tested(acme))[0]


async def test_a_page_that_is_too_large_or_an_address_that_is_closed_to_us_says_nothing(
    acme: SamlAcme, at_address: Provider
) -> None:
    at_address.content = b"x" * BYTES_TOO_MANY
    assert (await tested(acme))[0]

    at_address.url = "https://10.1.2.3"
    await acme.change(metadata_xml=metadata(acme, at_address))

    assert (await tested(acme))[0]


async def test_an_address_without_tls_is_told(acme: SamlAcme) -> None:
    acme.world.connection.execute(
        "UPDATE upstream_connections SET metadata_xml = replace(metadata_xml, 'http://127.0.0.1', 'http://idp.example')"
    )

    works, message = await tested(acme)

    assert (works, message) == (False, "The SingleSignOnService of these metadata must have an https address.")
