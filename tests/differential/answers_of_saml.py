"""Signed answers of a SAML identity provider, and what attackers make of them (signature wrapping and others)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from hypothesis import strategies as st

from tests.differential.opinions import mutated
from tests.identity_provider import Asked, IdentityProvider
from tests.service_provider import DECLARED, NAMESPACES, key_pair, sign

KEY: Final = key_pair("idp")
OTHER_KEY: Final = key_pair("stranger")
ASKED: Final = Asked("_request", "https://sp.example/metadata", "https://sp.example/acs", "")
EVIL: Final = "root@acme.example"

_TEXTS: Final = st.sampled_from(
    [
        *("ada@acme.example", "a&amp;b", "&lt;b&gt;", "&#65;da", "<![CDATA[a<b]]>", " ada ", "a\n b", "&#13;a", "ä€🔑"),
        *("a&#160;b", "ada@acme.example&#10;", "&quot;a&quot;", "e&#769;", "a&#9;b"),
    ]
)


def _provider(name_id: str, attributes: dict[str, str]) -> IdentityProvider:
    return IdentityProvider(now=lambda: datetime.now(UTC), key=KEY, name_id=name_id, attributes=attributes)


def _answer(name_id: str, attributes: dict[str, str], signs: str, session_index: str) -> bytes:
    provider = _provider(name_id, attributes)
    assertion = provider.assertion(ASKED, id="_a1")
    assertion = assertion.replace("<saml:AuthnStatement ", f'<saml:AuthnStatement SessionIndex="{session_index}" ')
    if signs in {"assertion", "both"}:
        assertion = sign(assertion, KEY)
    if signs == "other key":
        assertion = sign(assertion, OTHER_KEY)
    response = provider.response(ASKED, assertion)
    return (sign(response, KEY) if signs in {"response", "both"} else response).encode()


honest: Final = st.builds(
    _answer,
    _TEXTS,
    st.dictionaries(st.sampled_from(["email", "urn:oid:1.2", "a&amp;b"]), _TEXTS, max_size=2),
    st.sampled_from(["assertion", "assertion", "response", "both", "other key", "none"]),
    st.sampled_from(["s1", "", "a&#10;b"]),
)


def _assertion_in(answer: str) -> str:
    found = re.search(r"<saml:Assertion.*</saml:Assertion>", answer, re.DOTALL)
    return found[0] if found else ""


def _signature_in(answer: str) -> str:
    found = re.search(r"<ds:Signature .*?</ds:Signature>", answer, re.DOTALL)
    return found[0] if found else ""


def _forged(answer: str, *, id_: str = "_evil", keeps_signature: bool = False) -> str:
    """Return an assertion about another user, with the signature of the right one or with none."""
    forged = re.sub(
        r"(<saml:NameID[^>]*>).*?(</saml:NameID>)", rf"\g<1>{EVIL}\2", _assertion_in(answer), flags=re.DOTALL
    )
    forged = forged.replace('ID="_a1"', f'ID="{id_}"')
    return forged if keeps_signature else forged.replace(_signature_in(forged), "")


def _beside(answer: str, *, before: str = "", after: str = "") -> str:
    right = _assertion_in(answer)
    return answer.replace(right, before + right + after)


def _wrapped(answer: str) -> str:
    """Return an answer without a signature, with a forged assertion, around one that is right."""
    return (
        f'<samlp:Response {DECLARED} ID="_outer" Version="2.0"><samlp:Status><samlp:StatusCode'
        f' Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>{_forged(answer)}'
        f"<samlp:Extensions>{answer}</samlp:Extensions></samlp:Response>"
    )


def _in_signature(answer: str) -> str:
    right = _assertion_in(answer)
    signature = _signature_in(right).replace("</ds:Signature>", f"<ds:Object>{right}</ds:Object></ds:Signature>")
    return answer.replace(right, _forged(answer).replace("</saml:Issuer>", f"</saml:Issuer>{signature}", 1))


def _in_forged(answer: str, *, id_: str) -> str:
    right = _assertion_in(answer)
    return answer.replace(right, _forged(answer, id_=id_).replace("</saml:Subject>", f"</saml:Subject>{right}", 1))


def _in_extensions(answer: str) -> str:
    right = _assertion_in(answer)
    elsewhere = f"<samlp:Extensions>{right}</samlp:Extensions><samlp:Status>"
    return answer.replace(right, _forged(answer)).replace("<samlp:Status>", elsewhere)


def _with(pattern: str, replacement: str) -> Callable[[str], str]:
    return lambda answer: re.sub(pattern, replacement, answer, flags=re.DOTALL)


_NAME_BEGINS: Final = r"(<saml:NameID[^>]*>)"
ATTACKS: Final[Mapping[str, Callable[[str], str]]] = {
    "forged before": lambda answer: _beside(answer, before=_forged(answer)),
    "forged after": lambda answer: _beside(answer, after=_forged(answer)),
    "forged before, with the signature": lambda answer: _beside(answer, before=_forged(answer, keeps_signature=True)),
    "forged before, with the same ID": lambda answer: _beside(answer, before=_forged(answer, id_="_a1")),
    "forged instead": lambda answer: answer.replace(_assertion_in(answer), _forged(answer, keeps_signature=True)),
    "right one in extensions": _in_extensions,
    "right one in the signature": _in_signature,
    "right one in the forged one": lambda answer: _in_forged(answer, id_="_evil"),
    "right one in the forged one, with the same ID": lambda answer: _in_forged(answer, id_="_a1"),
    "right answer in a forged one": _wrapped,
    "same ID around": _with('"_response"', '"_a1"'),
    "another ID beside": _with('ID="_a1"', 'ID="_a1" xml:id="_a1"'),
    "comment in the name": _with(f"{_NAME_BEGINS}(.)", r"\1\2<!-- x -->"),
    "instruction in the name": _with(f"{_NAME_BEGINS}(.)", r"\1\2<?x y?>"),
    "element in the name": _with(_NAME_BEGINS, rf"\1<x>{EVIL}</x>"),
    "CDATA in the name": _with(rf"{_NAME_BEGINS}(\w+)", r"\1<![CDATA[\2]]>"),
    "entity in the name": lambda answer: (
        f'<!DOCTYPE x [<!ENTITY e "{EVIL}">]>' + re.sub(rf"{_NAME_BEGINS}[^<]*", r"\1&e;", answer)
    ),
    "second name": _with("<saml:NameID", f"<saml:NameID>{EVIL}</saml:NameID><saml:NameID"),
    "prefix means another namespace": _with("<saml:NameID", '<saml:NameID xmlns:saml="urn:other"'),
    "other prefix": lambda answer: answer.replace("saml:NameID", "s:NameID").replace(
        "<s:NameID", f'<s:NameID xmlns:s="{NAMESPACES["saml"]}"'
    ),
    "unused namespace": _with("<saml:Subject>", '<saml:Subject xmlns:unused="urn:unused">'),
    "attributes in another order": _with(r'(ID="_a1") (Version="2.0")', r"\2  \1"),
    "empty reference": _with('URI="#_a1"', 'URI=""'),
    "no transforms": _with("<ds:Transforms>.*?</ds:Transforms>", ""),
    "declared as Latin-1": lambda answer: f'<?xml version="1.0" encoding="ISO-8859-1"?>{answer}',
    "comments around": lambda answer: f"<!-- x -->{answer}<!-- y -->",
}


def attacked_by(answer: bytes, attack: str) -> bytes:
    """Return what an attack makes of an answer."""
    return ATTACKS[attack](answer.decode()).encode()


HONEST: Final = _answer("ada@acme.example", {"email": "ada@acme.example"}, "assertion", "s1")
attacked: Final = st.builds(attacked_by, honest, st.sampled_from(sorted(ATTACKS)))
answers: Final = mutated(honest) | attacked | attacked | mutated(attacked)
