"""What the word of an organization's connection opens: the rules once more, in plain Python (10.6 and 16.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MEMBER: Final = "member"


@dataclass(frozen=True)
class Belonging:
    """What a person is to the organization of a connection; `role` is None for one who is no member."""

    role: str | None = None
    is_suspended: bool = False
    is_end_user: bool = False
    is_in_mail_domain: bool = False
    # Whether a rule gave the role, by the groups that this connection has asserted.
    is_role_by_groups: bool = False


@dataclass(frozen=True)
class Word:
    """The connection by which a person comes, as what it lets people join, and whether they once typed a mailed code.

    `powerful` are the roles that such a code alone opens where a rule gives them.
    """

    is_open: bool = True
    joins_as: str | None = None
    is_confirmed: bool = True
    powerful: frozenset[str] = frozenset()

    def signs_in(self, belonging: Belonging) -> bool:
        """Return whether the connection signs a person in."""
        return self.is_open and speaks_for(belonging) and self.opens(belonging.role, belonging)

    def opens(self, role: str | None, belonging: Belonging) -> bool:
        """Return whether it opens a role, also one that the person got after the sign-in."""
        if self.is_confirmed or role in {None, MEMBER}:
            return True
        is_by_rule = belonging.is_role_by_groups and role == belonging.role and role not in self.powerful
        # The role of a rule takes the place of the one with which the connection lets people join.
        is_replaced = belonging.is_role_by_groups and belonging.role not in {None, *self.powerful}
        return is_by_rule or (role == self.joins_as and not is_replaced)


@dataclass(frozen=True)
class Account:
    """An account: whether others have deactivated it, it is locked, or its person has closed it."""

    is_deactivated: bool = False
    is_locked: bool = False
    is_closed: bool = False

    @property
    def is_usable(self) -> bool:
        """Whether it signs in, and its sessions are used; one that was closed has none, and signing in opens it."""
        return not (self.is_deactivated or self.is_locked)

    def signs_in(self, *, is_by_provider: bool) -> bool:
        """Return whether it signs in, by the word of another party or by a proof of its person."""
        return self.is_usable and not (self.is_closed and is_by_provider)


def speaks_for(belonging: Belonging) -> bool:
    """Return whether a connection speaks for a person: a member, an end user, or one of its mail domain."""
    if belonging.is_in_mail_domain:
        return True
    return not belonging.is_suspended and (belonging.role is not None or belonging.is_end_user)
