"""What the core asks of everything personal that is stored: to be shown it, and to be rid of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.privacy.anonymization import Anonymous, Belonging, Subject
from core.privacy.export import ExportedLogin, ExportedMembership, ExportedMfaEvent, OwnedOrganization


class PrivacyExport(Protocol):
    """What is kept of a person, as the person may have it.

    Where `within` names organizations, only what concerns one of these or none is given.
    """

    def organizations_of_both(self, user_id: UUID, owner_id: UUID) -> Sequence[OwnedOrganization]:
        """List the organizations that the other one owns and a person is a member of."""
        ...

    def memberships(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedMembership]:
        """List a person's memberships, the oldest first."""
        ...

    def count_logins(self, user_id: UUID, *, within: Sequence[UUID] | None) -> int:
        """Count a person's login events."""
        ...

    def newest_logins(self, user_id: UUID, limit: int, *, within: Sequence[UUID] | None) -> Sequence[ExportedLogin]:
        """List a person's login events, the newest first."""
        ...

    def newest_mfa_events(self, user_id: UUID, limit: int) -> Sequence[ExportedMfaEvent]:
        """List what the separate log has of a person, the newest first."""
        ...


class Anonymization(Protocol):
    """What has to go when a person is forgotten; whatever is made later and holds something personal is added here.

    A test looks through every text of every table, so that nothing is forgotten to be forgotten.
    """

    def lock(self, user_id: UUID) -> Subject | None:
        """Find an account, and let nobody write anything that refers to it before this transaction ends."""
        ...

    def hold(self, user_id: UUID) -> bool:
        """Say whether an account is there and not forgotten, and let nobody forget it before this transaction ends."""
        ...

    def belongings(self, user_id: UUID, *, owner_id: UUID) -> Sequence[Belonging]:
        """List the organizations that a person is a member or an end user of, and whether the other one owns each."""
        ...

    def addresses(self, user_id: UUID) -> Sequence[str]:
        """List the addresses that the account had before, as far as anything still knows them."""
        ...

    def shut(self, user_id: UUID, placeholder: str, *, at: datetime) -> bool:
        """Deactivate an account for good, without password, under another address; False when that is taken."""
        ...

    def forget_ways_in(self, user_id: UUID) -> None:
        """Delete a person's second factors, passkeys, devices, sessions, and whatever waits to become one."""
        ...

    def forget_addresses(
        self, user_id: UUID, addresses: Sequence[str], marks: Sequence[bytes], anonymous: Anonymous, *, at: datetime
    ) -> None:
        """Remove a person's addresses: letters to them, counted failures, invitations, and what the logs say.

        The marks are those that failures are counted under. Invitations that wait for an answer are withdrawn.
        """
        ...

    def forget_whereabouts(self, user_id: UUID, anonymous: Anonymous) -> None:
        """Replace from where a person acted, and under which address, in all logs."""
        ...
