"""Port for what the members of an organization have, as far as its sign-in rules ask for it."""

from typing import Protocol
from uuid import UUID

from core.sign_in.sign_in_rules import AskedMembers


class MembersUnderRules(Protocol):
    """The factors of members that cannot be passed on to another site: passkeys, and connections that are trusted."""

    def asked(self, organization_id: UUID, *, named_max: int, counted_max: int) -> AskedMembers:
        """Return the active members without such a factor, those who joined first by name; count no further."""
        ...

    def has_resistant_factor(self, organization_id: UUID, user_id: UUID) -> bool:
        """Return whether a member has such a factor."""
        ...
