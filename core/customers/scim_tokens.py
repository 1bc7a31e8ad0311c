"""SCIM tokens that a vendor makes for a customer: the customer's directory provisions people to the vendor's service.

They are tokens of the customer's internal organization (`core/scim/tokens.py`), and see the groups of that one alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import setup_callers
from core.customers.setup_callers import CustomerPath, SetupAttempt, SetupCaller
from core.lazy_dataclasses import dataclass
from core.organizations.link_callers import Part
from core.scim import tokens
from core.scim.log import ProvisioningLogEntry
from core.scim.tokens import ScimToken, ScimTokenUnknown
from core.secrets import Secret

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_REFUSED: int = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerScimToken:
    """A token without its secret; `last_attempt` is the last known call of the directory."""

    id: UUID
    name: str
    prefix: str
    created_at: datetime
    expires_at: datetime | None
    last_attempt: SetupAttempt | None

    @classmethod
    def of(cls, token: ScimToken, entry: ProvisioningLogEntry | None) -> CustomerScimToken:
        """Return a token with its last entry in the log, if there is one."""
        attempt = SetupAttempt(at=token.last_used_at, succeeded=True) if token.last_used_at is not None else None
        if entry is not None:
            is_done = entry.status < _REFUSED
            reason = None if is_done else entry.detail or str(entry.status)
            attempt = SetupAttempt(at=entry.created_at, succeeded=is_done, reason=reason)
        return cls(
            id=token.id,
            name=token.name,
            prefix=token.prefix,
            created_at=token.created_at,
            expires_at=token.expires_at,
            last_attempt=attempt,
        )


def list_all(uow: UnitOfWork, path: CustomerPath) -> Sequence[CustomerScimToken]:
    """List the tokens of a customer, the newest first, also those that have expired."""
    return _listed(uow, setup_callers.enter_to_read(uow, path, Part.SCIM))


def show(uow: UnitOfWork, path: CustomerPath, token_id: UUID) -> CustomerScimToken:
    """Return a token; raise `ScimTokenUnknown`."""
    found = next((one for one in list_all(uow, path) if one.id == token_id), None)
    if found is None:
        raise ScimTokenUnknown("This customer has no such SCIM token.")
    return found


def create(
    uow: UnitOfWork, path: CustomerPath, *, name: str, expires_at: datetime | None
) -> tuple[CustomerScimToken, Secret]:
    """Make a token and return it with its secret, which cannot be read again."""
    token, secret = setup_callers.change(uow, path, Part.SCIM, tokens.create, name=name, expires_at=expires_at)
    return CustomerScimToken.of(token, None), secret


def revoke(uow: UnitOfWork, path: CustomerPath, token_id: UUID) -> None:
    """Delete a token, which loses access at once."""
    setup_callers.change(uow, path, Part.SCIM, tokens.revoke, token_id)


def _listed(uow: UnitOfWork, setup: SetupCaller) -> Sequence[CustomerScimToken]:
    listed = tokens.list_all(uow, setup.organization.slug)
    entries = {one.token_id: one for one in uow.scim_log.last_of_tokens(setup.organization.id)}
    return [CustomerScimToken.of(one, entries.get(one.id)) for one in listed]
