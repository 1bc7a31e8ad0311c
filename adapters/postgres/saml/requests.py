"""Requests of service providers in the table `saml_requests`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.saml.identity_providers import SamlProvider
from core.saml.messages import SamlStatus, StatusOf
from core.saml.requests import OpenTarget, PendingRequest, Terms
from core.sign_in.proofs import Target

if TYPE_CHECKING:
    from core.deferred import Deferred

# Also the loser of a race finds no row to return.
_ADD: Final = f"""
    INSERT INTO saml_requests ({columns(PendingRequest)}, state_hash, browser_hash)
    VALUES ({placeholders(PendingRequest)}, %(state_hash)s, %(browser_hash)s)
    ON CONFLICT (service_id, message_id) DO NOTHING
"""


class PostgresSamlRequests(Aggregate):
    """The port `SamlRequests`."""

    def add(self, pending: PendingRequest, *, state_hash: bytes, browser_hash: bytes) -> Deferred[bool]:
        return self._defer_changes_one(
            _ADD,
            {
                **values(pending),
                "terms": Jsonb(_stored(pending.terms)),
                "state_hash": state_hash,
                "browser_hash": browser_hash,
            },
        )

    def find(
        self, provider: SamlProvider, *, state_hash: bytes, browser_hash: bytes, at: datetime
    ) -> PendingRequest | None:
        return self._one(
            _pending,
            f"""
            SELECT {columns(PendingRequest)}
            FROM   saml_requests
            WHERE  state_hash = %s AND browser_hash = %s AND organization_id = %s AND service_id = %s
              AND  answered_at IS NULL AND expires_at > %s
            """,
            (state_hash, browser_hash, provider.organization_id, provider.service_id, at),
        )

    def claim(self, pending: PendingRequest, *, at: datetime) -> Deferred[bool]:
        return self._defer_changes_one(
            """
            UPDATE saml_requests
            SET    answered_at = %s
            WHERE  id = %s AND organization_id = %s AND answered_at IS NULL
            """,
            (at, pending.id, pending.organization_id),
        )

    def open_target(self, state_hash: bytes, *, at: datetime) -> OpenTarget | None:
        return self._one(
            _open_target,
            """
            SELECT r.organization_id, r.service_id, r.customer, o.slug AS organization_slug, s.slug AS service_slug
            FROM   saml_requests r
            JOIN   organizations o ON o.id = r.organization_id AND o.status <> 'deleting'
            JOIN   services s      ON s.organization_id = r.organization_id AND s.id = r.service_id
            WHERE  r.state_hash = %s AND r.answered_at IS NULL AND r.expires_at > %s
            """,
            (state_hash, at),
        )

    def put_ticket(
        self, state_hash: bytes, *, ticket_hash: bytes, session_id: UUID, at: datetime, expires_at: datetime
    ) -> tuple[str, str] | None:
        return self._connection.execute(
            """
            UPDATE saml_requests r
            SET    ticket_hash = %s, ticket_session_id = %s, ticket_expires_at = %s
            FROM   organizations o, services s
            WHERE  r.state_hash = %s AND r.answered_at IS NULL AND r.expires_at > %s
              AND  o.id = r.organization_id AND o.status <> 'deleting'
              AND  s.organization_id = r.organization_id AND s.id = r.service_id
            RETURNING o.slug, s.slug
            """,
            (ticket_hash, session_id, expires_at, state_hash, at),
        ).fetchone()

    def renew_ticket(
        self, pending: PendingRequest, *, ticket_hash: bytes, session_id: UUID, expires_at: datetime
    ) -> None:
        self._connection.execute_later(
            """
            UPDATE saml_requests
            SET    ticket_hash = %s, ticket_session_id = %s, ticket_expires_at = %s
            WHERE  id = %s AND organization_id = %s AND answered_at IS NULL
            """,
            (ticket_hash, session_id, expires_at, pending.id, pending.organization_id),
        )

    def use_ticket(self, request_id: UUID, ticket_hash: bytes, *, at: datetime) -> tuple[UUID, UUID] | None:
        # The ids in RETURNING are the new ones, so the row is locked and read first.
        return self._connection.execute(
            """
            WITH ticket AS (
                SELECT r.id, r.ticket_session_id, s.user_id
                FROM   saml_requests r
                JOIN   sessions s ON s.id = r.ticket_session_id
                WHERE  r.id = %s AND r.ticket_hash = %s AND r.ticket_expires_at > %s
                FOR UPDATE OF r)
            UPDATE saml_requests r
            SET    ticket_hash = NULL, ticket_session_id = NULL, ticket_expires_at = NULL
            FROM   ticket
            WHERE  r.id = ticket.id
            RETURNING ticket.ticket_session_id, ticket.user_id
            """,
            (request_id, ticket_hash, at),
        ).fetchone()


def _stored(terms: Terms) -> dict[str, Any]:
    refusal = terms.refusal
    return {**values(terms), "refusal": [refusal.first, refusal.second] if refusal is not None else None}


def _open_target(*, organization_id: UUID, service_id: UUID, **columns: Any) -> OpenTarget:
    return OpenTarget(target=Target(organization_id=organization_id, service_id=service_id), **columns)


def _pending(*, terms: dict[str, Any], **columns: Any) -> PendingRequest:
    refusal, context_classes = terms.pop("refusal"), terms.pop("context_classes")
    return PendingRequest(
        terms=Terms(
            context_classes=tuple(context_classes),
            refusal=_status(*refusal) if refusal is not None else None,
            **terms,
        ),
        **columns,
    )


def _status(first: str, second: str | None) -> StatusOf:
    return StatusOf(first=SamlStatus(first), second=SamlStatus(second) if second is not None else None)
