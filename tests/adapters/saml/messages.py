"""Messages of an identity provider, with its key, for the tests of XML."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from core.key_certificates import SamlSigningKey
from core.saml.identity_providers import ProviderMetadata
from core.saml.messages import (
    SUCCESS,
    IssuedAssertion,
    NameId,
    NameIdFormat,
    OutgoingLogoutRequest,
    OutgoingLogoutResponse,
    Response,
    SamlStatus,
    StatusOf,
)
from core.secrets import Secret
from tests.service_provider import key_pair

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
IDP = "https://id.example/saml/acme/shop"
SP = "https://sp.example/metadata"
PAIR = key_pair("idp")
KEY = SamlSigningKey(
    certificate_id=UUID(int=1), certificate_pem=PAIR.certificate_pem, private_pem=Secret(PAIR.private_pem)
)
ASSERTION = IssuedAssertion(
    id="_assertion",
    name_id=NameId(value="ada@example.com", format=NameIdFormat.EMAIL_ADDRESS),
    session_index="session-1",
    authenticated_at=NOW - timedelta(minutes=3),
    session_ends_at=NOW + timedelta(days=1),
    context_class="urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport",
    attributes=(("email", "ada@example.com"), ("urn:oid:1.2", '<b>&"'), ("role", None)),
)
RESPONSE = Response(
    id="_response",
    issuer=IDP,
    audience=SP,
    destination="https://sp.example/acs",
    in_response_to="_request",
    issued_at=NOW,
    status=SUCCESS,
    assertion=ASSERTION,
)
REFUSAL = replace(
    RESPONSE,
    assertion=None,
    in_response_to=None,
    status=StatusOf(first=SamlStatus.RESPONDER, second=SamlStatus.REQUEST_DENIED),
)
LOGOUT_REQUEST = OutgoingLogoutRequest(
    id="_logout",
    issuer=IDP,
    destination="https://sp.example/slo?a=b",
    issued_at=NOW,
    name_id=ASSERTION.name_id,
    audience=SP,
    session_index="session-1",
)
LOGOUT_RESPONSE = OutgoingLogoutResponse(
    id="_answer",
    issuer=IDP,
    destination="https://sp.example/slo",
    issued_at=NOW,
    in_response_to="_request",
    status=StatusOf(first=SamlStatus.SUCCESS, second=SamlStatus.PARTIAL_LOGOUT),
)


def provider_metadata(**changes: Any) -> ProviderMetadata:
    """Return what the metadata of the identity provider say."""
    content = ProviderMetadata(
        entity_id=IDP,
        sso_url=f"{IDP}/sso",
        slo_url=f"{IDP}/slo",
        name_id_format=NameIdFormat.PERSISTENT,
        certificates=[PAIR.certificate_pem, key_pair("previous").certificate_pem],
    )
    return replace(content, **changes)
