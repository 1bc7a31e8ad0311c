"""What is accepted of a service provider's request, beside a second reading of its signed bytes."""

from __future__ import annotations

import base64
import re
from datetime import datetime
from typing import Any, Final
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from adapters.saml import received
from adapters.saml.documents import ASSERTION, PROTOCOL, SIGNATURE, Unreadable
from core.saml.messages import AuthnRequest, EncodedMessage, SamlBinding
from tests.differential import signed_xml
from tests.differential.opinions import Case, Difference, many_examples, mutated, require_agreement, require_real
from tests.differential.signed_xml import has_other_namespace
from tests.service_provider import DECLARED, key_pair, sign

KEY: Final = key_pair("sp")
OTHER_KEY: Final = key_pair("stranger")

_TEXTS: Final = st.sampled_from(
    ["https://sp.example/metadata", "a&amp;b", " a ", "&#13;ä", "a<!-- x -->b", "", "<x/>a"]
)
_ATTRIBUTES: Final = st.lists(
    st.sampled_from(
        [
            *('ForceAuthn="true"', 'ForceAuthn="1"', 'ForceAuthn="yes"', 'IsPassive="true"', 'IsPassive=" 0 "'),
            *('AssertionConsumerServiceURL="https://sp.example/acs?a=b&amp;c"', 'AssertionConsumerServiceURL=""'),
            *('Destination="https://id.example/sso"', 'Destination=""', 'ProtocolBinding="urn:x"'),
        ]
    ),
    unique_by=lambda one: one.partition("=")[0],
    max_size=3,
)
_PARTS: Final = st.lists(
    st.sampled_from(
        [
            '<samlp:NameIDPolicy Format="urn:f" AllowCreate="true"/>',
            '<samlp:NameIDPolicy SPNameQualifier="urn:q"/>',
            "<saml:Subject><saml:NameID>ada@acme.example</saml:NameID></saml:Subject>",
            '<samlp:RequestedAuthnContext Comparison="minimum"><saml:AuthnContextClassRef>urn:a'
            "</saml:AuthnContextClassRef><saml:AuthnContextClassRef> urn:b </saml:AuthnContextClassRef>"
            "</samlp:RequestedAuthnContext>",
            "<samlp:Extensions><x:y xmlns:x='urn:x' ID='_x'/></samlp:Extensions>",
        ]
    ),
    unique=True,
    max_size=3,
)


def _request(issuer: str, issued: str, attributes: list[str], parts: list[str], signed_by: str) -> bytes:
    message = (
        f'<samlp:AuthnRequest {DECLARED} ID="_r" Version="2.0" IssueInstant="{issued}" {" ".join(attributes)}>'
        f"<saml:Issuer>{issuer}</saml:Issuer>{''.join(parts)}</samlp:AuthnRequest>"
    )
    keys = {"own key": KEY, "other key": OTHER_KEY}
    return (sign(message, keys[signed_by]) if signed_by in keys else message).encode()


honest: Final = st.builds(
    _request,
    st.just("https://sp.example/metadata") | _TEXTS,
    st.sampled_from(["2026-11-21T12:00:00Z"] * 4 + ["2026-11-21T12:00:00.123456789+01:00", "2026-11-21", "now"]),
    _ATTRIBUTES,
    _PARTS,
    st.sampled_from(["own key", "own key", "own key", "other key", "none"]),
)
requests: Final = honest | mutated(honest)


def read_by_us(message: bytes) -> Any:
    """Return what a request asks for; None when it is refused."""
    posted = EncodedMessage(binding=SamlBinding.POST, value=base64.b64encode(message).decode())
    try:
        found = received.read(posted, KEY.certificate_pem)
    except Unreadable:
        return None
    if not isinstance(found, AuthnRequest):
        return None
    return {
        "id": found.id,
        "issuer": found.issuer,
        "destination": found.destination,
        "acs": found.acs_url,
        "format": (found.name_id_format, found.name_qualifier),
        "subject": found.subject,
        "flags": (found.force_authn, found.is_passive),
        "classes": (list(found.context_classes), found.comparison),
        "is signed": found.is_signed,
    }


