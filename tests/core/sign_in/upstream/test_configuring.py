"""Whether a connection was tried in its present configuration."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from core.sign_in.upstream.configuring import ConfiguredConnection, ConnectionState
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord, ConnectionType
from core.sign_in.upstream.connections.failures import ConnectionProgress
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.trials import trials
from core.sign_in.upstream.trials.trials import TrialAnswer, TrialResult

AT = datetime(2026, 2, 3, tzinfo=UTC)
CONNECTION = ConnectionRecord(
    id=UUID(int=1),
    type=ConnectionType.OIDC,
    name="Acme",
    issuer="https://idp.example",
    client_id="gatehouse",
    has_secret=True,
    scopes=["openid"],
    metadata_url=None,
    metadata_xml=None,
    metadata_valid_until=None,
    signs_requests=False,
    attribute_mapping={"id": "sub"},
    joins_as=None,
    trust_mfa=False,
    enabled=False,
    created_at=AT,
    updated_at=AT,
)
PROGRESS = ConnectionProgress(
    connection_id=CONNECTION.id, checked_at=None, problem=None, last_sign_in_at=None, failing_since=None
)
TRIAL = TrialResult(
    connection_id=CONNECTION.id,
    concluded_at=AT,
    begun_by="ann@acme.example",
    tested_as=trials.fingerprint(CONNECTION),
    answer=TrialAnswer(subject="employee-1"),
)


def is_tried(trial: TrialResult | None, **changes: Any) -> bool:
    """Return whether the connection, with these changes since the trial, counts as tried."""
    return ConnectionState(connection=replace(CONNECTION, **changes), progress=PROGRESS, trial=trial).is_tried


def test_a_connection_is_tried_when_its_last_trial_has_succeeded() -> None:
    assert is_tried(TRIAL)
    assert not is_tried(None)
    assert not is_tried(replace(TRIAL, answer=TrialAnswer(problem=ProviderProblem.DECLINED)))


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://other.example"},
        {"client_id": "other"},
        {"scopes": ["openid", "email"]},
        {"metadata_url": "https://idp.example/metadata"},
        {"metadata_xml": "<EntityDescriptor/>"},
        {"attribute_mapping": {"id": "oid"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_connection_that_leads_elsewhere_since_its_trial_is_to_be_tried_again(change: dict[str, Any]) -> None:
    assert not is_tried(TRIAL, **change)


def test_a_change_of_what_no_trial_shows_needs_no_other_trial() -> None:
    assert is_tried(TRIAL, name="Acme Inc.", enabled=True, joins_as="member", updated_at=AT + timedelta(days=1))


@pytest.mark.parametrize(
    ("is_on", "was_on", "is_beside", "can_be_switched_on"),
    [
        (False, False, False, True),
        (True, False, False, False),
        (False, True, False, False),
        (False, False, True, False),
    ],
)
def test_a_setup_link_switches_on_what_never_was_where_people_sign_in_by_no_other(
    is_on: bool, was_on: bool, is_beside: bool, can_be_switched_on: bool
) -> None:
    state = ConnectionState(connection=replace(CONNECTION, enabled=is_on), progress=PROGRESS, trial=TRIAL)
    found = ConfiguredConnection(
        state=state,
        judgement=None,
        failures=[],
        domains=[],
        certificates=[],
        roles=[],
        was_on=was_on,
        is_beside=is_beside,
    )

    assert found.can_be_switched_on is can_be_switched_on
