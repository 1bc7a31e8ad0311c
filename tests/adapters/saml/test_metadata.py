"""Metadata of both sides, and the certificates in them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from lxml import etree

from adapters.saml import certificates, metadata
from adapters.saml.documents import Unreadable
from tests.adapters.saml.messages import IDP, NOW, PAIR, provider_metadata
from tests.service_provider import DECLARED, EMAIL_FORMAT, NAMESPACES, POST, ServiceProvider, key_pair

if TYPE_CHECKING:
    from collections.abc import Callable

SP = ServiceProvider(now=lambda: NOW, idp=IDP)
REDIRECT = POST.replace("POST", "Redirect")


def read(document: str) -> dict[str, Any]:
    return metadata.service_provider(document.encode(), at=NOW)


def endpoint(name: str, location: str, *, binding: str = POST, rest: str = "") -> str:
    return f'<md:{name} Binding="{binding}" Location="https://sp.example/{location}" {rest}/>'


class TestIdentityProvider:
    """The metadata of the identity provider."""

    def test_the_elements_are_in_the_order_of_the_schema(self) -> None:
        root = etree.fromstring(metadata.identity_provider(provider_metadata()))

        [role] = root.findall("md:IDPSSODescriptor", NAMESPACES)
        assert root.get("entityID") == IDP
        assert role.get("WantAuthnRequestsSigned") == "false"
        assert [etree.QName(child).localname for child in role] == [
            *["KeyDescriptor"] * 2,
            *["SingleLogoutService"] * 2,
            "NameIDFormat",
            *["SingleSignOnService"] * 2,
        ]

    def test_both_certificates_are_for_signing(self) -> None:
        root: Any = etree.fromstring(metadata.identity_provider(provider_metadata()))

        found = root.xpath("//md:KeyDescriptor[@use='signing']//ds:X509Certificate/text()", namespaces=NAMESPACES)
        assert [certificates.normalized(one) for one in found] == [
            PAIR.certificate_pem,
            key_pair("previous").certificate_pem,
        ]


class TestServiceProvider:
    """The metadata of a service provider."""

    def test_its_addresses_and_its_format_are_read(self) -> None:
        assert read(SP.metadata(inside=SP.key_descriptor())) == {
            "entity_id": SP.entity_id,
            "acs_url": SP.acs_url,
            "slo_url": SP.slo_url,
            "slo_binding": "post",
            "name_id_format": EMAIL_FORMAT,
        }

    def test_its_certificate_is_read_when_it_signs_its_requests(self) -> None:
        found = read(SP.metadata(inside=SP.key_descriptor(), AuthnRequestsSigned="true"))

        assert found["sp_certificate"] == SP.key.certificate_pem

    def test_the_default_endpoint_wins_and_logout_prefers_the_redirect(self) -> None:
        inside = (
            endpoint("SingleLogoutService", "redirect", binding=REDIRECT)
            + endpoint("AssertionConsumerService", "soap", binding="urn:soap", rest='isDefault="true" index="1"')
            + endpoint("AssertionConsumerService", "second", rest='isDefault="true" index="2"')
        )

        found = read(SP.metadata(inside=inside))

        assert (found["acs_url"], found["slo_url"], found["slo_binding"]) == (
            "https://sp.example/second",
            "https://sp.example/redirect",
            "redirect",
        )

    def test_metadata_that_wrap_one_entity_are_read(self) -> None:
        wrapped = f"<md:EntitiesDescriptor {DECLARED}>{SP.metadata()}</md:EntitiesDescriptor>"

        assert read(wrapped)["entity_id"] == SP.entity_id

    @pytest.mark.parametrize(
        ("document", "problem"),
        [
            ("", "well-formed"),
            ('<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', "document type"),
            (
                f"<md:EntitiesDescriptor {DECLARED}>{SP.metadata()}{SP.metadata()}</md:EntitiesDescriptor>",
                "more than one service provider",
            ),
            (SP.metadata().replace("SPSSODescriptor", "IDPSSODescriptor"), "no SPSSODescriptor"),
            (SP.metadata().replace("AssertionConsumerService", "ArtifactResolutionService"), "AssertionConsumer"),
            (SP.metadata().replace("entityID", "ID"), "entityID"),
            (SP.metadata(AuthnRequestsSigned="true"), "no certificate"),
            (SP.metadata(inside=SP.key_descriptor().replace("MII", "AAA"), AuthnRequestsSigned="true"), "no X.509"),
        ],
        ids=range(8),
    )
    def test_metadata_of_nothing_usable_are_refused(self, document: str, problem: str) -> None:
        with pytest.raises(Unreadable, match=problem):
            read(document)


class TestCertificates:
    """Certificates that are made, and those that are given."""

    def test_a_new_certificate_is_for_its_key_and_three_years(self) -> None:
        made = certificates.make_certificate("shop by SAML" * 10, valid_from=NOW)

        certificate = x509.load_pem_x509_certificate(made.certificate_pem.encode())
        private = load_pem_private_key(made.private_pem.reveal().encode(), password=None)
        assert isinstance(private, rsa.RSAPrivateKey)
        assert certificate.public_key() == private.public_key()
        assert private.key_size == 2048
        assert (certificate.not_valid_before_utc, certificate.not_valid_after_utc) == (
            NOW,
            NOW + timedelta(days=1095),
        )

    @pytest.mark.long
    def test_serial_numbers_are_random(self) -> None:
        made = [certificates.make_certificate("a", valid_from=NOW) for _ in range(2)]

        serials = {x509.load_pem_x509_certificate(one.certificate_pem.encode()).serial_number for one in made}
        assert len(serials) == 2
        assert min(serials) > 2**64

    @pytest.mark.parametrize(
        "change",
        [
            lambda pem: pem,
            lambda pem: "".join(pem.splitlines()[1:-1]),
            lambda pem: pem.replace("\n", "\r\n") + "\n\n",
        ],
        ids=["PEM", "base64 alone", "other ends of lines"],
    )
    def test_a_certificate_is_read_in_its_usual_forms(self, change: Callable[[str], str]) -> None:
        assert certificates.normalized(change(PAIR.certificate_pem)) == PAIR.certificate_pem

    @pytest.mark.parametrize("given", ["", "no certificate", "AAAA", "A" * 20_000, PAIR.private_pem, "é"])
    def test_what_is_no_certificate_is_refused(self, given: str) -> None:
        with pytest.raises(Unreadable, match="no X"):
            certificates.normalized(given)

    def test_a_short_key_is_refused(self) -> None:
        with pytest.raises(Unreadable, match="2048"):
            certificates.normalized(key_pair("short", 1024).certificate_pem)

    def test_a_key_of_an_elliptic_curve_is_refused(self) -> None:
        private = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(x509.Name([]))
            .public_key(private.public_key())
            .serial_number(1)
            .not_valid_before(NOW)
            .not_valid_after(NOW + timedelta(days=1))
            .sign(private, hashes.SHA256())
        )

        with pytest.raises(Unreadable, match="RSA"):
            certificates.normalized(certificate.public_bytes(Encoding.PEM).decode())
