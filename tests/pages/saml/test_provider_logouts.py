"""Single logout with the SAML identity provider of a connection: it ends sessions here, and gets notice of ours."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from cryptography.x509 import load_pem_x509_certificate

from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.identity_provider import IdentityProvider
from tests.pages.saml.logout_steps import relay_state_of, send, statuses
from tests.pages.saml.peers import next_address
from tests.service_provider import NAMESPACES, POST, is_signed, key_pair, posted_form
from tests.world.openid_connection import CONNECTIONS
from tests.world.provider_logout import SLO_URL, LogoutAcme, message_at, metadata_with_logout
from tests.world.saml import SamlWorld
from tests.world.saml_connection import saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

NAME = "employee-1"
PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"


@pytest.fixture
async def acme(world: World, visitor: Visitor, clock: SettableClock) -> LogoutAcme:
    """Acme, whose identity provider takes part in logouts by redirect."""
    idp = IdentityProvider(now=clock)
    return LogoutAcme(await saml_acme(world, visitor, idp, metadata_xml=metadata_with_logout(idp)))


@pytest.fixture
def elsewhere(world: World) -> Visitor:
    """A browser that has signed in to nothing."""
    return Visitor(world.client)


async def own_certificate(acme: LogoutAcme) -> str:
    """Return the certificate of the connection."""
    answer = await acme.acme.owner.get(f"{CONNECTIONS}/{acme.acme.connection_id}")
    assert answer.status == 200
    value = acme.acme.world.value("SELECT public_key FROM connection_keys WHERE is_active")
    assert isinstance(value, str)
    return value


def verify_query(address: str, certificate_pem: str) -> None:
    """Assert that the signature of the redirect binding was made with a certificate's key."""
    signed, _, signature = urlsplit(address).query.partition("&Signature=")
    value = base64.b64decode(parse_qs(f"Signature={signature}")["Signature"][0])
    public = load_pem_x509_certificate(certificate_pem.encode()).public_key()
    public.verify(value, signed.encode(), padding.PKCS1v15(), hashes.SHA256())  # type: ignore[union-attr, call-arg]


async def test_the_provider_ends_the_session_that_it_names_in_whatever_browser(
    acme: LogoutAcme, elsewhere: Visitor
) -> None:
    await acme.sign_in()
    request = acme.party.logout_request(NAME, "session-1", ID="_theirs", name_format=PERSISTENT)

    answer = await acme.send(request, visitor=elsewhere, relay_state="their state")

    assert acme.live_sessions == 0
    told = message_at(answer.headers["Location"], SLO_URL, "SAMLResponse")
    assert statuses(told) == ["Success"]
    assert (told.get("InResponseTo"), told.get("Destination")) == ("_theirs", SLO_URL)
    assert relay_state_of(answer) == "their state"
    verify_query(answer.headers["Location"], await own_certificate(acme))
    assert len(acme.acme.world.events("user.logout")) == 1
    assert "Sign in" in (await acme.acme.visitor.open("/app")).text


async def test_a_posted_request_is_answered_at_once_and_by_post_where_the_provider_takes_only_that(
    acme: LogoutAcme, elsewhere: Visitor
) -> None:
    metadata = metadata_with_logout(acme.acme.idp, binding=POST, response=f"{SLO_URL}/answers")
    assert (await acme.acme.change(metadata_xml=metadata)).status == 200
    await acme.sign_in()

    page = await acme.post(acme.party.logout_request(NAME, "session-1"), visitor=elsewhere, relay_state="theirs")

    assert acme.live_sessions == 0
    form = posted_form(page.text)
    assert (form.action, form.fields["RelayState"]) == (f"{SLO_URL}/answers", "theirs")
    assert form.statuses == ["Success"]
    assert is_signed(form.root, await own_certificate(acme))


