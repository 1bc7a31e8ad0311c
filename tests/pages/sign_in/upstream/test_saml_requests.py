"""Requests to SAML identity providers: signed where they want that, posted where they take no redirects."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from lxml import etree

from tests.clock import SettableClock
from tests.identity_provider import PERSISTENT, SSO_URL, Asked, IdentityProvider
from tests.service_provider import EMAIL_FORMAT, NAMESPACES, POST, RSA_SHA256, PostedForm, inflated, posted_form
from tests.shown_text import shows
from tests.world.saml_connection import SamlAcme, saml_acme
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

ADA = "ada@acme.example"
WANTED = 'WantAuthnRequestsSigned="true"'
UNSPECIFIED = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"


@pytest.fixture
async def acme(world: World, visitor: Visitor, clock: SettableClock) -> SamlAcme:
    """Acme, with its connection and its domain."""
    return await saml_acme(world, visitor, IdentityProvider(now=clock))


async def certificates(acme: SamlAcme) -> list[str]:
    """Return the certificates for signing of our metadata, as PEM, and assert that they announce signed requests."""
    answer = await acme.world.client.get(acme.acs.replace("acs", "metadata"))
    root: Any = etree.fromstring(answer.content)
    assert root.xpath("//md:SPSSODescriptor/@AuthnRequestsSigned", namespaces=NAMESPACES) == ["true"]
    bodies = root.xpath("//md:KeyDescriptor[@use='signing']//ds:X509Certificate/text()", namespaces=NAMESPACES)
    return [f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n" for body in bodies]


def assert_signed(query: str, certificate: str) -> None:
    """Assert that a query string is signed as it stands."""
    signed, _, rest = query.partition("&Signature=")
    assert [pair.partition("=")[0] for pair in signed.split("&")] == ["SAMLRequest", "RelayState", "SigAlg"]
    assert parse_qs(signed)["SigAlg"] == [RSA_SHA256]
    key = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    assert isinstance(key, rsa.RSAPublicKey)
    [signature] = parse_qs(f"Signature={rest}")["Signature"]
    key.verify(base64.b64decode(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())


def asked_by(form: PostedForm) -> Asked:
    """Return the request that a form posts."""
    root = form.root
    issuer = root.findtext(f"{{{NAMESPACES['saml']}}}Issuer")
    return Asked(root.get("ID"), issuer, root.get("AssertionConsumerServiceURL"), form.fields["RelayState"])


async def test_a_request_is_signed_in_its_query_where_the_metadata_want_it(acme: SamlAcme) -> None:
    changed = await acme.change(metadata_xml=acme.idp.metadata(rest=WANTED))

    answer = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")

    assert changed.json["signs_requests"] is True
    [certificate] = await certificates(acme)
    address = urlsplit(answer.headers["Location"])
    assert answer.headers["Location"].startswith(f"{SSO_URL}&")
    assert_signed(address.query.removeprefix("tenant=acme&"), certificate)
    # The signature is no part of the request itself.
    assert ADA in (await acme.sign_in()).text


async def test_the_new_key_signs_after_a_change(acme: SamlAcme) -> None:
    await acme.change(metadata_xml=acme.idp.metadata(rest=WANTED))
    await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")
    [first] = await certificates(acme)
    path = f"/api/organizations/acme/upstream-providers/{acme.connection_id}/rotate-key-pair"
    assert (await acme.owner.post(path)).status == 200

    answer = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")

    published = await certificates(acme)
    assert published[1:] == [first]
    assert_signed(urlsplit(answer.headers["Location"]).query.removeprefix("tenant=acme&"), published[0])


@pytest.mark.parametrize("wants_signed", [False, True])
async def test_a_provider_that_takes_posts_alone_gets_the_request_from_a_page(
    acme: SamlAcme, *, wants_signed: bool
) -> None:
    await acme.change(metadata_xml=acme.idp.metadata(binding=POST, rest=WANTED if wants_signed else ""))

    page = await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")

    assert page.status == 200
    form = posted_form(page.text)
    assert form.action == SSO_URL
    assert form.fields.keys() == {"SAMLRequest", "RelayState"}
    assert form.root.get("Destination") == SSO_URL
    assert "data-submits-itself" in page.text
    assert "<button" in page.text
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert not shows(policy, "form-action")
    signatures = form.root.findall(f"{{{NAMESPACES['ds']}}}Signature")
    assert len(signatures) == int(wants_signed)
    if wants_signed:
        [certificate] = await certificates(acme)
        root = form.root
        context = xmlsec.SignatureContext()
        context.key = xmlsec.Key.from_memory(certificate, xmlsec.constants.KeyDataFormatCertPem)
        context.register_id(root, "ID")
        context.verify(root[1])
    request = asked_by(form)
    answer = await acme.post(acme.idp.answer(request), request.relay_state)
    assert ADA in (await acme.visitor.open(answer.headers["Location"])).text


async def test_a_redirect_is_preferred_where_both_are_offered(acme: SamlAcme) -> None:
    offered = f'<md:SingleSignOnService Binding="{POST}" Location="https://idp.acme.example/post"/>'
    both = acme.idp.metadata().replace("<md:SingleSignOnService", f"{offered}<md:SingleSignOnService", 1)
    assert (await acme.change(metadata_xml=both)).status == 200

    request = await acme.depart()

    assert request.issuer.endswith("/metadata")


@pytest.mark.parametrize("location", ["https://idp.acme.example&#10;/sso", "https://idp.acme.example/&#13;&#10;X: y"])
async def test_an_address_with_a_line_break_is_refused(acme: SamlAcme, location: str) -> None:
    answer = await acme.change(metadata_xml=acme.idp.metadata().replace(SSO_URL, location))

    assert_refused(answer, 400, "BAD_REQUEST")
    assert answer.invalid_fields == ["metadata_xml"]


def policy_of(root: Any) -> dict[str, str]:
    """Return what a request says of the name of its user."""
    [policy] = root.findall(f"{{{NAMESPACES['samlp']}}}NameIDPolicy")
    # The schema has it right after the issuer, and a signature (saml-core-2.0, 3.4.1).
    names = [etree.QName(child).localname for child in root if etree.QName(child).localname != "Signature"]
    assert names == ["Issuer", "NameIDPolicy"]
    return dict(policy.attrib)


async def test_a_request_lets_the_provider_name_a_new_person_in_the_connection_s_format(acme: SamlAcme) -> None:
    path = f"/auth/upstream?connection_id={acme.connection_id}"

    first = inflated(
        parse_qs(urlsplit((await acme.visitor.send("GET", path)).headers["Location"]).query)["SAMLRequest"][0]
    )
    changed = await acme.change(name_id_format="persistent", metadata_xml=acme.idp.metadata(binding=POST, rest=WANTED))
    second = posted_form((await acme.visitor.send("GET", path)).text).root

    assert policy_of(first) == {"Format": UNSPECIFIED, "AllowCreate": "true"}
    assert changed.json["name_id_format"] == PERSISTENT
    assert policy_of(second) == {"Format": PERSISTENT, "AllowCreate": "true"}


async def test_the_format_is_one_that_identifies_people(acme: SamlAcme) -> None:
    for wrong in ("transient", "urn:oasis:names:tc:SAML:1.1:nameid-format:persistent", "x"):
        refused = await acme.change(name_id_format=wrong)
        assert refused.invalid_fields == ["name_id_format"], wrong

    assert (await acme.change(name_id_format="emailAddress")).json["name_id_format"] == EMAIL_FORMAT
    assert (await acme.change(name_id_format="")).json["name_id_format"] is None


async def test_names_of_another_format_may_be_other_people_s(acme: SamlAcme) -> None:
    await acme.sign_in()

    kept = await acme.change(name_id_format=None)
    await acme.change(name_id_format="persistent")

    assert kept.status == 200
    assert acme.world.value("SELECT count(*) FROM identities") == 0


async def test_another_format_unlinks_nobody_where_the_id_is_an_attribute(acme: SamlAcme) -> None:
    await acme.change(attribute_mapping={"id": "uid"})
    await acme.of(attributes={"uid": "7", "email": ADA}).sign_in()

    await acme.change(name_id_format="persistent")

    assert acme.world.value("SELECT count(*) FROM identities") == 1


async def test_our_metadata_end_with_our_certificate(acme: SamlAcme, clock: SettableClock) -> None:
    def end_of(content: bytes) -> datetime:
        root: Any = etree.fromstring(content)
        return datetime.fromisoformat(root.get("validUntil"))

    path = acme.acs.replace("acs", "metadata")
    first = end_of((await acme.world.client.get(path)).content)
    clock.advance(timedelta(days=4 * 365))
    late = end_of((await acme.world.client.get(path)).content)

    assert first == datetime(2029, 2, 2, 4, 5, 6, tzinfo=UTC)
    # The certificate has ended, and is published still.
    assert late == clock() + timedelta(days=7)
