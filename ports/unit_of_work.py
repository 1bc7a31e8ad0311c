"""What one transaction offers a use case: the stored aggregates, the time, the caller, and how to be remembered.

It is the only port that the core names, and only in annotations. Every method here and on the aggregates is
synchronous: a use case runs to completion on a worker thread, inside one transaction, and waits for nothing else.
"""

from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.audit import AuditAction
from core.callers import Origin
from core.events import EventType
from ports.clock import Randomness
from ports.figures import Figures
from ports.mail import MailOutbox
from ports.signing_keys import SigningKeys
from ports.users import Credentials, Users


class UnitOfWork(Protocol):
    """One transaction. Raising rolls it back, returning commits it."""

    @property
    def now(self) -> datetime:
        """The moment of this transaction, in UTC; it stands still while the transaction lasts."""
        ...

    @property
    def origin(self) -> Origin:
        """Where the request came from."""
        ...

    @property
    def randomness(self) -> Randomness:
        """Ids and secrets that nobody can guess."""
        ...

    @property
    def users(self) -> Users:
        """Accounts, without anything secret about them."""
        ...

    @property
    def credentials(self) -> Credentials:
        """What accounts sign in with; apart, so that listing users can never select a password hash."""
        ...

    @property
    def mail(self) -> MailOutbox:
        """Mail that leaves when, and only when, this transaction commits."""
        ...

    @property
    def signing_keys(self) -> SigningKeys:
        """The key pairs that sign tokens."""
        ...

    @property
    def figures(self) -> Figures:
        """Counts for the gauges that operators watch."""
        ...

    def audit(
        self,
        action: AuditAction,
        target_id: UUID | str,
        /,
        *,
        organization_id: UUID,
        actor_user_id: UUID | None = None,
        success: bool = True,
        **details: Any,
    ) -> None:
        """Write a line of the organization's audit log in this transaction."""
        ...

    def publish(
        self,
        event: EventType,
        /,
        *,
        organization_id: UUID | None = None,
        actor_user_id: UUID | None = None,
        actor_email: str | None = None,
        **data: Any,
    ) -> None:
        """Say that something happened; receivers learn of it after the commit, at least once."""
        ...