async def test_only_what_name_and_index_have_begun_by_this_connection_ends(
    acme: LogoutAcme, elsewhere: Visitor, world: World, clock: SettableClock
) -> None:
    await acme.sign_in()
    others = {
        "another index": acme.party.logout_request(NAME, "session-2"),
        "another name": acme.party.logout_request("employee-2", "session-1"),
    }
    for problem, request in others.items():
        answer = await acme.send(request, visitor=elsewhere)

        told = message_at(answer.headers["Location"], SLO_URL, "SAMLResponse")
        assert statuses(told) == ["Requester", "UnknownPrincipal"], problem
        assert acme.live_sessions == 1, problem

    # Another tenant, whose provider uses the same names.
    evil = IdentityProvider(now=clock, entity_id="https://idp.evil.example", key=key_pair("idp of evil"))
    world.organization("evil")
    owner = await world.signed_in_member(world.value("SELECT id FROM organizations WHERE slug = 'evil'"))
    body = {"type": "saml", "name": "Evil", "metadata_xml": metadata_with_logout(evil)}
    created = await owner.post("/api/organizations/evil/upstream-providers", body)
    theirs = LogoutAcme(replace(acme.acme, idp=evil, connection_id=created.json["id"]))
    answer = await theirs.send(theirs.party.logout_request(NAME, "session-1"), visitor=elsewhere)
    assert statuses(message_at(answer.headers["Location"], SLO_URL, "SAMLResponse"))[0] == "Requester"
    assert acme.live_sessions == 1

    # Without an index it is every session of that name.
    await acme.send(acme.party.logout_request(NAME), visitor=elsewhere)
    assert acme.live_sessions == 0


async def test_what_began_from_the_session_ends_with_it_and_its_service_providers_are_told_first(
    acme: LogoutAcme, saml: SamlWorld, elsewhere: Visitor
) -> None:
    await acme.acme.change(joins_as="member")
    await acme.sign_in()
    shop = await saml.service(acme.acme.organization_id, "acme")
    await acme.acme.visitor.open("/app")
    form = await shop.signed_in(acme.acme.visitor)
    assert form.statuses == ["Success"]

    answer = await acme.post(acme.party.logout_request(NAME, "session-1"), visitor=elsewhere)

    assert acme.live_sessions == 0
    told = message_at(answer.headers["Location"], shop.sp.slo_url, "SAMLRequest")
    response = shop.sp.logout_response(told.get("ID"))
    last = await send(elsewhere, shop, response, name="SAMLResponse", relay_state=relay_state_of(answer))
    assert statuses(message_at(last.headers["Location"], SLO_URL, "SAMLResponse")) == ["Success"]


REFUSED: dict[str, tuple[Callable[[LogoutAcme], str], str]] = {
    "of another issuer": (
        lambda acme: replace(acme.party, entity_id="https://evil.example").logout_request(NAME),
        "Its Issuer is not the identity provider",
    ),
    "for another address": (
        lambda acme: acme.party.logout_request(NAME, Destination="https://evil.example"),
        "Its Destination is another address",
    ),
    "for no address": (lambda acme: acme.party.logout_request(NAME, Destination=None), "names no Destination"),
    "too old": (
        lambda acme: acme.party.logout_request(NAME, IssueInstant=acme.party.time(-timedelta(minutes=9))),
        "too old",
    ),
    "expired": (
        lambda acme: acme.party.logout_request(NAME, NotOnOrAfter=acme.party.time(-timedelta(minutes=4))),
        "expired",
    ),
    "an encrypted name": (
        lambda acme: acme.party.logout_request(NAME).replace("saml:NameID", "saml:EncryptedID"),
        "EncryptedID",
    ),
    "a request for a sign-in": (lambda acme: acme.party.authn_request(), "of a kind that is not taken"),
    "an answer that nobody awaits": (
        lambda acme: acme.party.logout_response("_unknown"),
        "of a kind that is not taken",
    ),
}


