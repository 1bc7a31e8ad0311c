"""Deleting and replacing the personal data of a person who is anonymized."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.privacy.anonymization import Affiliation, Anonymous, Subject


class Anonymization(Protocol):
    """The personal data of a person; a new table or column with personal data must be added here.

    A test searches every text of every table, so that no personal data are missed.
    """

    def lock(self, user_id: UUID) -> Subject | None:
        """Return an account, or None; until this transaction ends, no other one can write a row that refers to it."""
        ...

    def find(self, user_id: UUID) -> Subject | None:
        """Return an account, or None, without locking it."""
        ...

    def lock_next_closed(self, *, closed_before: datetime) -> Subject | None:
        """Return the account that was closed first, locked as by `lock`; None when none was closed before that time.

        An account that another transaction has locked, or that is a member of an organization, is passed over.
        """
        ...

    def hold(self, user_id: UUID) -> bool:
        """Return whether an account exists and is not anonymized; if so, it is not until this transaction ends."""
        ...

    def defer_hold(self, user_id: UUID) -> Deferred[bool]:
        """Defer `hold`."""
        ...

    def affiliations(self, user_id: UUID, *, owner_id: UUID) -> Sequence[Affiliation]:
        """List the organizations of which a person is a confirmed member or an end user.

        `is_owned` of the result says whether `owner_id` owns the organization.
        """
        ...

    def may_regain_address(self, user_id: UUID, *, at: datetime) -> bool:
        """Return whether a change of the person's address can still be undone by the link mailed to the old one."""
        ...

    def addresses(self, user_id: UUID) -> Sequence[str]:
        """List the addresses that the account had before, as far as they are still stored."""
        ...

    def shut(self, user_id: UUID, placeholder: str, *, at: datetime) -> bool:
        """Deactivate an account for good, without password and address; return False if the placeholder is taken."""
        ...

    def delete_credentials(self, user_id: UUID) -> None:
        """Delete a person's second factors, passkeys, devices and sessions, and the open challenges and tokens."""
        ...

    def replace_addresses(
        self, user_id: UUID, addresses: Sequence[str], marks: Sequence[bytes], anonymous: Anonymous, *, at: datetime
    ) -> None:
        """Remove a person's addresses from mails, counted failures, invitations, names, and the texts of the logs.

        `marks` are the hashes under which failures are counted. Pending invitations are withdrawn.
        """
        ...

    def replace_origins(self, user_id: UUID, anonymous: Anonymous) -> None:
        """Replace the origins of a person's actions, and the actor's address, in all logs."""
        ...
