"""PostgreSQL decides by rules of groups for many members as the core does member by member."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adapters.postgres.organizations import group_rules
from core.organizations import group_roles
from core.organizations.authority import Authority
from tests.adapters.organizations.ruled import AUTHORITIES, MEMBERS, Ruled, changed, decided, roles_of, ruled, stored
from tests.world.builder import Builder

Transact = Callable[..., Any]


class _TakenBack(Exception):
    """The rows of an example are to be rolled back."""


def organization(
    *others: tuple[str, int | None, bool, int],
    places: Mapping[tuple[int, int], int] | None = None,
    by: Authority | None = None,
) -> Ruled:
    """Return one with a group that has a rule for viewers, made by the manager."""
    roles = [("owner", None, False, 0), ("manager", None, False, 0), *others]
    return Ruled(roles=roles, places=places or {}, asserted={}, enabled=(True, True), rules=[(0, "viewer", 1)], by=by)


# All of them lose the role, which a rule gave that is gone; the last one joined first.
LEFT_ADMINS = tuple(("admin", 1, False, 9 - number) for number in range(7))


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two members are decided at once, so that most organizations take several parts, and two groups are many."""
    monkeypatch.setattr("core.parts.ROWS_AT_ONCE_MAX", 2)
    monkeypatch.setattr(group_rules, "FEW_GROUPS", 1)


# A faulty rule shows within a few of a hundred organizations.
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(state=ruled(), chosen=st.none() | st.frozensets(st.integers(0, MEMBERS - 1), min_size=1))
@example(organization(("admin", None, False, 1), ("admin", None, False, 2), places={(0, 2): 0}), None)
@example(organization(*LEFT_ADMINS), None)
@example(organization(*LEFT_ADMINS, ("admin", None, False, 0), places={(0, 9): 0}, by=AUTHORITIES[0]), None)
@pytest.mark.usefixtures("small_parts")
def test_rules_give_what_they_would_give_asked_one_by_one_for_each_member(
    builder: Builder, transact: Transact, state: Ruled, chosen: frozenset[int] | None
) -> None:
    def apply(uow: Any) -> None:
        ids = stored(builder, state)
        before, expected = roles_of(builder, ids), decided(state, ids, chosen)
        user_ids = None if chosen is None else [one for number, one in enumerate(ids.members) if number in chosen]

        group_roles.apply(uow, ids.organization_id, user_ids, by=state.by)

        assert roles_of(builder, ids) == expected
        moved = [one for one, old, new in zip(ids.members, before, expected, strict=True) if old != new]
        assert changed(builder, ids) == sorted(moved)
        raise _TakenBack

    with suppress(_TakenBack):
        transact(apply)