async def test_a_message_that_is_not_to_be_trusted_ends_nothing(acme: LogoutAcme, elsewhere: Visitor) -> None:
    await acme.sign_in()
    for name, (message, problem) in REFUSED.items():
        answer = await acme.send(message(acme), visitor=elsewhere)

        assert answer.status == 400, name
        assert problem in answer.text, name
        assert acme.live_sessions == 1, name
    request = acme.party.logout_request(NAME)
    unsigned = await elsewhere.send("GET", f"{acme.slo}?{acme.party.query(request)}")
    assert (unsigned.status, "It is not signed" in unsigned.text) == (400, True)
    for answer in (
        await acme.send(request, visitor=elsewhere, key=key_pair("evil")),
        await acme.post(request, visitor=elsewhere, key=key_pair("evil")),
    ):
        assert (answer.status, "signature does not fit" in answer.text) == (400, True)
    awaited = await acme.send(
        acme.party.logout_response("_unknown"), visitor=elsewhere, name="SAMLResponse", relay_state="unknown"
    )
    assert (awaited.status, "It answers no request" in awaited.text) == (400, True)
    assert acme.live_sessions == 1


async def test_a_request_is_taken_once(acme: LogoutAcme, elsewhere: Visitor) -> None:
    await acme.sign_in()
    request = acme.party.logout_request(NAME)

    answers = await at_once(*(partial(acme.send, request, visitor=Visitor(elsewhere.client)) for _ in range(3)))

    assert sorted(answer.status for answer in answers) == [303, 400, 400]
    assert "It was used before" in next(answer.text for answer in answers if answer.status == 400)
    await acme.sign_in()
    assert (await acme.send(request, visitor=elsewhere)).status == 400
    assert acme.live_sessions == 1


async def test_only_an_enabled_connection_by_saml_takes_messages(acme: LogoutAcme, elsewhere: Visitor) -> None:
    request = acme.party.logout_request(NAME)
    await acme.acme.change(enabled=False)

    assert (await acme.send(request, visitor=elsewhere)).status == 404
    unknown = await elsewhere.send("GET", f"/auth/upstream/{acme.acme.organization_id}/slo?{acme.party.query(request)}")
    assert unknown.status == 404


async def test_without_an_endpoint_of_the_provider_its_request_ends_here(acme: LogoutAcme, elsewhere: Visitor) -> None:
    await acme.acme.change(metadata_xml=acme.acme.idp.metadata())
    await acme.sign_in()

    answer = await acme.send(acme.party.logout_request(NAME), visitor=elsewhere)

    assert (answer.status, answer.headers["Location"]) == (303, "/app/sign-out")
    assert acme.live_sessions == 0
    visitor = acme.acme.visitor
    visitor.cookies.clear()
    await acme.sign_in()
    signed_out = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out")
    assert "You are signed out" in signed_out.text


async def test_who_signs_out_here_signs_out_at_the_provider_after_the_session_has_ended(acme: LogoutAcme) -> None:
    visitor = acme.acme.visitor
    await acme.sign_in()

    answer = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out", is_followed=False)
    assert acme.live_sessions == 0
    answer = await visitor.send("GET", answer.headers["Location"])

    address = next_address(answer)
    request = message_at(address, SLO_URL, "SAMLRequest")
    verify_query(address, await own_certificate(acme))
    assert request.xpath("string(//saml:NameID)", namespaces=NAMESPACES) == NAME
    assert request.xpath("string(//saml:NameID/@Format)", namespaces=NAMESPACES) == PERSISTENT
    assert request.xpath("string(//samlp:SessionIndex)", namespaces=NAMESPACES) == "session-1"
    state = relay_state_of(answer)
    response = acme.party.logout_response(request.get("ID"))
    refused = await acme.send(
        acme.party.logout_response("_other"), visitor=visitor, name="SAMLResponse", relay_state=state
    )
    assert refused.status == 400
    # By POST, whose answer needs the cookie that such a request does not bring.
    back = await acme.post(response, visitor=visitor, name="SAMLResponse", relay_state=state)
    assert back.headers["Location"].startswith(f"{acme.slo}?saml_state=")
    assert "You are signed out" in (await visitor.open(back.headers["Location"])).text
    again = await acme.send(response, visitor=visitor, name="SAMLResponse", relay_state=state)
    assert again.status == 400


