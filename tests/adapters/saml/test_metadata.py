"""Metadata of both sides, and the certificates in them."""

from __future__ import annotations

import base64
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from lxml import etree

from adapters.saml import certificates, metadata, upstream
from adapters.saml.documents import Unreadable
from adapters.saml.metadata import METADATA_BYTES_MAX
from tests.adapters.saml.messages import IDP, NOW, PAIR, provider_metadata
from tests.identity_provider import IdentityProvider
from tests.service_provider import DECLARED, EMAIL_FORMAT, NAMESPACES, POST, ServiceProvider, key_pair

PROVIDER = IdentityProvider(now=lambda: NOW)
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


class TestWritten:
    """Metadata as people write them."""

    def test_comments_and_processing_instructions_are_left_out_wherever_they_stand(self) -> None:
        document = SP.metadata(inside=SP.key_descriptor(), AuthnRequestsSigned="true")
        commented = document.replace("</ds:X509Certificate>", "<!-- of 2026 --></ds:X509Certificate>").replace(
            "><", "><?a b?><!-- c --><"
        )

        found = read(f'\ufeff<?xml version="1.0" encoding="utf-16"?>\n<!-- example --><?x y?>{commented}<!-- end -->')

        assert found == read(document)

    @pytest.mark.parametrize(
        "document",
        [
            f'<!DOCTYPE a SYSTEM "http://a.example/a.dtd">{SP.metadata()}',
            f"<!-- <!DOCTYPE a> -->{SP.metadata()}",
            SP.metadata().replace("</md:NameIDFormat>", "&a;</md:NameIDFormat>"),
            "<md:a " + DECLARED + ">" + "<md:a>" * 50 + "</md:a>" * 50 + "</md:a>",
            SP.metadata() + " " * METADATA_BYTES_MAX,
        ],
        ids=["a DTD", "a DTD in a comment", "an entity", "too deep", "too large"],
    )
    def test_what_no_metadata_need_is_refused(self, document: str) -> None:
        with pytest.raises(Unreadable):
            read(document)

    def test_one_of_several_entities_is_read_if_it_alone_has_the_role(self) -> None:
        idp = metadata.identity_provider(provider_metadata()).decode().partition("?>")[2]
        inner = f"<md:EntitiesDescriptor>{SP.metadata()}</md:EntitiesDescriptor>"

        both = f"<md:EntitiesDescriptor {DECLARED}>{idp}{inner}</md:EntitiesDescriptor>"

        assert read(both)["entity_id"] == SP.entity_id
        assert upstream.read_metadata(both.encode()).entity_id == IDP
        with pytest.raises(Unreadable, match="more than one identity provider"):
            upstream.read_metadata(both.replace(idp, idp * 2).encode())

    def test_a_role_of_another_protocol_does_not_count(self) -> None:
        old = 'protocolSupportEnumeration="urn:oasis:names:tc:SAML:1.1:protocol"'
        document = SP.metadata().replace(f'protocolSupportEnumeration="{NAMESPACES["samlp"]}"', old)

        with pytest.raises(Unreadable, match=r"no service provider of SAML 2\.0"):
            read(document)

    def test_the_earliest_end_of_all_that_stands_around_a_role_counts(self) -> None:
        def ends(*, group: str = "", entity: str = "", role: str = "") -> datetime | None:
            given = [f' validUntil="{end}"' if end else "" for end in (group, entity, role)]
            document = PROVIDER.metadata().replace(" entityID", f"{given[1]} entityID")
            document = document.replace("<md:IDPSSODescriptor", f"<md:IDPSSODescriptor{given[2]}")
            wrapped = f"<md:EntitiesDescriptor {DECLARED}{given[0]}>{document}</md:EntitiesDescriptor>"
            return upstream.read_metadata(wrapped.encode()).valid_until

        early, late = "2027-01-01T00:00:00Z", "2028-01-01T00:00:00.000+01:00"
        earliest = datetime(2027, 1, 1, tzinfo=UTC)
        assert ends() is None
        assert ends(group=early) == ends(entity=early, role=late) == ends(group=late, role=early) == earliest
        with pytest.raises(Unreadable, match="validUntil"):
            ends(entity="never")

    def test_those_of_a_service_provider_end_too(self) -> None:
        document = SP.metadata().replace(" entityID", ' validUntil="2020-01-01T00:00:00Z" entityID')

        with pytest.raises(Unreadable, match="have expired on 2020-01-01"):
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

    def test_a_key_of_an_unknown_type_is_refused(self) -> None:
        rsa_type = bytes.fromhex("2a864886f70d010101")
        der = x509.load_pem_x509_certificate(PAIR.certificate_pem.encode()).public_bytes(Encoding.DER)
        unknown = der.replace(rsa_type, rsa_type[:-1] + b"\x7f")

        with pytest.raises(Unreadable, match="RSA"):
            certificates.normalized(base64.b64encode(unknown).decode())

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
