"""Which users get an assertion for a service, and which of them have to agree first.

With `members_only`, members and end users that a key has linked get one; anyone else is refused. A user who neither
belongs to the organization nor uses it agrees first.
"""

from __future__ import annotations

from core.lazy_dataclasses import dataclass


def is_admitted(*, members_only: bool, is_member: bool, is_linked: bool) -> bool:
    """Return whether a user may sign in to a service; `AdmissionStanding` describes the values."""
    return not members_only or is_member or is_linked


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionStanding:
    """The relation of a user to an organization and one of its services.

    `role` is the role of the membership, None without one; `is_confirmed` says whether the user has consented to it,
    and `is_suspended` whether the directory of the organization has deactivated it, which takes all access. `is_linked`
    means that a key has made the user an end user of the service; a link that came with a membership counts only while
    the membership lasts, and a link that a sign-in made does not count. `has_used` means that they have signed in to
    one of the organization's services, and `is_own` that the organization created the account. `name` comes from the
    account, else from the directory of the organization, None without either. `groups` are the names of their groups
    that the service sees; None for a service that sees none.
    """

    role: str | None
    name: str | None
    is_confirmed: bool
    is_suspended: bool
    is_linked: bool
    has_used: bool
    is_own: bool
    groups: list[str] | None = None

    def is_admitted(self, *, members_only: bool) -> bool:
        """Return whether the user may sign in to the service."""
        return is_admitted(members_only=members_only, is_member=self.role is not None, is_linked=self.is_linked)

    @property
    def knows_organization(self) -> bool:
        """Whether the user has chosen to belong to the organization or to use it."""
        return self.is_confirmed or self.has_used or self.is_own
