"""Signing in by an organization's SAML identity provider: what is accepted of it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import urlencode

import pytest
import xmlsec

from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.identity_provider import Asked, IdentityProvider, posted
from tests.service_provider import EMAIL_FORMAT, key_pair, posted_form, sign
from tests.shown_text import shows
from tests.world.builder import PASSWORD
from tests.world.saml import SamlWorld
from tests.world.saml_connection import HEADERS, SamlAcme, saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World

ADA = "ada@acme.example"
TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"


@pytest.fixture
async def acme(world: World, visitor: Visitor, clock: SettableClock) -> SamlAcme:
    """Acme, with its connection and its domain."""
    return await saml_acme(world, visitor, IdentityProvider(now=clock))


def assert_nobody_signed_in(acme: SamlAcme) -> None:
    """Assert that no account, no identity and no session was made."""
    assert not acme.visitor.has_session
    assert acme.world.value("SELECT count(*) FROM identities") == 0
    assert acme.world.value("SELECT count(*) FROM users WHERE email <> 'owner@acme.example'") == 0


async def test_a_user_of_a_verified_domain_gets_a_session_that_is_confined_to_the_organization(acme: SamlAcme) -> None:
    page = await acme.sign_in()

    assert ADA in page.text
    rows = acme.world.rows("SELECT confined_to, connection_id::text, amr FROM sessions WHERE provider = 'upstream'")
    assert rows == [(acme.organization_id, acme.connection_id, ["fed"])]
    assert acme.world.rows("SELECT subject, email FROM identities") == [("employee-1", ADA)]


async def test_an_answer_may_be_signed_as_a_whole_or_with_its_assertion_or_both(acme: SamlAcme) -> None:
    for signs_assertion in (True, False):
        acme.visitor.cookies.clear()
        request = await acme.depart()
        assertion = acme.idp.assertion(request)
        whole = sign(
            acme.idp.response(request, sign(assertion, acme.idp.key) if signs_assertion else assertion), acme.idp.key
        )

        answer = await acme.post(whole, request.relay_state)

        assert answer.status == 303, answer.text
        await acme.visitor.open(answer.headers["Location"])
        assert acme.visitor.has_session


@pytest.mark.parametrize(
    ("name_format", "name_id", "attributes", "mapping"),
    [
        (EMAIL_FORMAT, ADA, {}, {}),
        (TRANSIENT, "another-one-each-time", {"uid": "employee-1", "upn": ADA}, {"id": "uid", "email": "upn"}),
        ("", "employee-1", {"urn:oid:0.9.2342.19200300.100.1.3": ADA}, {}),
    ],
)
async def test_the_id_and_the_address_are_where_the_connection_says(
    acme: SamlAcme, name_format: str, name_id: str, attributes: dict[str, str], mapping: dict[str, str]
) -> None:
    assert (await acme.change(attribute_mapping=mapping)).status == 200

    page = await acme.of(name_format=name_format, name_id=name_id, attributes=attributes).sign_in()

    assert ADA in page.text
    assert acme.world.value("SELECT own_subject FROM identities") == (name_id if "id" in mapping else None)


async def test_a_name_that_changes_with_every_sign_in_identifies_nobody(acme: SamlAcme) -> None:
    page = await acme.of(name_format=TRANSIENT).sign_in()

    assert page.status == 502
    assert_nobody_signed_in(acme)


@pytest.mark.parametrize("email", ["ada@evil.example", "ada@sub.acme.example", "nonsense"])
async def test_a_connection_asserts_addresses_of_verified_domains_only(acme: SamlAcme, email: str) -> None:
    page = await acme.of(attributes={"email": email}).sign_in()

    assert page.status == 403
    assert_nobody_signed_in(acme)


@pytest.mark.parametrize(
    "lie",
    [
        {"issuer": "https://evil.example"},
        {"audience": "https://another.example"},
        {"recipient": "https://evil.example/acs"},
        {"in_response_to": "_another"},
        {"in_response_to": ""},
        {"confirmed_until": "2026-01-01T00:00:00Z"},
        {"not_on_or_after": "2026-01-01T00:00:00Z"},
        {"not_before": "2027-01-01T00:00:00Z"},
        {"not_before": "yesterday"},
        {"method": "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"},
        {"statement": ""},
    ],
    ids=str,
)
async def test_an_assertion_that_is_not_for_us_and_for_this_sign_in_is_refused(
    acme: SamlAcme, lie: dict[str, str]
) -> None:
    page = await acme.sign_in(**lie)

    assert page.status == 502
    assert "your IT staff" in page.text
    assert_nobody_signed_in(acme)


@pytest.mark.parametrize(
    "lie", [{"destination": "https://evil.example"}, {"in_response_to": "_another"}, {"issuer": "https://evil.example"}]
)
async def test_a_response_around_a_right_assertion_that_is_not_for_us_is_refused(
    acme: SamlAcme, lie: dict[str, str]
) -> None:
    request = await acme.depart()
    assertion = sign(acme.idp.assertion(request), acme.idp.key)

    page = await acme.post(acme.idp.response(request, assertion, **lie), request.relay_state)

    assert page.status == 502
    assert_nobody_signed_in(acme)


def unsigned(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer without a signature."""
    return idp.response(request, idp.assertion(request))


