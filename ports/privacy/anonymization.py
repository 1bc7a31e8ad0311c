"""What has to be deleted or replaced when a person is anonymized."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.privacy.anonymization import Affiliation, Anonymous, Subject


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

    def affiliations(self, user_id: UUID, *, owner_id: UUID) -> Sequence[Affiliation]:
        """List the organizations that a person is a member or an end user of, and whether the other one owns each."""
        ...

    def addresses(self, user_id: UUID) -> Sequence[str]:
        """List the addresses that the account had before, as far as anything still knows them."""
        ...

    def shut(self, user_id: UUID, placeholder: str, *, at: datetime) -> bool:
        """Deactivate an account for good, without password, under another address; False when that is taken."""
        ...

    def delete_credentials(self, user_id: UUID) -> None:
        """Delete a person's second factors, passkeys, devices, sessions, and whatever waits to become one."""
        ...

    def replace_addresses(
        self, user_id: UUID, addresses: Sequence[str], marks: Sequence[bytes], anonymous: Anonymous, *, at: datetime
    ) -> None:
        """Remove a person's addresses: letters to them, counted failures, invitations, and what the logs say.

        The marks are those that failures are counted under. Invitations that wait for an answer are withdrawn.
        """
        ...

    def replace_origins(self, user_id: UUID, anonymous: Anonymous) -> None:
        """Replace from where a person acted, and under which address, in all logs."""
        ...
