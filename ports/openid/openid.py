"""Storage of OAuth and OpenID Connect: clients, requests, codes, devices, ids used once, logout notices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from core.attempts import Attempt
from core.deferred import Deferred
from core.openid.clients import Client
from core.openid.device import DeviceCode, WaitingDevice
from core.openid.logout import LeasedService
from core.openid.requests import StoredRequest
from core.openid.token_grants import AuthorizationCode, UsedCode
from core.sessions.refresh import Refreshable


class Clients(Protocol):
    """Services by their client ids, with the hash of the secret, which only the authentication of clients reads."""

    def find(self, client_id: UUID) -> Client | None:
        """Return a client, in one statement; None when no service has the id."""
        ...

    def audience_among(self, candidates: Sequence[str], organization_id: UUID | None) -> str | None:
        """Return the first of these that is an audience of a service of an active organization; None without one.

        With an organization, only audiences of its services count.
        """
        ...

    def is_organization_known_to(self, organization_id: UUID, user_id: UUID) -> bool:
        """Return whether a user belongs to an organization, or has used one of its services."""
        ...

    def is_child(self, session_id: UUID, *, parent_id: UUID) -> bool:
        """Return whether a session of a service began from this browser session."""
        ...

    def children_with_pages(self, parent_id: UUID) -> Mapping[UUID, str]:
        """Return the front-channel logout pages of the live sessions that began from a browser session."""
        ...

    def with_page(self, session_id: UUID) -> Mapping[UUID, str]:
        """Return the front-channel logout page of one session of a service; empty when its service has none."""
        ...


class AuthorizationRequests(Protocol):
    """Requests that were pushed, or that wait for their user."""

    def add(self, id_hash: bytes, request: StoredRequest, *, expires_at: datetime) -> None:
        """Store a request."""
        ...

    def open(
        self, id_hash: bytes, organization_id: UUID, service_id: UUID, *, expires_at: datetime
    ) -> StoredRequest | None:
        """Return a pushed request of a service; None when it is unknown, used or has expired.

        The first call, when a browser opens the request, replaces its expiry by `expires_at`.
        """
        ...

    def use(self, id_hash: bytes, organization_id: UUID, service_id: UUID, *, is_pushed: bool) -> StoredRequest | None:
        """Use up a request of a service; None when there is none, or it was used or has expired.

        Of several concurrent calls one gets the request.
        """
        ...

    def find(self, id_hash: bytes) -> tuple[UUID, StoredRequest] | None:
        """Return a request with its client id, also when it is used or has expired; None when it is no longer kept."""
        ...


class AuthorizationCodes(Protocol):
    """Codes, each exchanged once."""

    def add(self, code_hash: bytes, code: AuthorizationCode) -> None:
        """Store a code."""
        ...

    def defer_use(self, code_hash: bytes, client_id: UUID) -> Deferred[AuthorizationCode | None]:
        """Defer using up a code of a client; None when there is none, or it was used or has expired.

        Of several calls, also concurrent ones, one gets the code.
        """
        ...

    def defer_session(self, code_hash: bytes) -> Deferred[Refreshable | None]:
        """Defer loading the session that began with a code, without its grant; None when it has ended."""
        ...

    def find_used(self, code_hash: bytes, organization_id: UUID, service_id: UUID) -> UsedCode | None:
        """Return a code of a service that was used, also in this transaction; None when there is none."""
        ...


class DeviceCodes(Protocol):
    """Device codes, and the user codes beside them."""

    def add(self, device_code_hash: bytes, user_code_hash: bytes, device: DeviceCode) -> bool:
        """Store a device; False when another one has the same user code."""
        ...

    def waiting(self, user_code_hash: bytes) -> tuple[DeviceCode, WaitingDevice] | None:
        """Return the device with a user code, answered and expired ones too; None when there is none."""
        ...

    def answer(self, user_code_hash: bytes, *, session_id: UUID | None) -> bool:
        """Approve a device with a session, or deny it without one.

        False when there is none with the code, or it has expired or is answered, also by a concurrent call.
        """
        ...

    def lock(self, device_code_hash: bytes) -> DeviceCode | None:
        """Lock a device until this transaction ends, and return it; None when there is none."""
        ...

    def note_poll(self, device_code_hash: bytes, *, interval: timedelta) -> None:
        """Record that a locked device polls now, and how long it has to wait before the next poll."""
        ...

    def use(self, device_code_hash: bytes) -> None:
        """Use up the code of a locked device."""
        ...


class SingleUses(Protocol):
    """Ids of proofs and assertions, each good for one use, which other parties choose.

    What may be used once is claimed by a conditional write that one of two racers wins, and its test races them.
    """

    def claim(self, id_hash: bytes, *, until: datetime) -> bool:
        """Use an id up, and remember it until that time; of several concurrent calls one returns True."""
        ...

    def defer_has(self, id_hash: bytes) -> Deferred[bool]:
        """Defer reading whether an id was used up."""
        ...


class LogoutNotices(Protocol):
    """Notices for services; the database itself adds them when a session ends."""

    def postpone_inactive(self, *, services_max: int, until: datetime) -> None:
        """Postpone the services that are due first and whose organization is inactive until that time."""
        ...

    def lease(
        self, *, services_max: int, of_organization_max: int, notices_max: int, leased_until: datetime
    ) -> Sequence[LeasedService]:
        """Lease services whose queue is due, each with its due notices.

        Services of the organization with the fewest leased services come first, then those that have waited longest.
        At most `of_organization_max` services of an organization are leased at once. No other process leases a service
        before `release` or the end of its lease.
        """
        ...

    def remove(self, organization_id: UUID, service_id: UUID, notice_id: UUID) -> None:
        """Delete a notice."""
        ...

    def postpone(
        self, organization_id: UUID, service_id: UUID, notice_id: UUID, *, attempts: int, until: datetime
    ) -> None:
        """Record how often a notice was tried, and when it is due again; do nothing if it was recorded already."""
        ...

    def release(self, organization_id: UUID, service_id: UUID, *, leased_until: datetime) -> None:
        """End this lease, unless a later one has begun, and record when the service's next notice is due."""
        ...


class LogoutSender(Protocol):
    """Posts logout tokens; a failure of the receiver is returned, not raised."""

    async def send(self, organization_id: UUID, uri: str, logout_token: str) -> Attempt:
        """Post a token of an organization, and return the outcome, within 15 seconds."""
        ...
