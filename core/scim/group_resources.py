"""A group as SCIM shows it: the organization itself, or a group of its directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.positions import Position
from core.scim.kept_members import KeptMember
from core.scim.refusals import TooMany
from core.scim.users import version_of
from core.wording import Wording

# Stands for the id of a member in a `member_form`.
ID_IN_FORM: Final = UUID(int=0)
# The maximum of members that one answer shows or one call replaces; the body of a request holds fewer.
MEMBERS_MAX: Final = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group. `external_id` is its id in the directory.

    `members` has a text in the requested form for each, separated by commas; None where they were not requested. `kept`
    are members that a change took out and who stay all the same.
    """

    id: UUID
    display_name: str
    external_id: str | None = None
    created_at: datetime
    updated_at: datetime
    member_count: int
    changes: int
    members: str | None = field(default=None, repr=False)
    kept: Sequence[KeptMember] = ()

    @property
    def version(self) -> str:
        """A text that changes with the name and the members."""
        return version_of(self.id.hex, self.display_name, str(self.changes))

    @property
    def position(self) -> Position:
        """The place of the group in the list."""
        return Position(at=self.created_at, id=self.id)

    def with_members(self, members: str) -> Group:
        """Return the group with the texts of its members."""
        return replace(self, members=members)

    def with_kept(self, kept: Sequence[KeptMember]) -> Group:
        """Return the group with the members who stay although the directory took them out."""
        return replace(self, kept=kept)

    def renamed(self, display_name: str, external_id: str | None) -> Group:
        """Return the group with another name and another id in the directory."""
        return replace(self, display_name=display_name, external_id=external_id)


def require_showable(member_count: int) -> None:
    """Raise `TooMany` when one answer would have to show more members than it may."""
    if member_count > MEMBERS_MAX:
        raise TooMany(
            Wording(
                "This answer would show more than %(maximum)s members, which is too many. Send"
                " excludedAttributes=members, and list the users by /Users.",
                maximum=MEMBERS_MAX,
            )
        )
