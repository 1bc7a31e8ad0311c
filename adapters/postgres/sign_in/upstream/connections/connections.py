"""Upstream connections in their table; the secrets are sealed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.domains_in_force import IN_FORCE, in_force_at
from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.key_certificates import OWNER_EMAIL
from adapters.postgres.sessions.customer_contexts import IS_ACTIVE, IS_WORKING
from adapters.postgres.transaction import Aggregate
from core.key_certificates import Ending
from core.organizations.organizations import OWNER, MadeThrough
from core.secrets import Secret
from core.sign_in.upstream.connections.changes import PublishedMetadata
from core.sign_in.upstream.connections.connections import ConnectionRecord, ConnectionType
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.saml import OwnSide

_SECRET: Final = {"table": "upstream_connections", "column": "client_secret_sealed"}
# Stored as the sealed secret itself.
_COMPUTED: Final = ("has_secret",)
_CONNECTION: Final = f"""
    SELECT {columns(ConnectionRecord, without=_COMPUTED)}, client_secret_sealed IS NOT NULL AS has_secret
    FROM   upstream_connections
"""
# An address gives new metadata each time, so an end close to the previous one needs no new warning.
CLAIM_ENDING: Final = f"""
    UPDATE upstream_connections c
    SET    metadata_warned_of = c.metadata_valid_until
    FROM   organizations o
    WHERE  c.id = ANY (ARRAY(
        SELECT   e.id
        FROM     upstream_connections e
        JOIN     organizations t ON t.id = e.organization_id
        WHERE    e.enabled AND t.status = 'active'
          AND    CASE WHEN e.metadata_url IS NULL
                      THEN e.metadata_valid_until < %(text_before)s
                           AND e.metadata_warned_of IS DISTINCT FROM e.metadata_valid_until
                      ELSE e.metadata_valid_until < %(address_before)s
                           AND coalesce(e.metadata_warned_of < e.metadata_valid_until - interval '30 days', true) END
        ORDER BY e.metadata_valid_until
        LIMIT    %(limit)s
        FOR UPDATE OF e SKIP LOCKED))
      AND  o.id = c.organization_id
    RETURNING c.organization_id, o.name AS organization_name, c.name, c.metadata_valid_until AS ends_at,
              {OWNER_EMAIL.format("c.organization_id")} AS owner_email
