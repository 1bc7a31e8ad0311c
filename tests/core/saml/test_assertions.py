"""What an assertion says of a user's groups."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.saml.admission import AdmissionStanding
from core.saml.assertions import attributes


@pytest.mark.parametrize(
    ("groups", "value"),
    [
        (None, "admin"),
        (["Audit", "Sales"], ["Audit", "Sales"]),
        ([], None),
        ([f"g{number}" for number in range(101)], None),
    ],
    ids=["none that the service learns of", "some", "no group", "too many"],
)
def test_groups_are_the_names_that_the_service_learns_of_else_the_role(
    groups: list[str] | None, value: str | list[str] | None
) -> None:
    standing = AdmissionStanding(
        role="admin",
        name=None,
        is_confirmed=True,
        is_suspended=False,
        is_linked=False,
        has_used=False,
        is_own=False,
        groups=groups,
    )

    found = attributes({"groups": "memberOf"}, user_id=UUID(int=1), email="ada@example.com", standing=standing)

    assert found == (("memberOf", value),)
