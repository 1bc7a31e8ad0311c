"""Upstream connections in their table; the secrets are sealed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg.types.json import Jsonb

from adapters.postgres.driver.rows import dict_row, kwargs_row, scalar_row
from adapters.postgres.transaction import Aggregate
from core.secrets import Secret
from core.sign_in.upstream.connections import Connection, ConnectionType
from core.sign_in.upstream.flows import ProviderClient

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from adapters.postgres.driver.connection import RawConnection

_SECRET: Final = {"table": "upstream_connections", "column": "client_secret_sealed"}


class PostgresUpstreamConnections(Aggregate):
    """The port `UpstreamConnections`."""

    def of_organization(self, organization_id: UUID) -> Sequence[Connection]:
        return (
            self._connection.cursor(row_factory=kwargs_row(_connection))
            .execute(
                """
                SELECT   id, type, name, issuer, client_id, client_secret_sealed IS NOT NULL AS has_secret, scopes,
                         metadata_url, metadata_xml, attribute_mapping, joins_as, trust_mfa, enabled, created_at,
                         updated_at
                FROM     upstream_connections
                WHERE    organization_id = %s
                ORDER BY created_at, id
                """,
                (organization_id,),
            )
            .fetchall()
        )

    def count(self, organization_id: UUID) -> int:
        [count] = (
            self._connection.cursor(row_factory=scalar_row)
            .execute("SELECT count(*) FROM upstream_connections WHERE organization_id = %s", (organization_id,))
            .fetchall()
        )
        return count

    def find(self, organization_id: UUID, connection_id: UUID) -> Connection | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(_connection))
            .execute(
                """
                SELECT id, type, name, issuer, client_id, client_secret_sealed IS NOT NULL AS has_secret, scopes,
                       metadata_url, metadata_xml, attribute_mapping, joins_as, trust_mfa, enabled, created_at,
                       updated_at
                FROM   upstream_connections
                WHERE  organization_id = %s AND id = %s
                """,
                (organization_id, connection_id),
            )
            .fetchone()
        )

    def organization_of(self, connection_id: UUID) -> str | None:
        return (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                """
                SELECT o.slug
                FROM   upstream_connections c
                JOIN   organizations o ON o.id = c.organization_id AND o.status = 'active'
                WHERE  c.id = %s AND c.enabled
                """,
                (connection_id,),
            )
            .fetchone()
        )

    def is_saml(self, connection_id: UUID) -> bool:
        [is_saml] = (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                """
                SELECT EXISTS (SELECT FROM upstream_connections c
                               JOIN   organizations o ON o.id = c.organization_id AND o.status = 'active'
                               WHERE  c.id = %s AND c.type = 'saml')
                """,
                (connection_id,),
            )
            .fetchall()
        )
        return is_saml

    def client_of(self, organization_id: UUID, connection_id: UUID) -> ProviderClient | None:
        row = (
            self._connection.cursor(row_factory=dict_row)
            .execute(
                """
                SELECT client_id, client_secret_sealed FROM upstream_connections
                WHERE  organization_id = %s AND id = %s AND enabled AND client_secret_sealed IS NOT NULL
                """,
                (organization_id, connection_id),
            )
            .fetchone()
        )
        if row is None:
            return None
        opened = self._transaction.vault.open(row["client_secret_sealed"], row=connection_id, **_SECRET)
        return ProviderClient(client_id=row["client_id"], client_secret=Secret(opened.decode()))

    def add(self, organization_id: UUID, connection: Connection, secret: Secret | None) -> None:
        self._connection.execute_later(
            """
            INSERT INTO upstream_connections (id, organization_id, type, name, issuer, client_id, client_secret_sealed,
                                              scopes, metadata_url, metadata_xml, attribute_mapping, joins_as,
                                              trust_mfa, enabled, created_at, updated_at)
            VALUES (%(id)s, %(organization_id)s, %(type)s, %(name)s, %(issuer)s, %(client_id)s, %(secret)s, %(scopes)s,
                    %(metadata_url)s, %(metadata_xml)s, %(attribute_mapping)s, %(joins_as)s, %(trust_mfa)s, %(enabled)s,
                    %(created_at)s, %(updated_at)s)
            """,
            {**self._columns(organization_id, connection, secret), "created_at": connection.created_at},
        )

    def save(self, organization_id: UUID, connection: Connection, secret: Secret | None) -> None:
        self._connection.execute_later(
            """
            UPDATE upstream_connections
            SET    name = %(name)s, issuer = %(issuer)s, client_id = %(client_id)s,
                   client_secret_sealed = coalesce(%(secret)s, client_secret_sealed), scopes = %(scopes)s,
                   metadata_url = %(metadata_url)s, metadata_xml = %(metadata_xml)s,
                   attribute_mapping = %(attribute_mapping)s, joins_as = %(joins_as)s, trust_mfa = %(trust_mfa)s,
                   enabled = %(enabled)s, updated_at = %(updated_at)s,
                   issuer_changed = issuer_changed AND %(secret)s::bytea IS NULL
            WHERE  organization_id = %(organization_id)s AND id = %(id)s
            """,
            self._columns(organization_id, connection, secret),
        )

    def certificates_of(self, organization_id: UUID, connection_id: UUID) -> frozenset[str] | None:
        found = (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                "SELECT certificates FROM upstream_connections WHERE organization_id = %s AND id = %s",
                (organization_id, connection_id),
            )
            .fetchone()
        )
        return frozenset(found) if found is not None else None

    def save_certificates(self, organization_id: UUID, connection_id: UUID, certificates: frozenset[str]) -> None:
        self._connection.execute_later(
            "UPDATE upstream_connections SET certificates = %s WHERE organization_id = %s AND id = %s",
            (sorted(certificates), organization_id, connection_id),
        )

    def has_identities(self, organization_id: UUID, connection_id: UUID) -> bool:
        [has_identities] = (
            self._connection.cursor(row_factory=scalar_row)
            .execute(
                "SELECT EXISTS (SELECT FROM identities WHERE organization_id = %s AND connection_id = %s)",
                (organization_id, connection_id),
            )
            .fetchall()
        )
        return has_identities

    def have_identities(self, organization_id: UUID) -> bool:
        [have_identities] = self._connection.cursor(row_factory=scalar_row).execute(
            "SELECT EXISTS (SELECT FROM identities WHERE organization_id = %s AND connection_id IS NOT NULL)",
            (organization_id,),
        )
        return have_identities

    def unlink_all(self, organization_id: UUID, connection_id: UUID) -> int:
        # The provider that comes next must not get what the one before has answered.
        self._connection.execute_later(
            "DELETE FROM upstream_sign_ins WHERE organization_id = %s AND connection_id = %s",
            (organization_id, connection_id),
        )
        return self._connection.execute(
            "DELETE FROM identities WHERE organization_id = %s AND connection_id = %s", (organization_id, connection_id)
        ).rowcount

    def remove(self, organization_id: UUID, connection_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM upstream_connections WHERE organization_id = %s AND id = %s", (organization_id, connection_id)
        )

    def _columns(self, organization_id: UUID, connection: Connection, secret: Secret | None) -> dict[str, Any]:
        seal = self._transaction.vault.seal
        return {
            "id": connection.id,
            "organization_id": organization_id,
            "type": connection.type.value,
            "name": connection.name,
            "issuer": connection.issuer,
            "client_id": connection.client_id,
            "secret": seal(secret.reveal().encode(), row=connection.id, **_SECRET) if secret is not None else None,
            "scopes": connection.scopes,
            "metadata_url": connection.metadata_url,
            "metadata_xml": connection.metadata_xml,
            "attribute_mapping": Jsonb(connection.attribute_mapping),
            "joins_as": connection.joins_as,
            "trust_mfa": connection.trust_mfa,
            "enabled": connection.enabled,
            "updated_at": connection.updated_at,
        }


def with_changed_issuer(connection: RawConnection) -> list[UUID]:
    """Return the connections whose issuer was changed while their client secret stayed, the oldest first."""
    rows = connection.execute("SELECT id FROM upstream_connections WHERE issuer_changed ORDER BY created_at, id")
    return [connection_id for (connection_id,) in rows.fetchall()]


def _connection(*, type: str, **columns: Any) -> Connection:  # noqa: A002 - a column
    return Connection(type=ConnectionType(type), **columns)