"""


class PostgresUpstreamConnections(Aggregate):
    """The port `UpstreamConnections`."""

    def of_organization(self, organization_id: UUID) -> Sequence[ConnectionRecord]:
        return self._all(
            _connection,
            f"{_CONNECTION} WHERE organization_id = %s ORDER BY created_at, id",
            (organization_id,),
        )

    def count(self, organization_id: UUID) -> int:
        return self._value("SELECT count(*) FROM upstream_connections WHERE organization_id = %s", (organization_id,))

    def find(self, organization_id: UUID, connection_id: UUID) -> ConnectionRecord | None:
        return self._one(
            _connection,
            f"{_CONNECTION} WHERE organization_id = %s AND id = %s",
            (organization_id, connection_id),
        )

    def only_of_customer(self, vendor_id: UUID, service_id: UUID, customer_id: UUID) -> UUID | None:
        found = self._value_or_none(
            f"""
            SELECT min(u.id::text)
            FROM   service_customers c
            JOIN   organizations co       ON co.id = c.organization_id AND {IS_WORKING}
            LEFT   JOIN organizations internal ON internal.internal_of = c.id
            JOIN   upstream_connections u ON u.organization_id IN (c.organization_id, internal.id) AND u.enabled
            WHERE  c.vendor_id = %s AND c.service_id = %s AND c.id = %s AND {IS_ACTIVE}
            HAVING count(*) = 1
            """,
            (vendor_id, service_id, customer_id),
        )
        return UUID(found) if found is not None else None

    def own_side(self, connection_id: UUID) -> OwnSide | None:
        return self._one(
            OwnSide,
            """
            SELECT c.organization_id, c.signs_requests
            FROM   upstream_connections c
            JOIN   organizations o ON o.id = c.organization_id AND o.status = 'active'
            WHERE  c.id = %s AND c.type = 'saml'
            """,
            (connection_id,),
        )

    def client_of(
        self, organization_id: UUID, connection_id: UUID, issuer: str, *, is_to_be_tested: bool = False
    ) -> ProviderClient | None:
        row = self._row(
            """
            SELECT client_id, client_secret_sealed FROM upstream_connections
            WHERE  organization_id = %s AND id = %s AND issuer = %s AND (enabled OR %s)
              AND  client_secret_sealed IS NOT NULL
            """,
            (organization_id, connection_id, issuer, is_to_be_tested),
        )
        if row is None:
            return None
        opened = self._transaction.vault.open(row["client_secret_sealed"], row=connection_id, **_SECRET)
        return ProviderClient(client_id=row["client_id"], client_secret=Secret(opened.decode()))

    def add(self, organization_id: UUID, connection: ConnectionRecord, secret: Secret | None) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO upstream_connections ({columns(ConnectionRecord, without=_COMPUTED)}, organization_id,
                                              client_secret_sealed, was_on, metadata_since)
            VALUES ({placeholders(ConnectionRecord, without=_COMPUTED)}, %(organization_id)s, %(secret)s, %(enabled)s,
                    CASE WHEN %(metadata_url)s::text IS NOT NULL THEN %(created_at)s::timestamptz END)
            """,
            self._parameters(organization_id, connection, secret),
        )

    def save(self, organization_id: UUID, connection: ConnectionRecord, secret: Secret | None) -> None:
        self._connection.execute_later(
            f"""
            UPDATE upstream_connections
            SET    {assignments(ConnectionRecord, without=(*_COMPUTED, "id", "type", "created_at"))},
                   client_secret_sealed = coalesce(%(secret)s, client_secret_sealed),
                   off_reason = CASE WHEN NOT %(enabled)s THEN off_reason END,
                   was_on = was_on OR %(enabled)s,
                   awaits_trial = awaits_trial AND NOT %(enabled)s,
                   metadata_since = CASE WHEN metadata_url = %(metadata_url)s THEN metadata_since
                                         WHEN %(metadata_url)s::text IS NOT NULL THEN %(updated_at)s::timestamptz END,
                   issuer_changed = issuer_changed AND %(secret)s::bytea IS NULL,
                   -- What was checked is not what is stored from now on.
                   checked_at = CASE WHEN (issuer, client_id, metadata_url, metadata_xml)
                                          IS NOT DISTINCT FROM (%(issuer)s, %(client_id)s, %(metadata_url)s,
                                                                %(metadata_xml)s)
                                      AND %(secret)s::bytea IS NULL THEN checked_at END
            WHERE  organization_id = %(organization_id)s AND id = %(id)s
            """,
            self._parameters(organization_id, connection, secret),
        )

    def certificates_of(self, organization_id: UUID, connection_id: UUID) -> frozenset[str] | None:
        found = self._value_or_none(
            "SELECT certificates FROM upstream_connections WHERE organization_id = %s AND id = %s",
            (organization_id, connection_id),
        )
        return frozenset(found) if found is not None else None

    def save_certificates(self, organization_id: UUID, connection_id: UUID, certificates: frozenset[str]) -> None:
        self._connection.execute_later(
            "UPDATE upstream_connections SET certificates = %s WHERE organization_id = %s AND id = %s",
            (sorted(certificates), organization_id, connection_id),
        )

    def save_described(
        self, organization_id: UUID, connection_id: UUID, *, valid_until: datetime | None, signs_requests: bool
    ) -> None:
        self._connection.execute_later(
            """
            UPDATE upstream_connections
            SET    metadata_valid_until = %s, signs_requests = %s
            WHERE  organization_id = %s AND id = %s
            """,
            (valid_until, signs_requests, organization_id, connection_id),
        )

    def claim_ending_metadata(self, *, text_before: datetime, address_before: datetime, limit: int) -> Sequence[Ending]:
        return self._all(
            Ending,
            CLAIM_ENDING,
            {"text_before": text_before, "address_before": address_before, "limit": limit, "owner": OWNER},
        )

    def is_vouched_for(self, organization_id: UUID, connection_id: UUID, *, at_domain: str) -> bool:
        return self._value(
            f"""
            SELECT EXISTS (SELECT
                           FROM   upstream_connections c
                           JOIN   domain_routes r ON r.organization_id = c.organization_id AND r.connection_id = c.id
                           WHERE  c.organization_id = %(organization_id)s AND c.id = %(connection_id)s
                             AND  c.is_vouched_for AND r.vouched_for = c.id AND r.domain = %(domain)s AND {IN_FORCE})
            """,
            {
                "organization_id": organization_id,
                "connection_id": connection_id,
                "domain": at_domain,
                **in_force_at(self._transaction.now),
            },
        )

    def save_vouched_for(self, organization_id: UUID, connection_id: UUID, *, is_vouched_for: bool) -> bool:
        changed = self._connection.execute(
            """
            UPDATE upstream_connections
            SET    is_vouched_for = %(is_vouched_for)s
            WHERE  organization_id = %(organization_id)s AND id = %(id)s AND is_vouched_for <> %(is_vouched_for)s
            """,
            {"organization_id": organization_id, "id": connection_id, "is_vouched_for": is_vouched_for},
        )
        return changed.rowcount > 0

    def takes_certificates(self, organization_id: UUID, connection_id: UUID) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT
                           FROM   upstream_connections c
                           JOIN   identities i ON i.organization_id = c.organization_id AND i.connection_id = c.id
                                              AND i.used_at >= c.metadata_since
                           WHERE  c.organization_id = %s AND c.id = %s AND c.takes_certificates)
            """,
            (organization_id, connection_id),
        )

    def save_taking(self, organization_id: UUID, connection_id: UUID, *, takes_certificates: bool) -> None:
        self._connection.execute_later(
            "UPDATE upstream_connections SET takes_certificates = %s WHERE organization_id = %s AND id = %s",
            (takes_certificates, organization_id, connection_id),
        )

    def with_published_metadata(self, after: UUID | None, limit: int) -> Sequence[PublishedMetadata]:
        return self._all(
            PublishedMetadata,
            """
            SELECT   c.organization_id, c.id AS connection_id, c.metadata_url, c.issuer, c.certificates
            FROM     upstream_connections c
            JOIN     organizations o ON o.id = c.organization_id AND o.status = 'active'
            WHERE    c.enabled AND c.metadata_url IS NOT NULL AND (%(after)s::uuid IS NULL OR c.id > %(after)s)
            ORDER BY c.id
            LIMIT    %(limit)s
            """,
            {"after": after, "limit": limit},
        )

    def were_on(self, organization_id: UUID) -> frozenset[UUID]:
        return frozenset(
            self._values(
                "SELECT id FROM upstream_connections WHERE organization_id = %s AND was_on", (organization_id,)
            )
        )

    def has_identities(self, organization_id: UUID, connection_id: UUID) -> bool:
        return self._value(
            "SELECT EXISTS (SELECT FROM identities WHERE organization_id = %s AND connection_id = %s)",
            (organization_id, connection_id),
        )

    def have_identities(self, organization_id: UUID) -> bool:
        return self._value(
            "SELECT EXISTS (SELECT FROM identities WHERE organization_id = %s AND connection_id IS NOT NULL)",
            (organization_id,),
        )

    def count_uses(self, organization_id: UUID, connection_id: UUID, *, at: datetime) -> tuple[int, int]:
        row = self._row(
            """
            SELECT (SELECT count(*) FROM identities i
                    WHERE  i.organization_id = c.organization_id AND i.connection_id = c.id) AS identities,
                   (SELECT count(*) FROM sessions s
                    WHERE  s.connection_id = c.id AND s.revoked_at IS NULL AND s.expires_at > %s) AS sessions
            FROM   upstream_connections c
            WHERE  c.organization_id = %s AND c.id = %s
            """,
            (at, organization_id, connection_id),
        )
        return (0, 0) if row is None else (row["identities"], row["sessions"])

    def count_without_other_way(self, organization_id: UUID, connection_id: UUID) -> int:
        return self._value(
            """
            SELECT count(*)
            FROM   identities i
            JOIN   users u ON u.id = i.user_id
            WHERE  i.organization_id = %s AND i.connection_id = %s AND u.password_hash IS NULL
              AND  NOT EXISTS (SELECT FROM passkeys p WHERE p.user_id = i.user_id)
              AND  NOT EXISTS (SELECT FROM identities other WHERE other.user_id = i.user_id AND other.id <> i.id)
            """,
            (organization_id, connection_id),
        )

    def forget_groups(self, organization_id: UUID, connection_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE identities
            SET    groups = NULL, has_groups_overage = false
            WHERE  organization_id = %s AND connection_id = %s AND groups IS NOT NULL
            """,
            (organization_id, connection_id),
        )

    def unlink_all(self, organization_id: UUID, connection_id: UUID) -> int:
        # The provider that comes next must not get what the one before has answered.
        self._connection.execute_later(
            "DELETE FROM upstream_sign_ins WHERE organization_id = %s AND connection_id = %s",
            (organization_id, connection_id),
        )
        self._connection.execute_later(
            "DELETE FROM departed_identities WHERE organization_id = %s AND connection_id = %s",
            (organization_id, connection_id),
        )
        # A sign-out under way would take it there.
        self._connection.execute_later(
            """
            UPDATE provider_sessions
            SET    id_token_sealed = NULL
            WHERE  organization_id = %s AND connection_id = %s AND id_token_sealed IS NOT NULL
            """,
            (organization_id, connection_id),
        )
        return self._connection.execute(
            "DELETE FROM identities WHERE organization_id = %s AND connection_id = %s", (organization_id, connection_id)
        ).rowcount

    def remove(self, organization_id: UUID, connection_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM upstream_connections WHERE organization_id = %s AND id = %s", (organization_id, connection_id)
        )

    def _parameters(self, organization_id: UUID, connection: ConnectionRecord, secret: Secret | None) -> dict[str, Any]:
        seal = self._transaction.vault.seal
        return {
            **values(connection),
            "organization_id": organization_id,
            "secret": seal(secret.reveal().encode(), row=connection.id, **_SECRET) if secret is not None else None,
        }

    def begin_setup(self, internal_id: UUID, connection_id: UUID, state: str, made_through: MadeThrough | None) -> None:
        self._connection.execute_later(
            """
            UPDATE upstream_connections
            SET    setup_state = %s, made_through = %s
            WHERE  organization_id = %s AND id = %s
            """,
            (state, made_through, internal_id, connection_id),
        )

    def await_trial(self, organization_id: UUID, connection_id: UUID) -> None:
        self._connection.execute_later(
            "UPDATE upstream_connections SET awaits_trial = true WHERE organization_id = %s AND id = %s",
            (organization_id, connection_id),
        )

    def awaits_trial(self, organization_id: UUID, connection_id: UUID) -> bool:
        return self._value(
            """
            SELECT EXISTS (SELECT FROM upstream_connections
                           WHERE  organization_id = %s AND id = %s AND awaits_trial)
            """,
            (organization_id, connection_id),
        )

    def change_setup(self, organization_id: UUID, connection_id: UUID, state: str) -> bool:
        return self._changes_one(
            """
            UPDATE upstream_connections
            SET    setup_state = %(state)s
            WHERE  organization_id = %(organization_id)s AND id = %(id)s AND setup_state <> %(state)s
            """,
            {"state": state, "organization_id": organization_id, "id": connection_id},
        )


def with_changed_issuer(connection: RawConnection) -> list[UUID]:
    """Return the connections whose issuer was changed while their client secret stayed, the oldest first."""
    rows = connection.execute("SELECT id FROM upstream_connections WHERE issuer_changed ORDER BY created_at, id")
    return [connection_id for (connection_id,) in rows.fetchall()]


def _connection(*, type: str, **columns: Any) -> ConnectionRecord:  # noqa: A002 - a column
    return ConnectionRecord(type=ConnectionType(type), **columns)
