"""Groups of a directory as values: their places in lists, and the members that a request names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from core.positions import Position
from core.scim.directory_groups import PersonInGroup
from core.scim.group_patches import member_ids
from core.scim.group_resources import Group
from core.scim.refusals import InvalidValue

ADA = UUID(int=1)
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_lists_go_by_the_times_and_ids_of_their_rows() -> None:
    person = PersonInGroup(
        user_id=ADA, email="ada@example.com", name=None, role="member", joined_at=NOW, is_suspended=False
    )
    group = Group(id=ADA, display_name="Sales", created_at=NOW, updated_at=NOW, member_count=1, changes=0)

    assert person.position == group.position == Position(at=NOW, id=ADA)


def test_members_are_named_by_ids_of_users() -> None:
    assert member_ids([{"value": str(ADA), "type": "User"}, {"VALUE": str(ADA)}, str(ADA)]) == {ADA}
    assert member_ids({"value": str(ADA)}) == {ADA}


@pytest.mark.parametrize("value", [[{"value": "ada"}], [{"value": 7}], [None], [{"value": str(ADA), "type": "group"}]])
def test_what_is_no_user_is_refused(value: Any) -> None:
    with pytest.raises(InvalidValue):
        member_ids(value)
