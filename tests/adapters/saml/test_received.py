"""Received messages: which are read, and which are refused for their form or their signature."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import xmlsec

from adapters.saml import received
from adapters.saml.documents import DOCUMENT_BYTES_MAX, Unreadable
from core.saml.messages import AuthnRequest, EncodedMessage, LogoutResponse, SamlBinding, SamlLogoutRequest
from tests.service_provider import DECLARED, RSA_SHA1, ServiceProvider, key_pair, redirected, sign

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SP = ServiceProvider(now=lambda: NOW, idp="https://id.example/saml/acme/shop")
CERTIFICATE = SP.key.certificate_pem


def post(message: str | bytes, *, is_response: bool = False) -> EncodedMessage:
    data = message.encode() if isinstance(message, str) else message
    return EncodedMessage(binding=SamlBinding.POST, value=base64.b64encode(data).decode(), is_response=is_response)


def redirect(query: str, message: str) -> EncodedMessage:
    return EncodedMessage(binding=SamlBinding.REDIRECT, value=redirected(message), query=query.encode())


class TestForm:
    """The XML of a message."""

    def test_a_request_is_read_whole(self) -> None:
        message = SP.authn_request(
            inside="<saml:Subject><saml:NameID>ada@example.com</saml:NameID></saml:Subject>"
            '<samlp:NameIDPolicy Format="urn:f" SPNameQualifier="q"/>'
            '<samlp:RequestedAuthnContext Comparison="minimum"><saml:AuthnContextClassRef>urn:a'
            "</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>",
            ID="_1",
            ForceAuthn="true",
            IsPassive="0",
            IssueInstant="2026-11-21T13:00:00.1234567+01:00",
        )

        assert received.read(post(message), None) == AuthnRequest(
            id="_1",
            issuer="https://sp.example/metadata",
            issued_at=NOW + timedelta(microseconds=123456),
            destination="https://id.example/saml/acme/shop/sso",
            is_signed=False,
            acs_url="https://sp.example/acs",
            protocol_binding=SamlBinding.POST,
            name_id_format="urn:f",
            name_qualifier="q",
            subject="ada@example.com",
            force_authn=True,
            is_passive=False,
            context_classes=("urn:a",),
            comparison="minimum",
        )

    def test_messages_about_logouts_are_read(self) -> None:
        request = received.read(post(SP.logout_request("ada@example.com", "1", "2")), None)
        response = received.read(post(SP.logout_response("_1", status="Responder"), is_response=True), None)

        assert isinstance(request, SamlLogoutRequest)
        assert (request.name_id.value, request.session_indexes) == ("ada@example.com", ("1", "2"))
        assert isinstance(response, LogoutResponse)
        assert (response.in_response_to, response.is_success) == ("_1", False)

    @pytest.mark.parametrize(
        ("message", "problem"),
        [
            (f'<!DOCTYPE a [<!ENTITY e "x">]>{SP.authn_request()}', "document type"),
            ('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>', "document type"),
            (
                '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>'
                "<l>&c;</l>",
                "document type",
            ),
            ('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]><a>&e;</a>', "document type"),
            (SP.authn_request(inside="<a>&e;</a>"), "well-formed"),
            (SP.authn_request(inside="<!-- a -->"), "comment"),
            (SP.authn_request(inside="<?a b?>"), "comment"),
            (f"<!-- a -->{SP.authn_request()}", "more than one element"),
            (SP.authn_request().replace("sp.example/metadata<", "sp.example/<!-- -->metadata<"), "comment"),
            (SP.authn_request(inside="<a>" * 60 + "</a>" * 60), "nested"),
            (SP.authn_request(inside="<a>" * 3000 + "</a>" * 3000), "well-formed"),
            (SP.authn_request(inside="<a/>" * 6000), "elements"),
            (SP.authn_request(inside="x" * DOCUMENT_BYTES_MAX), "larger"),
            ("", "DEFLATE"),
            ("a" * 100, "DEFLATE"),
            (SP.authn_request()[:-5], "well-formed"),
            (SP.authn_request(ID=None), "ID"),
            (SP.authn_request(ID="1 2"), "ID"),
            (SP.authn_request(ID="_1", inside='<a ID="_1"/>'), "same ID"),
            (SP.authn_request(Version="1.1"), "Version"),
            (SP.authn_request(IssueInstant=None), "IssueInstant"),
            (SP.authn_request(IssueInstant="yesterday"), "IssueInstant"),
            (SP.authn_request(IssueInstant="2026-13-45T00:00:00Z"), "IssueInstant"),
            (SP.authn_request(IssueInstant="0001-01-01T00:00:00+14:00"), "IssueInstant"),
            (SP.authn_request(ForceAuthn="yes"), "ForceAuthn"),
            (SP.authn_request(Destination="x" * 5000), "Destination"),
            (SP.authn_request(inside="<saml:Issuer>b</saml:Issuer>"), "more than one Issuer"),
            (SP.authn_request().replace(SP.entity_id, "<b>a</b>"), "Issuer"),
            (SP.authn_request(inside="<samlp:NameIDPolicy/><samlp:NameIDPolicy/>"), "NameIDPolicy"),
            (
                SP.authn_request(
                    inside="<samlp:RequestedAuthnContext>"
                    + "<saml:AuthnContextClassRef>a</saml:AuthnContextClassRef>" * 21
                    + "</samlp:RequestedAuthnContext>"
                ),
                "too many",
            ),
            (SP.logout_request("a", *map(str, range(101))), "too many"),
            (
                SP.logout_request("").replace("<saml:NameID", "<saml:Name").replace("saml:NameID>", "saml:Name>"),
                "NameID",
            ),
            (SP.logout_response("_1"), "kind"),
            (
                f'<a {DECLARED} ID="_1" Version="2.0" IssueInstant="{SP.time()}"><saml:Issuer>a</saml:Issuer></a>',
                "kind",
            ),
            (SP.authn_request().replace("AuthnRequest", "ArtifactResolve"), "kind"),
        ],
        ids=range(35),
    )
    def test_a_message_is_refused_for_its_form(self, message: str, problem: str) -> None:
        with pytest.raises(Unreadable, match=problem):
            received.read(post(message), None)

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-7", "cp1252"])
    def test_only_utf_8_is_read_whatever_the_declaration_says(self, encoding: str) -> None:
        hidden = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'

        with pytest.raises(Unreadable):
            received.read(post(hidden.encode(encoding)), None)

    def test_what_is_posted_may_be_compressed_too(self) -> None:
        value = redirected(SP.authn_request(ID="_1"))

        assert received.read(EncodedMessage(binding=SamlBinding.POST, value=value), None).id == "_1"

    def test_a_bomb_is_not_inflated(self) -> None:
        compressor = zlib.compressobj(wbits=-15)
        bomb = compressor.compress(b"<a>" + b"x" * 5_000_000) + compressor.flush()
        value = base64.b64encode(bomb).decode()

        with pytest.raises(Unreadable, match="larger"):
            received.read(EncodedMessage(binding=SamlBinding.REDIRECT, value=value), None)

    @pytest.mark.parametrize(
        "value",
        ["%%%", "é", base64.b64encode(b"plain").decode(), redirected(SP.authn_request())[:40] + "===="],
        ids=["no base64", "no ASCII", "not compressed", "cut"],
    )
    def test_a_value_that_cannot_be_decoded_is_refused(self, value: str) -> None:
        with pytest.raises(Unreadable):
            received.read(EncodedMessage(binding=SamlBinding.REDIRECT, value=value), None)

    def test_bytes_after_the_compressed_message_are_refused(self) -> None:
        value = base64.b64encode(base64.b64decode(redirected(SP.authn_request())) + b"more").decode()

        with pytest.raises(Unreadable, match="DEFLATE"):
            received.read(EncodedMessage(binding=SamlBinding.REDIRECT, value=value), None)


class TestEnvelopedSignature:
    """The signature inside a message of the POST binding."""

    def test_a_signature_is_verified(self) -> None:
        message = received.read(post(SP.signed(SP.authn_request())), CERTIFICATE)

        assert message.is_signed

    def test_a_message_without_a_signature_is_not_signed(self) -> None:
        assert not received.read(post(SP.authn_request()), CERTIFICATE).is_signed

    def test_without_a_certificate_a_signature_is_ignored(self) -> None:
        message = SP.signed(SP.authn_request()).replace("/acs", "/other")

        assert not received.read(post(message), None).is_signed

    @pytest.mark.parametrize(
        "change",
        [
            lambda message: message.replace("/acs", "/other"),
            lambda message: message.replace("<ds:DigestValue>", "<ds:DigestValue>AAAA"),
            lambda message: message.replace("<ds:SignatureValue>", "<ds:SignatureValue>AAAA"),
            lambda message: message.replace("#rsa-sha256", "#rsa-sha512"),
            lambda message: message.replace("<ds:SignedInfo>", "<ds:SignedInfo><ds:Object/>"),
        ],
        ids=["value", "digest", "signature", "algorithm", "added"],
    )
    def test_a_tampered_message_is_refused(self, change: Callable[[str], str]) -> None:
        with pytest.raises(Unreadable, match="does not fit"):
            received.read(post(change(SP.signed(SP.authn_request()))), CERTIFICATE)

    def test_the_signature_of_another_key_is_refused_although_the_message_brings_it(self) -> None:
        message = sign(SP.authn_request(), key_pair("mallory"))

        with pytest.raises(Unreadable, match="does not fit"):
            received.read(post(message), CERTIFICATE)

    @pytest.mark.parametrize(
        ("method", "digest"),
        [
            (xmlsec.constants.TransformRsaSha1, None),
            (None, xmlsec.constants.TransformSha1),
        ],
        ids=["signature", "digest"],
    )
    def test_sha_1_is_refused(self, method: object, digest: object) -> None:
        message = sign(SP.authn_request(), SP.key, method=method, digest=digest)

        with pytest.raises(Unreadable, match="not accepted"):
            received.read(post(message), CERTIFICATE)

    def test_a_signed_request_inside_another_one_proves_nothing(self) -> None:
        original = SP.signed(SP.authn_request(ID="_signed"))
        wrapped = SP.authn_request(ID="_evil", inside=f"<samlp:Extensions>{original}</samlp:Extensions>")

        with pytest.raises(Unreadable, match="as a whole"):
            received.read(post(wrapped), CERTIFICATE)

    def test_a_signature_that_was_moved_to_another_request_is_refused(self) -> None:
        original = SP.signed(SP.authn_request(ID="_signed"))
        start, end = original.index("<ds:Signature>"), original.index("</ds:Signature>") + len("</ds:Signature>")
        bare = original[:start] + original[end:]
        evil = SP.authn_request(ID="_evil", inside=f"{original[start:end]}<samlp:Extensions>{bare}</samlp:Extensions>")

        with pytest.raises(Unreadable, match="as a whole"):
            received.read(post(evil), CERTIFICATE)

    def test_a_root_with_the_id_of_the_signed_element_is_refused(self) -> None:
        original = SP.signed(SP.authn_request(ID="_signed"))
        start, end = original.index("<ds:Signature>"), original.index("</ds:Signature>") + len("</ds:Signature>")
        bare = original[:start] + original[end:]
        evil = SP.authn_request(
            ID="_signed", inside=f"{original[start:end]}<samlp:Extensions>{bare}</samlp:Extensions>"
        )

        with pytest.raises(Unreadable, match="same ID"):
            received.read(post(evil), CERTIFICATE)

    def test_a_second_reference_is_refused(self) -> None:
        message = SP.signed(SP.authn_request())
        start, end = message.index("<ds:Reference "), message.index("</ds:Reference>") + len("</ds:Reference>")

        with pytest.raises(Unreadable, match="as a whole"):
            received.read(post(message[:end] + message[start:end] + message[end:]), CERTIFICATE)

    @pytest.mark.parametrize("uri", ["", "#_other", "http://127.0.0.1:9/", "#xpointer(/)"])
    def test_a_reference_to_anything_but_the_root_is_refused(self, uri: str) -> None:
        message = SP.signed(SP.authn_request(ID="_1")).replace('URI="#_1"', f'URI="{uri}"')

        with pytest.raises(Unreadable, match="as a whole"):
            received.read(post(message), CERTIFICATE)

    @pytest.mark.parametrize("name", ["xmldsig-more#hmac-sha256", "xmldsig-more#rsa-md5", "xmldsig-more#ecdsa-sha256"])
    def test_another_kind_of_signature_is_refused(self, name: str) -> None:
        message = SP.signed(SP.authn_request()).replace("xmldsig-more#rsa-sha256", name)

        with pytest.raises(Unreadable, match="not accepted"):
            received.read(post(message), CERTIFICATE)

    def test_what_the_signature_does_not_cover_is_not_read(self) -> None:
        evil = (
            '<saml:Subject><saml:NameID>evil@example.com</saml:NameID></saml:Subject><samlp:NameIDPolicy Format="e"/>'
        )
        message = SP.signed(SP.authn_request()).replace(
            "</ds:Signature>", f"<ds:Object>{evil}</ds:Object></ds:Signature>"
        )

        request = received.read(post(message), CERTIFICATE)

        assert isinstance(request, AuthnRequest)
        assert (request.is_signed, request.subject, request.name_id_format) == (True, None, None)

    def test_a_transform_by_xslt_is_refused(self) -> None:
        message = SP.signed(SP.authn_request()).replace(
            'Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"',
            'Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"',
        )

        with pytest.raises(Unreadable, match="not accepted"):
            received.read(post(message), CERTIFICATE)


class TestQuerySignature:
    """The signature of the redirect binding."""

    @pytest.mark.parametrize("relay_state", [None, "a b&c=d/é"])
    def test_a_signature_is_verified_over_the_bytes_of_the_sender(self, relay_state: str | None) -> None:
        message = SP.authn_request()
        query = SP.query(message, relay_state=relay_state, key=SP.key)

        assert received.read(redirect(query, message), CERTIFICATE).is_signed

    def test_a_query_without_a_signature_is_not_signed(self) -> None:
        message = SP.authn_request()

        assert not received.read(redirect(SP.query(message), message), CERTIFICATE).is_signed

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            (lambda query: query.replace("RelayState=a", "RelayState=b"), "does not fit"),
            (lambda query: query.replace("RelayState=a&", ""), "does not fit"),
            (lambda query: query.replace("Signature=", "Signature=AAAA"), "does not fit"),
            (lambda query: query.replace("rsa-sha256", "rsa-sha512"), "does not fit"),
            (lambda query: f"{query}&SAMLRequest={redirected(SP.authn_request())}", "twice"),
            (lambda query: f"{query}&SAML%52equest=a", "twice"),
            (lambda query: query.replace("SAMLRequest=", "SAMLResponse="), "does not fit"),
            (lambda query: query.replace("SigAlg=", "Sig="), "not accepted"),
        ],
        ids=range(8),
    )
    def test_a_tampered_query_is_refused(self, change: Callable[[str], str], problem: str) -> None:
        message = SP.authn_request()
        query = change(SP.query(message, relay_state="a", key=SP.key))

        with pytest.raises(Unreadable, match=problem):
            received.read(redirect(query, message), CERTIFICATE)

    def test_a_signature_over_another_message_than_the_one_that_is_read_is_refused(self) -> None:
        query = SP.query(SP.authn_request(), key=SP.key)

        with pytest.raises(Unreadable, match="does not fit"):
            received.read(redirect(query, SP.authn_request(ID="_evil")), CERTIFICATE)

    def test_sha_1_is_refused(self) -> None:
        message = SP.authn_request()
        query = SP.query(message, key=SP.key, algorithm=RSA_SHA1)

        with pytest.raises(Unreadable, match="not accepted"):
            received.read(redirect(query, message), CERTIFICATE)