async def test_the_service_providers_are_told_before_the_identity_provider(acme: LogoutAcme, saml: SamlWorld) -> None:
    visitor = acme.acme.visitor
    await acme.acme.change(joins_as="member")
    await acme.sign_in()
    shop = await saml.service(acme.acme.organization_id, "acme")
    await shop.signed_in(visitor)

    answer = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out", is_followed=False)
    answer = await visitor.send("GET", answer.headers["Location"])
    told = message_at(next_address(answer), shop.sp.slo_url, "SAMLRequest")
    early = await acme.send(
        acme.party.logout_response(told.get("ID")),
        visitor=visitor,
        name="SAMLResponse",
        relay_state=relay_state_of(answer),
    )
    assert early.status == 400
    response = shop.sp.logout_response(told.get("ID"))
    answer = await send(visitor, shop, response, name="SAMLResponse", relay_state=relay_state_of(answer))

    assert message_at(next_address(answer), SLO_URL, "SAMLRequest").get("Destination") == SLO_URL


async def test_the_session_ends_also_when_the_provider_cannot_be_told(acme: LogoutAcme, world: World) -> None:
    visitor = acme.acme.visitor
    await acme.sign_in()
    world.connection.execute("UPDATE upstream_connections SET metadata_xml = '<nothing/>'")

    page = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out")

    assert acme.live_sessions == 0
    assert "You are signed out" in page.text
    visitor.cookies.clear()
    await acme.acme.change(metadata_xml=metadata_with_logout(acme.acme.idp))
    await acme.sign_in()
    answer = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out", is_followed=False)
    assert (await acme.acme.owner.delete(f"{CONNECTIONS}/{acme.acme.connection_id}")).status == 204
    gone = await visitor.open(answer.headers["Location"])
    assert "This logout is over" in gone.text


async def test_a_session_that_was_deleted_meanwhile_has_no_name_to_be_told(acme: LogoutAcme, world: World) -> None:
    visitor = acme.acme.visitor
    await acme.sign_in()

    answer = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out", is_followed=False)
    world.connection.execute("DELETE FROM provider_sessions")

    assert "You are signed out" in (await visitor.open(answer.headers["Location"])).text


async def test_a_session_that_waited_for_a_second_factor_is_known_to_the_provider_as_well(
    acme: LogoutAcme, world: World
) -> None:
    await acme.sign_in()
    world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE email = 'ada@acme.example'")
    acme.acme.visitor.cookies.clear()

    await acme.sign_in("session-2")

    [context] = world.rows("SELECT context -> 'provider_session' ->> 'session_index' FROM mfa_challenges")
    assert context == ("session-2",)


async def test_after_the_logout_the_browser_reaches_the_address_that_the_service_wanted(
    acme: LogoutAcme, world: World
) -> None:
    goodbye, visitor = "https://portal.acme.example/bye", acme.acme.visitor
    service = world.service(acme.acme.organization_id, "portal")
    world.connection.execute("UPDATE services SET post_logout_redirect_uris = %s", ([goodbye],))
    wanted = {"client_id": str(service.client_id), "post_logout_redirect_uri": goodbye, "state": "s-1"}
    await acme.sign_in()

    asked = await visitor.open(f"/auth/logout?{urlencode(wanted)}")
    answer = await visitor.submit(asked, "/auth/logout/confirm", is_followed=False)
    answer = await visitor.send("GET", answer.headers["Location"])
    request = message_at(next_address(answer), SLO_URL, "SAMLRequest")
    response = acme.party.logout_response(request.get("ID"))
    back = await acme.send(response, visitor=visitor, name="SAMLResponse", relay_state=relay_state_of(answer))
    here = await visitor.send("GET", back.headers["Location"])
    last = await visitor.send("GET", here.headers["Location"])

    assert here.headers["Location"] == "/app/sign-out"
    assert (last.status, last.headers["Location"]) == (303, f"{goodbye}?state=s-1")


async def test_our_metadata_name_the_endpoint(acme: LogoutAcme, elsewhere: Visitor) -> None:
    answer = await elsewhere.send("GET", f"/auth/upstream/{acme.acme.connection_id}/metadata")

    for binding in ("HTTP-Redirect", "HTTP-POST"):
        assert (
            f'SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:{binding}"'
            f' Location="http://localhost:8000{acme.slo}"' in answer.text
        )
