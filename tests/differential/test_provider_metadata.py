"""Strangers' SAML metadata and OpenID Connect documents, beside readings by expat and by msgspec."""

from __future__ import annotations

import base64
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st

from adapters.crypto.json_web_signatures import KEYS_REMEMBERED_MAX, MEMBER_CHARACTERS_MAX, remembered_keys
from adapters.gateways.upstream_connections import _decoded
from adapters.saml import upstream
from adapters.saml.documents import METADATA, PROTOCOL, SIGNATURE, Unreadable
from core.sign_in.upstream import discovery
from core.sign_in.upstream.provider_answers import UpstreamFailed
from tests.differential import jws_reader
from tests.differential.opinions import Case, Difference, many_examples, mutated, require_agreement, require_real
from tests.service_provider import DECLARED, NAMESPACES, POST, key_pair

PUBLISHED: Final = Path(__file__).parent.parent / "saml_metadata"
REDIRECT: Final = POST.replace("POST", "Redirect")
KEYS: Final = ["".join(key_pair(name).certificate_pem.splitlines()[1:-1]) for name in ("idp", "previous")]

_URLS: Final = st.sampled_from(
    ["https://idp.example/a", "https://idp.example/b?c=d&amp;e", "", "https://ä.example/", " https://c/ "]
)
_ENDPOINTS: Final = st.builds(
    '<md:{} Binding="{}" Location="{}" {}/>'.format,
    st.sampled_from(["SingleSignOnService"] * 3 + ["SingleLogoutService", "ArtifactResolutionService"]),
    st.sampled_from([POST, REDIRECT, REDIRECT, "urn:other"]),
    _URLS,
    st.sampled_from(["", "", 'isDefault="true"', 'isDefault="0"', 'ResponseLocation="https://idp.example/r"']),
)
_CERTIFICATES: Final = st.sampled_from(
    [*KEYS, f"\n{KEYS[0][:64]}\n  {KEYS[0][64:]}\n", f"{KEYS[0][:9]}<!-- x -->{KEYS[0][9:]}", KEYS[0][:-8], "AAAA", ""]
)
_KEY_DESCRIPTORS: Final = st.builds(
    "<md:KeyDescriptor {}><ds:KeyInfo><ds:X509Data><ds:X509Certificate>{}</ds:X509Certificate></ds:X509Data>"
    "</ds:KeyInfo></md:KeyDescriptor>".format,
    st.sampled_from(['use="signing"', 'use="signing"', "", 'use="encryption"', 'use=""']),
    _CERTIFICATES,
)
_ROLES: Final = st.builds(
    "<md:{} protocolSupportEnumeration='{}' {}>{}{}</md:{}>".format,
    st.just("IDPSSODescriptor"),
    st.sampled_from(
        [NAMESPACES["samlp"]] * 4 + ["urn:oasis:names:tc:SAML:1.1:protocol", f"urn:x {NAMESPACES['samlp']}"]
    ),
    st.sampled_from(
        ["", "WantAuthnRequestsSigned='true'", "WantAuthnRequestsSigned='1'", "WantAuthnRequestsSigned='no'"]
    ),
    st.lists(_KEY_DESCRIPTORS, min_size=1, max_size=3).map("".join),
    st.lists(_ENDPOINTS, min_size=1, max_size=3).map("".join),
    st.just("IDPSSODescriptor"),
)
_ENTITIES: Final = st.builds(
    '<md:EntityDescriptor {} entityID="{}">{}</md:EntityDescriptor>'.format,
    st.just(DECLARED),
    st.sampled_from(["https://idp.example/saml", "urn:x", "", "https://idp.example/{tenant}"]),
    st.lists(_ROLES, min_size=1, max_size=2).map("".join) | _ROLES | _ROLES,
)
_DOCUMENTS: Final = (
    _ENTITIES
    | _ENTITIES
    | st.builds(
        "<?xml version='1.0'?><!-- x --><md:EntitiesDescriptor {}>{}</md:EntitiesDescriptor>".format,
        st.just(DECLARED),
        st.lists(_ENTITIES, max_size=2).map("".join),
    )
)
_FILES: Final = st.sampled_from(["okta.xml", "simplesamlphp-idp.xml", "shibboleth.xml"]).map(
    lambda name: (PUBLISHED / name).read_bytes()
)
metadata: Final = mutated(_DOCUMENTS.map(str.encode)) | _DOCUMENTS.map(str.encode) | mutated(_FILES)


