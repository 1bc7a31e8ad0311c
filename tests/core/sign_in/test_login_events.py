"""Login events: how many attempts may wait to be stored depends on the reason of their refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.sign_in.login_events import Attempt, record_waiting
from core.sign_in.places import Place
from core.sign_in.proofs import Provider, UsedWay
from core.sign_in.reasons import ROWS_MAX, SignInReason
from core.sign_in.risk import Habits, Risk
from tests.world.builder import Builder, new_id
from tests.world.fixtures import builder

__all__ = ["builder"]


@pytest.mark.parametrize(("waiting", "events"), [(ROWS_MAX - 1, 1), (ROWS_MAX, 0)])
def test_no_more_attempts_that_wait_are_stored_than_a_reason_allows(
    builder: Builder, transact: Callable[..., Any], waiting: int, events: int
) -> None:
    user_id = builder.user()
    attempt = Attempt(
        id=new_id(),
        user_id=user_id,
        way=UsedWay(provider=Provider.PASSWORD),
        device_id=None,
        risk=Risk(factors=(), score=0.0, location=None),
    )
    habits = Habits(sign_ins=0, countries=[], hours=[], failures=0, waiting=waiting)

    transact(record_waiting, attempt, Place(), habits, SignInReason.SECOND_FACTOR_ASKED)

    assert builder.rows("SELECT count(*) FROM login_events WHERE user_id = %s", user_id) == [(events,)]
