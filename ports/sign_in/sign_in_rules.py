"""Port for the factors of an organization's members, as far as its sign-in rules ask for them."""

from typing import Protocol
from uuid import UUID

from core.sign_in.sign_in_rules import AskedMembers


class MembersUnderRules(Protocol):
    """The factors of members that resist phishing: passkeys, and connections with `trust_mfa`."""

    def asked(self, organization_id: UUID, *, named_max: int, counted_max: int) -> AskedMembers:
        """Return the active members without such a factor: the first to join by name, all counted to a maximum."""
        ...

    def has_resistant_factor(self, organization_id: UUID, user_id: UUID) -> bool:
        """Return whether a member has such a factor."""
        ...