def read_by_us(given: bytes) -> Any:
    """Return what the metadata of an identity provider say; None when they are refused."""
    try:
        found = upstream.read_metadata(given)
    except Unreadable:
        return None
    logout = found.logout
    return {
        "entity": found.entity_id,
        "sso": (found.sso_url, found.takes_posts_alone),
        "certificates": found.certificates,
        "signed": found.wants_signed_requests,
        "logout": (logout.url, logout.response_url, logout.is_post) if logout is not None else None,
    }


def read_again(given: bytes) -> Any:
    """Return the same by expat."""
    try:
        root = ElementTree.fromstring(given)  # noqa: S314 - the test has made it
    except (ElementTree.ParseError, ValueError, LookupError):
        return None
    entities = [root] if root.tag == f"{{{METADATA}}}EntityDescriptor" else root.iter(f"{{{METADATA}}}EntityDescriptor")
    found = [
        (entity, role)
        for entity in entities
        for role in entity.findall(f"{{{METADATA}}}IDPSSODescriptor")
        if PROTOCOL in role.get("protocolSupportEnumeration", PROTOCOL).split()
    ]
    if len(found) != 1:
        return None
    [(entity, role)] = found
    certificates = dict.fromkeys(filter(None, map(_certificate, _keys(role))))
    redirected, posted = (_location(role, binding) for binding in (REDIRECT, POST))
    signed = {"true": True, "1": True, "false": False, "0": False}.get(role.get("WantAuthnRequestsSigned", "0").strip())
    if not entity.get("entityID") or not (redirected or posted) or not certificates or signed is None:
        return None
    return {
        "entity": entity.get("entityID"),
        "sso": (redirected or posted, not redirected),
        "certificates": tuple(certificates),
        "signed": signed,
        "logout": _logout(role),
    }


def _keys(role: ElementTree.Element) -> list[str]:
    descriptors = role.findall(f"{{{METADATA}}}KeyDescriptor")
    usable = [one for one in descriptors if one.get("use", "signing") == "signing"]
    return ["".join(one.itertext()) for key in usable for one in key.iter(f"{{{SIGNATURE}}}X509Certificate")]


def _certificate(written: str) -> str | None:
    try:
        found = x509.load_der_x509_certificate(base64.b64decode(re.sub(r"(?a)\s+", "", written), validate=True))
        key = found.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return None
    return (
        found.public_bytes(Encoding.PEM).decode()
        if isinstance(key, rsa.RSAPublicKey) and key.key_size >= 2048
        else None
    )


def _location(role: ElementTree.Element, binding: str) -> str | None:
    endpoints = [one for one in role.findall(f"{{{METADATA}}}SingleSignOnService") if one.get("Binding") == binding]
    marked = [one for one in endpoints if one.get("isDefault") in {"true", "1"}]
    unmarked = [one for one in endpoints if one.get("isDefault") not in {"false", "0"}]
    preferred = [*marked, *unmarked, *endpoints]
    return preferred[0].get("Location") if preferred else None


def _logout(role: ElementTree.Element) -> tuple[str, str, bool] | None:
    services = role.findall(f"{{{METADATA}}}SingleLogoutService")
    for binding in (REDIRECT, POST):
        for one in services:
            if one.get("Binding") == binding and one.get("Location"):
                url = one.get("Location", "")
                return url, one.get("ResponseLocation") or url, binding == POST
    return None


def _is_time(written: bytes) -> bool:
    # Python also reads other letters between the day and the hour.
    if not re.fullmatch(rb"\s*[\d-]+T[\d:.]+(Z|[+-][\d:]+)?\s*", written):
        return False
    try:
        datetime.fromisoformat(written.decode().strip())
    except ValueError:
        return False
    return True


