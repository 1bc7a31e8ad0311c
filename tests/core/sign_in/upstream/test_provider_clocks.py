"""The clock of a provider may be three minutes off, in whatever it sends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from core.errors import Refusal
from core.saml import message_checks
from core.saml.messages import NameId, SamlLogoutRequest
from core.sign_in.upstream import provider_answers, saml
from core.sign_in.upstream.revocation import backchannel_logout, global_token_revocation
from core.sign_in.upstream.revocation.backchannel_logout import EVENT, LogoutIssuer
from core.sign_in.upstream.saml import SUCCESS, Confirmation, Expected, SamlAnswer, SamlAssertion, ServiceProvider

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
IDP, CLIENT = "https://idp.example", "gatehouse"
OWN = ServiceProvider(entity_id="https://id.example/metadata", acs_url="https://id.example/acs", slo_url="https://x")
ID = "a name"
Judge = Callable[[datetime], object]


def id_token(at: datetime) -> object:
    """Judge an ID token that was made at this time by the clock of its provider, for no longer than that."""
    claims = {"iss": IDP, "aud": CLIENT, "nonce": "n", "iat": at.timestamp(), "nbf": at.timestamp()}
    return provider_answers.require_valid_claims(
        {**claims, "exp": at.timestamp()}, client_id=CLIENT, nonce="n", at=NOW, issuer=IDP
    )


def assertion(at: datetime) -> object:
    """Judge an assertion likewise."""
    confirmation = Confirmation(
        recipient=OWN.acs_url, in_response_to="_1", not_before=at, not_on_or_after=at + timedelta(seconds=1)
    )
    made = SamlAssertion(
        issuer=IDP,
        name_id=ID,
        name_id_format=None,
        confirmations=[confirmation],
        audiences=[[OWN.entity_id]],
        not_before=at,
        not_on_or_after=at + timedelta(seconds=1),
        session_ends_at=None,
        attributes={},
    )
    answer = SamlAnswer(issuer=IDP, destination=None, in_response_to=None, statuses=(SUCCESS,), assertion=made)
    return saml.require_for_us(answer, Expected(issuer=IDP, provider=OWN, request_id="_1"), at=NOW)


def logout_request(at: datetime) -> object:
    """Judge a request for a logout likewise."""
    request = SamlLogoutRequest(
        id="_1",
        issuer=IDP,
        issued_at=at,
        destination=OWN.slo_url,
        is_signed=True,
        name_id=NameId(value=ID, format=""),
        session_indexes=(),
        not_on_or_after=at + timedelta(seconds=1),
    )
    message_checks.require_current(request, NOW)
    # Issued as long ago as a message may be at most.
    old = replace(request, issued_at=at - message_checks.AGE_MAX if at < NOW else at)
    return message_checks.require_from_connection(old, IDP, OWN.slo_url, NOW)


def revocation(at: datetime) -> object:
    """Judge a request to end a person's sessions and tokens likewise."""
    claims = {"iss": IDP, "aud": "here", "jti": ID, "iat": at.timestamp(), "nbf": at.timestamp()}
    return global_token_revocation.judged(
        {**claims, "exp": (at + timedelta(seconds=1)).timestamp()}, issuer=IDP, audience="here", at=NOW
    )


def logout_token(at: datetime) -> object:
    """Judge a logout token likewise."""
    claims: dict[str, Any] = {"iss": IDP, "aud": CLIENT, "jti": ID, "sub": ID, "events": {EVENT: {}}}
    times = {"iat": at.timestamp(), "exp": (at + timedelta(seconds=1)).timestamp()}
    issuer = LogoutIssuer(organization_id=UUID(int=1), issuer=IDP, client_id=CLIENT)
    return backchannel_logout.judged({**claims, **times}, None, issuer, at=NOW)


@pytest.mark.parametrize("judge", [id_token, assertion, logout_request, revocation, logout_token])
def test_a_clock_that_is_three_minutes_off_is_taken_and_one_that_is_further_off_is_not(judge: Judge) -> None:
    for seconds in (-150, -180, 0, 150, 180):
        judge(NOW + timedelta(seconds=seconds))
    for seconds in (-300, -182, 182, 300):
        with pytest.raises(Refusal):
            judge(NOW + timedelta(seconds=seconds))
