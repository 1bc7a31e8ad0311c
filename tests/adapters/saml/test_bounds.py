"""What a stranger's message may cost before its signature is checked: canonical XML takes quadratic time."""

from __future__ import annotations

import base64

import pytest

from adapters.saml import documents, signatures, upstream
from adapters.saml.documents import ATTRIBUTES_MAX, NAMESPACES_MAX, Unreadable
from core.sign_in.upstream.saml import SamlRecipient
from tests.clock import SettableClock
from tests.identity_provider import Asked, IdentityProvider

OURS = "https://login.example/metadata"
ASKED = Asked("_request", OURS, "https://login.example/acs", "state")
TRANSFORM = '<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>'


def declarations(count: int) -> str:
    """Return that many declarations of namespaces."""
    return " ".join(f'xmlns:p{number}="urn:{number}"' for number in range(count))


def test_an_element_and_those_around_it_declare_only_so_many_namespaces() -> None:
    most, half = declarations(NAMESPACES_MAX), declarations(NAMESPACES_MAX // 2)

    documents.parse(f"<a {most}><b/></a>".encode())
    # Declarations of sibling elements are not added up.
    documents.parse(f"<a {half}>{f'<b {half}/>' * 10}</a>".encode())
    for text in (f'<a {most} xmlns="urn:one-more"/>', f'<a {half}><b {half}><c xmlns="urn:one-more"/></b></a>'):
        with pytest.raises(Unreadable, match="too many namespaces"):
            documents.parse(text.encode())


def test_an_element_has_only_so_many_attributes() -> None:
    attributes = " ".join(f'a{number}=""' for number in range(ATTRIBUTES_MAX))

    documents.parse(f"<a {attributes}/>".encode())
    with pytest.raises(Unreadable, match="attributes"):
        documents.parse(f'<a {attributes} more=""/>'.encode())


def test_a_signature_names_only_so_many_prefixes() -> None:
    idp = IdentityProvider(now=SettableClock())
    answer = idp.answer(ASKED)
    assert TRANSFORM in answer

    for count, problem in (
        (signatures.PREFIXES_MAX, "does not fit the certificate"),
        (signatures.PREFIXES_MAX + 1, "too many prefixes"),
    ):
        listed = (
            f'{TRANSFORM[:-2]}><ec:InclusiveNamespaces xmlns:ec="http://www.w3.org/2001/10/xml-exc-c14n#"'
            f' PrefixList="{"saml " * count}"/></ds:Transform>'
        )
        value = base64.b64encode(answer.replace(TRANSFORM, listed).encode()).decode()
        with pytest.raises(Unreadable, match=problem):
            upstream.read_answer(value, [idp.key.certificate_pem], SamlRecipient(entity_id=OURS))