_METADATA: Final = (
    f"<md:EntityDescriptor {DECLARED} entityID='a'><md:IDPSSODescriptor><md:KeyDescriptor><ds:X509Certificate>{KEYS[0]}"
    f"</ds:X509Certificate></md:KeyDescriptor><md:SingleSignOnService Binding='{POST}' Location='https://a'/>"
    "</md:IDPSSODescriptor></md:EntityDescriptor>"
)
DIFFERENCES: Final = (
    Difference(
        "What has a document type definition is refused before it is parsed; expat reads what it defines.",
        lambda case: case.is_stricter and re.search(rb"<!DOCTYPE|<!ENTITY", case.given),
        f"<!DOCTYPE x>{_METADATA}".encode(),
    ),
    Difference(
        "A time that is none is refused: nothing says when such metadata end.",
        lambda case: case.is_stricter and not all(map(_is_time, re.findall(rb'validUntil="([^"]*)"', case.given))),
        _METADATA.replace("<md:IDPSSODescriptor", '<md:IDPSSODescriptor validUntil="soon"').encode(),
    ),
    Difference(
        "A namespace is named by an address; libxml2 refuses any other name.",
        lambda case: case.is_stricter and re.search(rb"""xmlns(:[\w.-]+)?=["'][^"']*[^\w:/.#"'-]""", case.given),
        _METADATA.replace("md:IDPSSODescriptor>", "md:IDPSSODescriptor xmlns:x='urn:[x'>", 1).encode(),
    ),
    Difference(
        "An entity id with a placeholder is that of no tenant, and the page says so.",
        lambda case: case.is_stricter and b"{" in case.given,
        _METADATA.replace("entityID='", "entityID='{tenant}").encode(),
    ),
)


@many_examples
@given(document=metadata)
def test_metadata_say_what_expat_reads_in_them(document: bytes) -> None:
    require_agreement(Case(document, read_by_us(document), read_again(document)), DIFFERENCES)


