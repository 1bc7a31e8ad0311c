"""The links by which customers are claimed, in the table `customer_claims`, and what claiming changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg.errors import UniqueViolation

from adapters.postgres.domains_in_force import PROVED, in_force_at
from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.customers.claiming import ClaimLink, MadeThings, NamedOwner
from core.customers.relation_log import Relation
from core.services.services import Service

BY_LINK: Final = """
    SELECT k.email, k.expires_at, k.claimed_at,
           c.id AS customer_id, c.vendor_id, v.slug AS vendor_slug, v.name AS vendor_name, s.slug AS service_slug,
           s.name AS service_name, s.client_id, c.external_id, o.id AS customer_organization_id,
           o.slug AS customer_slug, o.name AS customer_name
    FROM   customer_claims k
    JOIN   service_customers c ON c.vendor_id = k.vendor_id AND c.id = k.customer_id AND c.accepted_at IS NOT NULL
    JOIN   services s          ON s.organization_id = c.vendor_id AND s.id = c.service_id
    JOIN   organizations v     ON v.id = c.vendor_id AND v.status = 'active'
    JOIN   organizations o     ON o.id = c.organization_id AND o.status IN ('pending', 'active')
                              AND o.is_unclaimed = (k.claimed_at IS NULL)
    WHERE  k.token_hash = %s AND k.expires_at > %s
"""
# Another organization may take the slug at the same time, or the slug is one that a customer had.
_SETTLE: Final = """
    UPDATE organizations
    SET    name = %(name)s, slug = %(slug)s, is_unclaimed = false, claimed_at = %(at)s, updated_at = %(at)s
    WHERE  id = %(organization_id)s
      AND  (slug = %(slug)s OR NOT EXISTS (SELECT FROM customer_slugs WHERE slug = %(slug)s))
"""
_MADE: Final = """
    SELECT (SELECT count(*) FROM upstream_connections WHERE organization_id = i.id)              AS connections,
           (SELECT count(*) FROM domain_routes WHERE organization_id = i.id)                     AS mail_domains,
           (SELECT count(*) FROM scim_tokens WHERE organization_id = i.id)                       AS scim_tokens,
           (SELECT count(*) FROM customer_group_rules WHERE organization_id = i.id)              AS group_rules,
           (SELECT count(*) FROM setup_links WHERE organization_id = i.id AND expires_at > %s)   AS setup_links
    FROM   organizations i
    WHERE  i.internal_of = %s
"""


class PostgresCustomerClaims(Aggregate):
    """The port `CustomerClaims`."""

    def put(self, service: Service, customer_id: UUID, owner: NamedOwner, *, token_hash: bytes) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO customer_claims (customer_id, vendor_id, token_hash, {columns(NamedOwner)})
            VALUES (%(customer_id)s, %(vendor_id)s, %(token_hash)s, {placeholders(NamedOwner)})
            ON CONFLICT (customer_id) DO UPDATE
            SET    token_hash = excluded.token_hash, email = excluded.email, created_at = excluded.created_at,
                   expires_at = excluded.expires_at, claimed_at = NULL
            """,
            values(owner)
            | {"customer_id": customer_id, "vendor_id": service.organization_id, "token_hash": token_hash},
        )

    def named(self, service: Service, customer_id: UUID) -> NamedOwner | None:
        return self._one(
            NamedOwner,
            f"SELECT {columns(NamedOwner)} FROM customer_claims WHERE vendor_id = %s AND customer_id = %s",
            (service.organization_id, customer_id),
        )

    def by_token(self, token_hash: bytes, *, at: datetime) -> ClaimLink | None:
        return self._one(_link, BY_LINK, (token_hash, at))

    def settle(self, relation: Relation, *, name: str, slug: str, parts: Sequence[str]) -> bool:
        parameters = {
            "customer_id": relation.customer_id,
            "vendor_id": relation.vendor_id,
            "organization_id": relation.customer_organization_id,
            "name": name,
            "slug": slug,
            "parts": list(parts),
            "at": self._transaction.now,
        }
        self._connection.execute_later(
            """
            UPDATE service_customers
            SET    vendor_setup = %(parts)s, made_name = (SELECT name FROM organizations WHERE id = %(organization_id)s)
            WHERE  organization_id = %(organization_id)s AND id = %(customer_id)s
            """,
            parameters,
        )
        self._connection.execute_later(
            """
            UPDATE customer_claims
            SET    claimed_at = %(at)s
            WHERE  vendor_id = %(vendor_id)s AND customer_id = %(customer_id)s
            """,
            parameters,
        )
        try:
            with self._connection.transaction():
                return self._changes_one(_SETTLE, parameters)
        except UniqueViolation:
            return False

    def withdraw(self, service: Service, customer_id: UUID, *, made_since: datetime) -> bool:
        return self._changes_one(
            """
            DELETE FROM customer_claims
            WHERE  vendor_id = %s AND customer_id = %s AND created_at >= %s AND claimed_at IS NULL
            """,
            (service.organization_id, customer_id, made_since),
        )

    def mail_domains(self, customer_id: UUID) -> Sequence[str]:
        return self._values(
            f"""
            SELECT   domain
            FROM     domain_routes
            WHERE    organization_id = (SELECT id FROM organizations WHERE internal_of = %(customer_id)s)
              AND    {PROVED}
            ORDER BY domain
            """,
            {"customer_id": customer_id, **in_force_at(self._transaction.now)},
        )

    def made_for(self, customer_id: UUID) -> MadeThings:
        return self._one(MadeThings, _MADE, (self._transaction.now, customer_id)) or MadeThings()

    def end_setup_links(self, customer_id: UUID, parts: Sequence[str]) -> int:
        return self._connection.execute(
            """
            DELETE FROM setup_links
            WHERE  organization_id = (SELECT id FROM organizations WHERE internal_of = %s) AND parts && %s
            """,
            (customer_id, list(parts)),
        ).rowcount

    def replace_scim_tokens(self, customer_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE scim_tokens
            SET    token_hash = sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
            WHERE  organization_id = (SELECT id FROM organizations WHERE internal_of = %s)
            """,
            (customer_id,),
        )


def _link(*, email: str, expires_at: datetime, claimed_at: datetime | None, **relation: Any) -> ClaimLink:
    return ClaimLink(email=email, expires_at=expires_at, claimed_at=claimed_at, relation=Relation(**relation))
