"""Which users get an assertion for a service, and which of them have to agree first (decisions 9.5 and 10.7)."""

from __future__ import annotations

from core.lazy_dataclasses import dataclass


def is_admitted(*, members_only: bool, is_member: bool, is_linked: bool) -> bool:
    """Return whether a user may sign in to a service, by what `AdmissionStanding` says of them."""
    return not members_only or is_member or is_linked


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionStanding:
    """What a user has to do with an organization and one of its services.

    `role` is that of the membership, None without one; `is_confirmed` says whether the user has consented to it, and
    `is_suspended` whether the directory of the organization has deactivated it, which takes all access. `is_linked`
    means that a key has made the user an end user of the service; a link that came with a membership counts only while
    the membership lasts, and one that a sign-in made does not count. `has_used` means that they have signed in to one
    of the organization's services, and `is_own` that the organization created the account. `name` is that of the
    account, else what the directory of the organization calls the user, None for one that nobody has told, and `groups`
    are the names of their groups that the service learns of; None for a service that learns of none.
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
        """Whether the user belongs to the organization or uses it, by their own doing."""
        return self.is_confirmed or self.has_used or self.is_own
