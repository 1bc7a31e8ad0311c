"""What a list of sign-ins at a product says of each."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.customers.product_sign_ins import ProductSignIn
from core.sign_in.reasons import SignInReason
from core.sign_in.sign_ins import SignInOutcome


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        (None, SignInOutcome.SUCCESS),
        (SignInReason.CUSTOMER_CLOSED, SignInOutcome.REFUSED),
        (SignInReason.SECOND_FACTOR_ASKED, SignInOutcome.SECOND_FACTOR_ASKED),
    ],
)
def test_the_outcome_follows_from_the_reason(reason: SignInReason | None, outcome: SignInOutcome) -> None:
    sign_in = ProductSignIn(
        id=UUID(int=1),
        created_at=datetime(2026, 2, 3, tzinfo=UTC),
        provider="password",
        reason=reason,
        connection_name=None,
        user_id=None,
        email=None,
        name=None,
        is_member=False,
    )

    assert sign_in.outcome is outcome