def of_another_key(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer that another identity provider has signed."""
    return idp.response(request, sign(idp.assertion(request), key_pair("idp of evil")))


def changed(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer that was changed after it was signed."""
    return idp.answer(request).replace(ADA, "eve@acme.example")


def weakly_signed(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer whose signature is of SHA-1."""
    constants = xmlsec.constants
    weak = sign(idp.assertion(request), idp.key, method=constants.TransformRsaSha1, digest=constants.TransformSha1)
    return idp.response(request, weak)


def with_a_second_assertion(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer with a forged assertion before the one that is signed (signature wrapping)."""
    forged = idp.assertion(request, id="_forged").replace(ADA, "eve@acme.example")
    return idp.response(request, forged + sign(idp.assertion(request), idp.key))


def wrapped_in_an_extension(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer whose signed assertion is hidden, and whose forged one stands in its place."""
    signed = sign(idp.assertion(request), idp.key)
    forged = idp.assertion(request).replace(ADA, "eve@acme.example")
    hidden = f"<samlp:Extensions>{signed}</samlp:Extensions>"
    return idp.response(request, forged).replace("<samlp:Status>", f"{hidden}<samlp:Status>")


def wrapped_in_its_signature(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer with a forged assertion that carries the signature, and in it the assertion that it is of."""
    signed = sign(idp.assertion(request), idp.key)
    start, end = signed.index("<ds:Signature"), signed.index("</ds:Signature>")
    signature, rest = signed[start:end], signed[:start] + signed[end + len("</ds:Signature>") :]
    carrier = f"{signature}<ds:Object>{rest}</ds:Object></ds:Signature>"
    forged = idp.assertion(request, id="_forged").replace(ADA, "eve@acme.example")
    return idp.response(request, forged.replace("</saml:Issuer>", f"</saml:Issuer>{carrier}", 1))


def with_the_same_id_twice(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer with another element that has the id of the assertion."""
    twin = '<samlp:Extensions><x xml:id="_assertion"/></samlp:Extensions>'
    return idp.answer(request).replace("<samlp:Status>", f"{twin}<samlp:Status>")


def with_a_document_type(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer that defines an entity."""
    return f'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>{idp.answer(request)}'


def with_a_comment(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer whose address is cut by a comment, which is no part of what is signed."""
    return idp.answer(request).replace("ada@", "ada<!-- -->@")


def encrypted(idp: IdentityProvider, request: Asked) -> str:
    """Return an answer whose assertion is encrypted."""
    return idp.response(request, "<saml:EncryptedAssertion/>")


def without_an_assertion(idp: IdentityProvider, request: Asked) -> str:
    """Return a success that names no person."""
    return sign(idp.response(request, ""), idp.key)


@pytest.mark.parametrize(
    "forge",
    [
        unsigned,
        of_another_key,
        changed,
        weakly_signed,
        with_a_second_assertion,
        wrapped_in_an_extension,
        wrapped_in_its_signature,
        with_the_same_id_twice,
        with_a_document_type,
        with_a_comment,
        encrypted,
        without_an_assertion,
    ],
)
async def test_an_answer_that_the_identity_provider_has_not_signed_as_it_stands_is_refused(
    acme: SamlAcme, forge: Callable[[IdentityProvider, Asked], str]
) -> None:
    request = await acme.depart()

    page = await acme.post(forge(acme.idp, request), request.relay_state)

    assert page.status == 502
    assert "your IT staff" in page.text
    assert_nobody_signed_in(acme)


async def test_nonsense_is_refused(acme: SamlAcme, subtests: pytest.Subtests) -> None:
    for body in (b"", b"SAMLResponse=", b"SAMLResponse=%00", b"SAMLResponse=PHg%2BPC94Pg=="):
        with subtests.test(body=body):
            page = await acme.world.client.request("POST", acme.acs, data=body, headers=HEADERS)

            assert page.status in {400, 502}
            assert not shows(page.text.lower(), "database")


@pytest.mark.parametrize("status", ["AuthnFailed", "RequestDenied"])
async def test_a_user_who_has_not_signed_in_there_is_told_what_to_do(acme: SamlAcme, status: str) -> None:
    request = await acme.depart()
    code = f"urn:oasis:names:tc:SAML:2.0:status:{status}"

    page = await acme.post(acme.idp.response(request, "", status=code), request.relay_state)

    assert page.status == 403
    assert "try again, or use another way" in page.text


async def test_an_answer_that_was_not_asked_for_is_refused(acme: SamlAcme) -> None:
    request = await acme.depart()

    for relay_state in ("", "made-up", "x" * 3000):
        page = await acme.post(acme.idp.answer(request), relay_state)
        assert page.status in {400, 502}
    assert_nobody_signed_in(acme)


async def test_an_answer_is_taken_once_also_when_it_is_posted_twice_at_once(acme: SamlAcme) -> None:
    request = await acme.depart()
    response = acme.idp.answer(request)

    answers = await at_once(*[partial(acme.post, response, request.relay_state)] * 2)

    assert sorted(answer.status for answer in answers) == [303, 400]
    assert (await acme.post(response, request.relay_state)).status == 400
    [location] = [answer.headers["Location"] for answer in answers if answer.status == 303]
    again = await at_once(*[partial(acme.visitor.send, "GET", location)] * 2)
    assert sorted(answer.status for answer in again) == [303, 400]


async def test_another_browser_cannot_be_signed_in_with_an_answer(acme: SamlAcme) -> None:
    request = await acme.depart()
    answer = await acme.post(acme.idp.answer(request), request.relay_state)
    victim = Visitor(acme.visitor.client)
    await acme.depart(victim)

    page = await victim.send("GET", answer.headers["Location"])

    assert page.status == 400
    assert not victim.has_session
    # The browser that it belongs to may still use it.
    assert (await acme.visitor.open(answer.headers["Location"])).status == 200


async def test_the_answer_for_one_connection_is_not_taken_by_another_of_the_same_identity_provider(
    acme: SamlAcme, world: World
) -> None:
    other = world.organization("globex")
    owner = await world.signed_in_member(other, email="owner@globex.example")
    body = {"type": "saml", "name": "Globex", "metadata_xml": acme.idp.metadata()}
    created = (await owner.post("/api/organizations/globex/upstream-providers", body)).json
    request = await acme.depart()

    page = await acme.post(acme.idp.answer(request), request.relay_state, acs=f"/auth/upstream/{created['id']}/acs")

    assert page.status == 502
    assert acme.world.value("SELECT count(*) FROM identities") == 0


async def test_an_answer_is_worth_nothing_once_the_connection_has_another_identity_provider(
    acme: SamlAcme, clock: SettableClock
) -> None:
    request = await acme.depart()
    answer = await acme.post(acme.idp.answer(request), request.relay_state)
    other = IdentityProvider(now=clock, entity_id="https://idp.other.example", key=key_pair("other idp"))
    assert (await acme.change(metadata_xml=other.metadata())).status == 200

    page = await acme.visitor.open(answer.headers["Location"])

    assert page.status == 400
    assert_nobody_signed_in(acme)


async def test_both_keys_of_an_identity_provider_verify_while_one_is_replaced(acme: SamlAcme) -> None:
    assert (await acme.change(metadata_xml=acme.idp.metadata(key_pair("next idp of acme")))).status == 200

    for key in (acme.idp.key, key_pair("next idp of acme")):
        acme.visitor.cookies.clear()
        await acme.of(key=key).sign_in()
        assert acme.visitor.has_session


async def test_a_connection_that_is_switched_off_takes_no_answer(acme: SamlAcme) -> None:
    request = await acme.depart()
    await acme.change(enabled=False)

    assert (await acme.post(acme.idp.answer(request), request.relay_state)).status == 404


async def test_an_openid_connection_has_no_assertion_consumer_service(acme: SamlAcme) -> None:
    acme.world.connection.execute(
        "UPDATE upstream_connections SET type = 'oidc', client_id = 'x', client_secret_sealed = 'x'"
    )

    assert (await acme.world.client.request("POST", acme.acs, data=posted("x", "x"), headers=HEADERS)).status == 404
    assert (await acme.world.client.get(acme.acs.replace("acs", "metadata"))).status == 404


async def test_the_metadata_of_gatehouse_name_what_the_requests_do(acme: SamlAcme) -> None:
    request = await acme.depart()

    answer = await acme.world.client.get(acme.acs.replace("acs", "metadata"))

    assert answer.headers["Content-Type"] == "application/samlmetadata+xml"
    assert f'entityID="{request.issuer}"' in answer.text
    assert f'Location="{request.acs_url}"' in answer.text
    assert request.acs_url == f"http://localhost:8000{acme.acs}"


async def test_a_sign_in_by_openid_connect_is_not_finished_with_the_state_of_one_by_saml(acme: SamlAcme) -> None:
    request = await acme.depart()

    page = await acme.visitor.send("GET", f"/auth/upstream/callback?code=c&state={request.relay_state}")

    assert page.status == 400
    assert_nobody_signed_in(acme)


async def test_gatehouse_is_an_identity_provider_for_gatehouse(acme: SamlAcme, saml: SamlWorld, world: World) -> None:
    globex = world.organization("globex")
    world.member(globex, world.user(ADA))
    request = await acme.depart()
    service = await saml.service(globex, "globex", entity_id=request.issuer, acs_url=request.acs_url)
    metadata = await world.client.get(f"{service.path}/metadata")
    assert (await acme.change(metadata_xml=metadata.text)).status == 200
    at_globex = Visitor(acme.visitor.client)
    await at_globex.sign_in(ADA)

    begun = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
    page = await at_globex.open(begun.headers["Location"].removeprefix("http://localhost:8000"))
    form = posted_form(page.text)
    data = urlencode(form.fields).encode()
    answer = await world.client.request("POST", acme.acs, data=data, headers=HEADERS)
    asked = await acme.visitor.open(answer.headers["Location"])
    # The address has an account, to which its user signs in once to link the two.
    methods = await acme.visitor.submit(asked, "/app/sign-in", email=ADA)
    await acme.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD)

    assert form.action == request.acs_url
    live = world.rows("SELECT confined_to FROM sessions WHERE provider = 'upstream' AND revoked_at IS NULL")
    assert live == [(acme.organization_id,)]
