"""What is accepted of the answers of SAML identity providers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from core.sign_in.reasons import SignInReason
from core.sign_in.upstream import saml
from core.sign_in.upstream.connections import metadata_validity
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord, ConnectionType
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.saml import (
    EMAIL_ADDRESS,
    SUCCESS,
    AnswerUnusable,
    Confirmation,
    Expected,
    MetadataExpired,
    MetadataUnusable,
    SamlAnswer,
    SamlAssertion,
    SamlDescription,
    ServiceProvider,
)

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
IDP = "https://idp.example"
OWN = ServiceProvider.of("https://id.example", UUID(int=1))
CONNECTION = ConnectionRecord(
    id=UUID(int=1),
    type=ConnectionType.SAML,
    name="Acme",
    issuer=IDP,
    client_id=None,
    has_secret=False,
    scopes=[],
    metadata_url=f"{IDP}/metadata",
    metadata_xml=None,
    metadata_valid_until=None,
    signs_requests=False,
    attribute_mapping={},
    joins_as=None,
    trust_mfa=False,
    enabled=True,
    created_at=NOW,
    updated_at=NOW,
)
EXPECTED = Expected(issuer=IDP, provider=OWN, request_id="_request")
CONFIRMATION = Confirmation(
    recipient=OWN.acs_url, in_response_to="_request", not_before=None, not_on_or_after=NOW + timedelta(minutes=5)
)
ASSERTION = SamlAssertion(
    issuer=IDP,
    name_id="ada@acme.example",
    name_id_format=EMAIL_ADDRESS,
    confirmations=[CONFIRMATION],
    audiences=[[OWN.entity_id, "another"]],
    not_before=None,
    not_on_or_after=None,
    session_ends_at=None,
    attributes={},
)
ANSWER = SamlAnswer(issuer=None, destination=None, in_response_to=None, statuses=(SUCCESS,), assertion=ASSERTION)


def judged(**changes: Any) -> SamlAssertion:
    """Return the assertion of an answer whose assertion is changed."""
    answer = replace(ANSWER, assertion=replace(ASSERTION, **changes))
    return saml.require_for_us(answer, EXPECTED, at=NOW)


def test_an_assertion_for_us_is_accepted_and_proves_its_name() -> None:
    proven = saml.identity(judged(), {})

    assert (proven.subject, proven.email) == ("ada@acme.example", "ada@acme.example")


@pytest.mark.parametrize(
    "changes",
    [
        {"audiences": []},
        {"audiences": [[OWN.entity_id], ["another"]]},
        {"confirmations": []},
        {"confirmations": [replace(CONFIRMATION, recipient="https://id.example/elsewhere")]},
        {"confirmations": [replace(CONFIRMATION, in_response_to="_another")]},
        {"confirmations": [replace(CONFIRMATION, not_on_or_after=None)]},
        {"confirmations": [replace(CONFIRMATION, not_before=NOW + timedelta(hours=1))]},
        {"not_on_or_after": NOW - timedelta(minutes=3)},
        {"session_ends_at": NOW - timedelta(minutes=1)},
    ],
    ids=str,
)
def test_an_assertion_that_is_not_for_us_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(UpstreamFailed):
        judged(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"statuses": ("urn:other",)},
        {"statuses": ()},
        {"assertion": None},
        {"destination": "https://id.example/elsewhere"},
        {"in_response_to": "_another"},
        {"issuer": "https://evil.example"},
        {"assertion": replace(ASSERTION, issuer="https://evil.example")},
    ],
    ids=lambda changes: str(changes)[:60],
)
def test_an_answer_without_a_successful_assertion_or_to_another_request_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(UpstreamFailed):
        saml.require_for_us(replace(ANSWER, **changes), EXPECTED, at=NOW)


def test_an_attribute_that_is_missing_gives_no_address() -> None:
    assert saml.identity(replace(ASSERTION, name_id_format=None), {}).email is None
    assert saml.identity(ASSERTION, {"email": "upn"}).email is None
    with pytest.raises(UpstreamFailed):
        saml.identity(ASSERTION, {"id": "uid"})


def test_a_name_of_one_sign_in_identifies_only_by_an_attribute() -> None:
    transient = replace(ASSERTION, name_id_format=saml.TRANSIENT, attributes={"uid": ["7"]})

    with pytest.raises(UpstreamFailed):
        saml.identity(transient, {})
    assert saml.identity(transient, {"id": "uid"}).subject == "7"


def test_the_name_is_kept_beside_an_attribute_that_identifies() -> None:
    attributes = {"id": "uid"}
    named = replace(ASSERTION, name_id="7@idp", attributes={"uid": ["7"]})

    assert (saml.identity(named, attributes).subject, saml.identity(named, attributes).own_subject) == ("7", "7@idp")
    assert saml.identity(ASSERTION, {}).own_subject is None
    for unkept in ("x" * 256, "two\nlines"):
        assert saml.identity(replace(named, name_id=unkept), attributes).own_subject is None


def test_a_user_who_may_not_sign_in_at_the_provider_is_told_apart_from_a_failure() -> None:
    denied = "urn:oasis:names:tc:SAML:2.0:status:RequestDenied"

    assert replace(ANSWER, statuses=("urn:oasis:names:tc:SAML:2.0:status:Responder", denied)).is_declined
    assert not ANSWER.is_declined


def test_what_is_unusable_has_its_problem_as_reason_for_the_log() -> None:
    for unusable in (MetadataUnusable, AnswerUnusable):
        assert unusable("It has no signature.").reason == "It has no signature."


DESCRIPTION = SamlDescription(entity_id=IDP, sso_url=f"{IDP}/sso", certificates=("certificate",))


@pytest.mark.parametrize("valid_until", [None, NOW + timedelta(seconds=1)])
def test_metadata_count_until_the_end_that_they_name(valid_until: datetime | None) -> None:
    described = replace(DESCRIPTION, valid_until=valid_until)

    assert not described.is_expired(NOW)
    assert saml.require_current(described, at=NOW) is described


def test_metadata_that_have_ended_are_refused() -> None:
    described = replace(DESCRIPTION, valid_until=NOW)

    assert described.is_expired(NOW)
    with pytest.raises(MetadataUnusable) as unusable:
        saml.require_current(described, at=NOW)
    assert "expired on 2026-06-01" in str(unusable.value.reason)
    assert MetadataExpired().reason is SignInReason.METADATA_EXPIRED


@pytest.mark.parametrize(
    "changes", [{"valid_until": NOW}, {"wants_signed_requests": True}], ids=["another end", "signed requests"]
)
def test_metadata_that_say_something_else_than_is_stored_differ(changes: dict[str, Any]) -> None:
    assert not metadata_validity.differs(CONNECTION, DESCRIPTION)
    assert metadata_validity.differs(CONNECTION, replace(DESCRIPTION, **changes))
