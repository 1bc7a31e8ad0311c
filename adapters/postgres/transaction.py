"""One transaction: its connection, its time, the origin of the request, and the tools that aggregates use.

An aggregate is a class of SQL for one port of storage. Each is made from the transaction alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from adapters.crypto.vault import Vault
    from adapters.postgres.driver.connection import Connection
    from core.scim.tokens import PresentedToken
    from core.services.api_keys import PresentedKey
    from core.sessions.callers import Origin
    from ports.clock import Clock, Randomness
    from ports.credentials.devices import Locations
    from ports.credentials.passkeys import WebAuthn
    from ports.credentials.totp import Totp
    from ports.domain_names import DomainNames
    from ports.doorbells import Bell
    from ports.pepper import Pepper


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Tools that all transactions of a process share."""

    clock: Clock
    randomness: Randomness
    vault: Vault
    pepper: Pepper
    domain_names: DomainNames
    locations: Locations
    totp: Totp
    webauthn: WebAuthn
    has_rate_limits: bool


@dataclass(slots=True, kw_only=True)
class Transaction:
    """The state that all aggregates of a transaction share; `bells` are rung after the commit."""

    connection: Connection
    now: datetime
    origin: Origin
    vault: Vault
    randomness: Randomness
    session_id: UUID | None = None
    api_key: PresentedKey | None = None
    scim_token: PresentedToken | None = None
    bells: set[Bell] = field(default_factory=set["Bell"])


class Aggregate:
    """The SQL of one port of storage, in one transaction."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._connection = transaction.connection
