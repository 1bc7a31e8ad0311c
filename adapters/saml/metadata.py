"""Metadata: writing the identity provider's as XML, and reading a service provider's."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from lxml import etree
from lxml.etree import QName, SubElement

from adapters.saml import certificates, documents
from adapters.saml.documents import METADATA, PROTOCOL, SIGNATURE, Unreadable
from core.saml.configuration import LogoutBinding
from core.saml.messages import NameIdFormat, SamlBinding
from core.wording import Wording

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - the class of every element

    from core.saml.identity_providers import ProviderMetadata

METADATA_BYTES_MAX: Final = 1024 * 1024
METADATA_ELEMENTS_MAX: Final = 20_000
CACHED_FOR: Final = "P1D"
# The formats that the identity provider offers, by their names in metadata.
_ENTITY: Final = f"{{{METADATA}}}EntityDescriptor"
_RANKS: Final = {"true": 0, "1": 0, "false": 2, "0": 2}
_FORMATS: Final = {one.value: one for one in NameIdFormat}


def identity_provider(content: ProviderMetadata) -> bytes:
    """Return the metadata of the identity provider, its elements in the order that the OASIS schema prescribes."""
    root = etree.Element(QName(METADATA, "EntityDescriptor"), nsmap={"md": METADATA, "ds": SIGNATURE})
    root.set("entityID", content.entity_id)
    # After a change of the certificate, readers must come back within its overlap.
    root.set("cacheDuration", CACHED_FOR)
    role = SubElement(
        root,
        QName(METADATA, "IDPSSODescriptor"),
        WantAuthnRequestsSigned="false",
        protocolSupportEnumeration=PROTOCOL,
    )
    add_keys(role, "signing", content.certificates)
    for binding in SamlBinding:
        SubElement(role, QName(METADATA, "SingleLogoutService"), Binding=binding, Location=content.slo_url)
    SubElement(role, QName(METADATA, "NameIDFormat")).text = content.name_id_format
    for binding in SamlBinding:
        SubElement(role, QName(METADATA, "SingleSignOnService"), Binding=binding, Location=content.sso_url)
    return etree.tostring(root, xml_declaration=True, encoding="utf-8")


def add_keys(role: Element, use: str, pems: Sequence[str]) -> None:
    """Add a KeyDescriptor for each certificate."""
    for pem in pems:
        info = SubElement(SubElement(role, QName(METADATA, "KeyDescriptor"), use=use), QName(SIGNATURE, "KeyInfo"))
        certificate = SubElement(SubElement(info, QName(SIGNATURE, "X509Data")), QName(SIGNATURE, "X509Certificate"))
        certificate.text = certificates.base64_of(pem)


def service_provider(given: bytes, *, at: datetime) -> dict[str, Any]:
    """Return the fields of a configuration that the metadata of a service provider set; raise `Unreadable`.

    The text is what an administrator has chosen to send, so its signature, if it has one, is not verified.
    """
    entity, role, valid_until = only_role(given, "SPSSODescriptor", "service provider")
    if valid_until is not None and valid_until <= at:
        raise Unreadable(expired(valid_until))
    acs_url = location(role, "AssertionConsumerService", SamlBinding.POST)
    entity_id = documents.attribute(entity, "entityID")
    if entity_id is None or acs_url is None:
        raise Unreadable("These metadata name no entityID, or no AssertionConsumerService with the POST binding.")
    found: dict[str, Any] = {
        "entity_id": entity_id,
        "acs_url": acs_url,
        **_logout(role),
        "name_id_format": _name_id_format(role),
        "sp_certificate": _certificate(role),
    }
    return {name: value for name, value in found.items() if value is not None}


def only_role(given: bytes, name: str, party: str) -> tuple[Element, Element, datetime | None]:
    """Return the one entity of metadata that has a role in SAML 2.0, that role, and when both end; None for no end.

    Metadata of several entities (EntitiesDescriptor, which may be nested) are read if one of them has the role.
    """
    root = documents.parse_metadata(given, METADATA_BYTES_MAX, METADATA_ELEMENTS_MAX)
    if root.tag not in {_ENTITY, f"{{{METADATA}}}EntitiesDescriptor"}:
        raise Unreadable("These are no metadata of SAML: they are neither an EntityDescriptor nor EntitiesDescriptor.")
    found = [role for entity in root.iter(_ENTITY) for role in entity.findall(f"{{{METADATA}}}{name}")]
    found = [role for role in found if PROTOCOL in role.get("protocolSupportEnumeration", PROTOCOL).split()]
    if not found:
        raise Unreadable(
            Wording("These metadata describe no %(party)s of SAML 2.0: they have no %(name)s.", party=party, name=name)
        )
    if len(found) > 1:
        raise Unreadable(
            Wording("These metadata describe more than one %(party)s. Send those of one alone.", party=party)
        )
    [role] = found
    entity = role.getparent()
    assert entity is not None, "a role stands in no entity"
    # Whatever stands around it limits it as well (saml-metadata-2.0, 2.3.1).
    ends = [documents.moment(one, "validUntil") for one in (role, *role.iterancestors())]
    return entity, role, min((end for end in ends if end is not None), default=None)


def expired(valid_until: datetime) -> str:
    """Return what to do with metadata that have ended."""
    return Wording(
        "These metadata have expired on %(date)s (validUntil). Export them again where they"
        " come from, and set the new ones.",
        date=valid_until.date(),
    )


def _logout(role: Element) -> dict[str, Any]:
    """Return where and how messages about logouts are taken, by redirect if there is a choice."""
    for binding in LogoutBinding:
        slo_url = location(role, "SingleLogoutService", binding.binding)
        if slo_url is not None:
            return {"slo_url": slo_url, "slo_binding": binding}
    return {}


def location(role: Element, name: str, binding: SamlBinding) -> str | None:
    """Return the address of an endpoint with this binding, the default one if there are several."""
    endpoints = [one for one in role.findall(f"{{{METADATA}}}{name}") if one.get("Binding") == binding]
    # The first one that is marked, else the first one that is not marked as no default (saml-metadata-2.0, 2.2.3).
    endpoints.sort(key=lambda one: _RANKS.get(one.get("isDefault", ""), 1))
    return documents.attribute(endpoints[0], "Location") if endpoints else None


def _name_id_format(role: Element) -> str | None:
    for element in role.findall(f"{{{METADATA}}}NameIDFormat"):
        if (element.text or "").strip() in _FORMATS:
            return (element.text or "").strip()
    return None


def _certificate(role: Element) -> str | None:
    """Return the certificate with which the service provider signs; None when it signs nothing that is checked.

    A service provider may publish one without signing its requests; then requiring signatures would lock it out.
    """
    if not documents.flag(role, "AuthnRequestsSigned"):
        return None
    for descriptor in role.findall(f"{{{METADATA}}}KeyDescriptor"):
        if descriptor.get("use", "signing") == "signing":
            element = descriptor.find(f".//{{{SIGNATURE}}}X509Certificate")
            if element is not None:
                return certificates.normalized(element.text or "")
    raise Unreadable("These metadata announce signed requests, but contain no certificate for signing.")