ISSUER: Final = "https://idp.example"
_JSON_VALUES: Final = st.sampled_from(
    [
        *(
            f'"{ISSUER}"',
            f'"{ISSUER}/x"',
            '"https://other.example/t"',
            '"http://idp.example/x"',
            '"https://a@b/"',
            '""',
        ),
        *(
            '"https://idp.example/\\u00e4"',
            '"https://idp.example/\\ud800"',
            '"https://[a/"',
            '"javascript:x"',
            "null",
            "1",
        ),
        *("true", "NaN", "1e999", "[]", '["client_secret_basic"]', '["a","a"]', "{}", '{"a":1,"a":2}', "9" * 400),
    ]
)
_JSON_NAMES: Final = st.sampled_from(
    [
        *("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "x", "Issuer"),
        *("token_endpoint_auth_methods_supported", "authorization_response_iss_parameter_supported"),
    ]
)
_RIGHT: Final = ",".join(
    f'"{name}":"{ISSUER}{path}"'
    for name, path in (("issuer", ""), ("authorization_endpoint", "/a"), ("token_endpoint", "/t"), ("jwks_uri", "/k"))
)
_PAIRS: Final = st.lists(st.builds('"{}":{}'.format, _JSON_NAMES, _JSON_VALUES), max_size=3).map(",".join)
_KEY_VALUES: Final = st.sampled_from(
    ['"RSA"', '"AQAB"', f'"{"A" * 2049}"', "1", "null", "true", "[]", '{"a":1}', "NaN"]
)
_KEY_OBJECTS: Final = st.builds(
    '{{"kty":"RSA","n":"AQAB"{}}}'.format,
    st.lists(
        st.builds(',"{}":{}'.format, st.sampled_from(["e", "kid", "alg", "use", "kty", "d", "x5c"]), _KEY_VALUES),
        max_size=3,
    ).map("".join),
)
discovery_documents: Final = mutated(
    st.builds(
        "{{{}{}}}".format, st.just(_RIGHT), st.one_of(st.just(""), _PAIRS.map(lambda pairs: f",{pairs}" * bool(pairs)))
    ).map(str.encode)
)
key_documents: Final = mutated(
    st.builds(
        '{{"keys":[{}]{}}}'.format,
        st.lists(_KEY_OBJECTS | _JSON_VALUES, max_size=3).map(",".join),
        st.sampled_from(["", ',"keys":[]', ',"x":NaN', ',"x":' + "[" * 200 + "]" * 200]),
    ).map(str.encode)
)
_URL_NAMES: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


def discovered_by_us(body: bytes) -> Any:
    """Return where a provider is asked, by its discovery document; None when that is refused."""
    try:
        found = discovery.read(ISSUER, _decoded(body))
    except UpstreamFailed:
        return None
    urls = (found.authorize_url, found.token_url, found.jwks_uri)
    return [*urls, found.userinfo_url, found.takes_basic, found.names_itself]


def discovered_again(body: bytes) -> Any:
    """Return the same by msgspec, with addresses read by a pattern."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("issuer") != ISSUER:
        return None
    urls = [_url(found.get(name)) for name in _URL_NAMES]
    methods = found.get("token_endpoint_auth_methods_supported")
    takes_basic = not isinstance(methods, list) or any(one == "client_secret_basic" for one in methods)
    names_itself = found.get("authorization_response_iss_parameter_supported") is True
    userinfo = _url(found.get("userinfo_endpoint"))
    return None if None in urls else [*urls, userinfo, takes_basic, names_itself]


def _url(value: Any) -> str | None:
    if not isinstance(value, str) or len(value) > discovery.URL_CHARACTERS_MAX or re.search(r"[^ -~]", value):
        return None
    return value if re.fullmatch(r"(?i:https)://[^/?#@\[\]:]+(:[^/?#@\[\]]*)?([/?][^#]*)?#?", value) else None


def keys_by_us(body: bytes) -> Any:
    """Return the keys of a key set that are remembered; None for no object."""
    found = _decoded(body)
    return remembered_keys(found.get("keys")) if isinstance(found, dict) else None


def keys_again(body: bytes) -> Any:
    """Return the same by msgspec."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    listed = found.get("keys") if isinstance(found, dict) else None
    if not isinstance(found, dict):
        return None
    keys = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    read = {"kty", "crv", "alg", "use", "kid", "n", "e", "x", "y"}
    parts = [{name: value for name, value in one.items() if name in read} for one in keys]
    texts = [
        one for one in parts if all(isinstance(it, str) and len(it) <= MEMBER_CHARACTERS_MAX for it in one.values())
    ]
    return texts[:KEYS_REMEMBERED_MAX]


def _is_loose(case: Case) -> bool:
    """Return whether Python reads the JSON, and a strict reader does not."""
    try:
        json.loads(case.given)
    except (ValueError, RecursionError):
        return False
    try:
        jws_reader.strict_json(case.given)
        msgspec.json.decode(case.given)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return True
    return False


LOOSE_JSON: Final = Difference(
    "Python also reads NaN, numbers beyond any float, half of a character, and other encodings. Only texts are taken of"
    " such documents, and each of them is checked.",
    lambda case: case.is_laxer and _is_loose(case),
    f'{{{_RIGHT},"x":NaN}}'.encode(),
)


@many_examples
@given(body=discovery_documents)
def test_a_discovery_document_says_what_msgspec_reads_in_it(body: bytes) -> None:
    require_agreement(Case(body, discovered_by_us(body), discovered_again(body)), [LOOSE_JSON])


@many_examples
@given(body=key_documents)
def test_of_a_key_set_is_remembered_what_msgspec_reads_in_it(body: bytes) -> None:
    require_agreement(Case(body, keys_by_us(body), keys_again(body)), [LOOSE_JSON])


def test_every_difference_that_is_named_is_there() -> None:
    require_real(DIFFERENCES, lambda document: Case(document, read_by_us(document), read_again(document)))
    require_real([LOOSE_JSON], lambda body: Case(body, discovered_by_us(body), discovered_again(body)))