def read_again(message: bytes) -> Any:
    """Return the same by the second reading."""
    root = signed_xml.parsed(message)
    if root is None or (root.namespaceURI, root.localName) != (PROTOCOL, "AuthnRequest"):
        return None
    has_signature = bool(root.getElementsByTagNameNS(SIGNATURE, "Signature"))
    taken = signed_xml.signed_bytes(root, KEY.private.public_key()) if has_signature else signed_xml.canonical(root)
    return None if taken is None else _asked(signed_xml.tree(taken), is_signed=has_signature)


def _asked(root: ElementTree.Element, *, is_signed: bool) -> Any:
    names = {"policy": (PROTOCOL, "NameIDPolicy"), "context": (PROTOCOL, "RequestedAuthnContext")}
    names |= {"issuer": (ASSERTION, "Issuer"), "subject": (ASSERTION, "Subject")}
    found = {key: root.findall(f"{{{space}}}{name}") for key, (space, name) in names.items()}
    if len(found["issuer"]) != 1 or any(len(one) > 1 for one in found.values()) or root.get("Version") != "2.0":
        return None
    flags = tuple(_FLAGS.get(root.get(name, "false").strip()) for name in ("ForceAuthn", "IsPassive"))
    subjects = [name for one in found["subject"] for name in one.findall(f"{{{ASSERTION}}}NameID")]
    classes = [name for one in found["context"] for name in one.findall(f"{{{ASSERTION}}}AuthnContextClassRef")]
    texts = [*found["issuer"], *subjects, *classes]
    is_wrong = len(subjects) > 1 or any(len(one) or not (one.text or "").strip() for one in texts)
    if is_wrong or None in flags or not _is_time(root.get("IssueInstant", "")):
        return None
    policy = found["policy"][0] if found["policy"] else ElementTree.Element("none")
    return {
        "id": root.get("ID"),
        "issuer": (found["issuer"][0].text or "").strip(),
        "destination": root.get("Destination") or None,
        "acs": root.get("AssertionConsumerServiceURL"),
        "format": (policy.get("Format"), policy.get("SPNameQualifier")),
        "subject": (subjects[0].text or "").strip() if subjects else None,
        "flags": flags,
        "classes": (
            [(one.text or "").strip() for one in classes],
            found["context"][0].get("Comparison", "exact") if found["context"] else "exact",
        ),
        "is signed": is_signed,
    }


_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}


def _is_time(written: str) -> bool:
    if not re.fullmatch(r"(?a)\s*\d{4}(-\d\d){2}T\d\d(:\d\d){2}(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?\s*", written):
        return False
    try:
        datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", written.strip()))
    except ValueError:
        return False
    return True


def _count(pattern: bytes, case: Case) -> int:
    return len(re.findall(pattern, case.given))


_HONEST: Final = _request("https://sp.example/metadata", "2026-11-21T12:00:00Z", [], [], "own key")
DIFFERENCES: Final = (
    Difference(
        "No comment and no instruction stands in a message: a reader that stops there takes half of a name.",
        lambda case: case.is_stricter and _count(rb"<!--|<\?(?!xml )", case),
        _HONEST.replace(b"sp.example/metadata", b"sp.example<!-- x -->/metadata"),
    ),
    Difference(
        "A request has one signature, that of the whole; every other one is refused, also beside the right one.",
        lambda case: case.is_stricter and _count(rb"<(\w+:)?Signature[\s/>]", case) > 1,
        _HONEST.replace(b"</ds:Signature>", b"<ds:Object><ds:Signature/></ds:Object></ds:Signature>"),
    ),
    Difference(
        "A request has an ID, written as one, and no other element has the same under any name.",
        lambda case: case.is_stricter and (case.theirs["id"] != "_r" or _count(rb'(?i)id="_r"', case) > 1),
        _request("https://sp.example/metadata", "2026-11-21T12:00:00Z", [], ['<x id="_r"/>'], "own key"),
    ),
    Difference(
        "Messages are in UTF-8, whatever they say, and namespaces are named by addresses.",
        lambda case: case.is_stricter and (_count(rb"^<\?xml|^[^<]", case) or has_other_namespace(case.given)),
        _HONEST.decode().encode("utf-16"),
    ),
)


def _read(message: bytes) -> Case:
    return Case(message, read_by_us(message), read_again(message))


@many_examples
@given(message=requests)
def test_of_a_request_is_taken_what_was_signed(message: bytes) -> None:
    require_agreement(_read(message), DIFFERENCES)


def test_every_difference_that_is_named_is_there() -> None:
    require_real(DIFFERENCES, _read)
