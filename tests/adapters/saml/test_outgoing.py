"""Messages of the identity provider: what they say, how they are signed, and how they are encoded."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import trio
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from adapters.saml import outgoing
from core.saml.messages import OutgoingMessage, SamlBinding
from tests.adapters.saml.messages import ASSERTION, KEY, LOGOUT_REQUEST, LOGOUT_RESPONSE, PAIR, REFUSAL, RESPONSE, SP
from tests.service_provider import NAMESPACES, inflated, is_signed

SIGNED, UNSIGNED = True, False


def response(**changes: Any) -> Any:
    return etree.fromstring(base64.b64decode(outgoing.response(replace(RESPONSE, **changes), KEY)))


def values(root: Any, path: str) -> list[str]:
    return [str(found) for found in root.xpath(path, namespaces=NAMESPACES)]


def verified_query(message: OutgoingMessage, name: str) -> Any:
    """Return the message of a redirect, after its signature was verified."""
    query = urlsplit(message.url).query
    signed, _, _ = query[query.index(f"{name}=") :].partition("&Signature=")
    parameters = parse_qs(query, strict_parsing=True)
    key = x509.load_pem_x509_certificate(PAIR.certificate_pem.encode()).public_key()
    assert isinstance(key, rsa.RSAPublicKey)
    key.verify(base64.b64decode(parameters["Signature"][0]), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return inflated(parameters[name][0])


@pytest.mark.parametrize(("of_response", "of_assertion"), [(True, True), (True, False), (False, True)])
def test_response_and_assertion_are_signed_as_configured(of_response: bool, of_assertion: bool) -> None:
    root = response(sign_response=of_response, sign_assertion=of_assertion)

    [assertion] = root.findall("saml:Assertion", NAMESPACES)
    assert is_signed(root, PAIR.certificate_pem) is of_response
    assert is_signed(assertion, PAIR.certificate_pem) is of_assertion
    assert set(values(root, "//ds:SignatureMethod/@Algorithm")) == {"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"}
    assert set(values(root, "//ds:CanonicalizationMethod/@Algorithm")) == {"http://www.w3.org/2001/10/xml-exc-c14n#"}


def test_an_assertion_names_its_audience_its_recipient_and_its_request() -> None:
    root = response()

    assert values(root, "@Destination | @InResponseTo") == ["https://sp.example/acs", "_request"]
    assert values(root, "//saml:Audience/text()") == [SP]
    assert values(root, "//saml:SubjectConfirmationData/@Recipient") == ["https://sp.example/acs"]
    assert values(root, "//saml:SubjectConfirmationData/@InResponseTo") == ["_request"]
    assert values(root, "//saml:SubjectConfirmationData/@NotOnOrAfter") == ["2026-11-21T12:05:00Z"]
    assert values(root, "//saml:Conditions/@NotOnOrAfter") == ["2026-11-21T12:05:00Z"]
    assert values(root, "//saml:AuthnStatement/@AuthnInstant") == ["2026-11-21T11:57:00Z"]
    assert values(root, "//saml:AuthnStatement/@SessionIndex") == ["session-1"]
    assert values(root, "//saml:Issuer/text()") == ["https://id.example/saml/acme/shop"] * 2


def test_attributes_are_escaped_and_one_without_a_value_has_none() -> None:
    root = response()

    assert values(root, "//saml:Attribute/@Name") == ["email", "urn:oid:1.2", "role"]
    assert values(root, "//saml:AttributeValue/text()") == ["ada@example.com", '<b>&"']
    assert values(root, "//saml:Attribute/@NameFormat")[1].endswith(":uri")


@given(text=st.text(max_size=20), mapped=st.text("ab\u00e9\U0001f600&<>\"'\t\n\r ", min_size=1, max_size=20))
@example(text="a\r\nb\tc&#13;]]>", mapped='x\r\n\t"y" &amp;')
def test_both_signatures_cover_whatever_an_attribute_says(text: str, mapped: str) -> None:
    root = response(assertion=replace(ASSERTION, attributes=((mapped, text),)))

    assert is_signed(root, PAIR.certificate_pem)
    assert is_signed(root.find("saml:Assertion", NAMESPACES), PAIR.certificate_pem)


def test_an_answer_that_none_asked_for_names_no_request() -> None:
    root = response(in_response_to=None)

    assert values(root, "//@InResponseTo") == []


def test_a_refusal_is_signed_although_only_assertions_are_to_be() -> None:
    value = outgoing.response(replace(REFUSAL, sign_response=False), KEY)
    root = etree.fromstring(base64.b64decode(value))

    assert is_signed(root, PAIR.certificate_pem)
    assert values(root, "//samlp:StatusCode/@Value")[1].endswith(":RequestDenied")


def test_a_message_by_redirect_is_signed_in_its_query() -> None:
    request = outgoing.logout_request(LOGOUT_REQUEST, KEY, SamlBinding.REDIRECT, "a b&c")
    answer = outgoing.logout_response(LOGOUT_RESPONSE, KEY, SamlBinding.REDIRECT, None)

    assert request.url.startswith("https://sp.example/slo?a=b&SAMLRequest=")
    assert parse_qs(urlsplit(request.url).query)["RelayState"] == ["a b&c"]
    assert values(verified_query(request, "SAMLRequest"), "//samlp:SessionIndex/text()") == ["session-1"]
    assert values(verified_query(answer, "SAMLResponse"), "@InResponseTo") == ["_request"]


def test_a_message_by_post_is_signed_inside() -> None:
    request = outgoing.logout_request(LOGOUT_REQUEST, KEY, SamlBinding.POST, "state")
    answer = outgoing.logout_response(LOGOUT_RESPONSE, KEY, SamlBinding.POST, None)

    assert (request.url, request.parameter, request.relay_state) == (LOGOUT_REQUEST.destination, "SAMLRequest", "state")
    assert is_signed(etree.fromstring(base64.b64decode(request.value)), PAIR.certificate_pem)
    assert answer.parameter == "SAMLResponse"
    assert is_signed(etree.fromstring(base64.b64decode(answer.value)), PAIR.certificate_pem)


async def test_one_key_signs_on_several_threads_at_once() -> None:
    roots: list[Any] = []

    async def sign() -> None:
        roots.append(await trio.to_thread.run_sync(response))

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(sign)

    assert [is_signed(root, PAIR.certificate_pem) for root in roots] == [True] * 8
