"""The tables of key pairs with certificates: one for the identity providers of services, one for SAML connections.

The private keys are sealed, each for its own row.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Final, LiteralString
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.deletions import AgedRows
from core.key_certificates import SamlCertificate, SamlSigningKey
from core.secrets import Secret

if TYPE_CHECKING:
    from core.deferred import Deferred

_SEALED: Final = "private_key_sealed"
# The address of the owner of an organization; `{0}` is its id, and the parameter `owner` the role.
OWNER_EMAIL: Final = """
    (SELECT u.email
     FROM   memberships m
     JOIN   users u ON u.id = m.user_id
     WHERE  m.organization_id = {0} AND m.role = %(owner)s AND u.deactivated_at IS NULL)
"""


class KeyCertificates(Aggregate):
    """The port `KeyCertificates`, but for `claim_ending`.

    The key pairs are in `table`, each of one row that its column `owner` names, together with the organization.
    """

    table: ClassVar[LiteralString]
    owner: ClassVar[LiteralString]

    def active(self, organization_id: UUID, owner_id: UUID) -> SamlCertificate | None:
        return self._one(
            SamlCertificate,
            f"""
            SELECT {columns(SamlCertificate)} FROM {self.table}
            WHERE  organization_id = %s AND {self.owner} = %s AND is_active
            """,
            (organization_id, owner_id),
        )

    def published(self, organization_id: UUID, owner_id: UUID, *, at: datetime) -> Sequence[SamlCertificate]:
        return self._all(
            SamlCertificate,
            f"""
            SELECT   {columns(SamlCertificate)} FROM {self.table}
            WHERE    organization_id = %s AND {self.owner} = %s AND (is_active OR published_until > %s)
            ORDER BY is_active DESC, created_at DESC, id DESC
            """,
            (organization_id, owner_id, at),
        )

    def defer_signing_key(self, organization_id: UUID, owner_id: UUID) -> Deferred[SamlSigningKey | None]:
        return self._defer_one(
            self._opened,
            f"""
            SELECT id AS certificate_id, public_key, private_key_sealed
            FROM   {self.table}
            WHERE  organization_id = %s AND {self.owner} = %s AND is_active
            """,
            (organization_id, owner_id),
        )

    def published_keys(self, organization_id: UUID, owner_id: UUID, *, at: datetime) -> Sequence[SamlSigningKey]:
        return self._all(
            self._opened,
            f"""
            SELECT   id AS certificate_id, public_key, private_key_sealed
            FROM     {self.table}
            WHERE    organization_id = %s AND {self.owner} = %s AND (is_active OR published_until > %s)
            ORDER BY is_active DESC, created_at DESC, id DESC
            """,
            (organization_id, owner_id, at),
        )

    def replace_active(
        self,
        organization_id: UUID,
        owner_id: UUID,
        certificate: SamlCertificate,
        *,
        private_pem: Secret,
        previous_published_until: datetime,
    ) -> None:
        place = (organization_id, owner_id)
        if self._transaction.may_delete(AgedRows.RETIRED_CERTIFICATES):
            self._connection.execute_later(
                f"""
                DELETE FROM {self.table}
                WHERE  organization_id = %s AND {self.owner} = %s AND NOT is_active
                  AND  (published_until IS NULL OR published_until <= %s)
                """,
                (*place, self._transaction.now),
            )
        self._connection.execute_later(
            f"""
            UPDATE {self.table}
            SET    is_active = false, published_until = %s
            WHERE  organization_id = %s AND {self.owner} = %s AND is_active
            """,
            (previous_published_until, *place),
        )
        self._connection.execute_later(
            f"""
            INSERT INTO {self.table} ({columns(SamlCertificate)}, organization_id, {self.owner}, private_key_sealed)
            VALUES ({placeholders(SamlCertificate)}, %(organization_id)s, %(owner_id)s, %(private_key_sealed)s)
            """,
            {
                **values(certificate),
                "organization_id": organization_id,
                "owner_id": owner_id,
                "private_key_sealed": self._transaction.vault.seal(
                    private_pem.reveal().encode(), table=self.table, column=_SEALED, row=certificate.id
                ),
            },
        )

    def deactivate_all(self, organization_id: UUID, owner_id: UUID) -> None:
        self._connection.execute_later(
            f"""
            UPDATE {self.table}
            SET    is_active = false, published_until = NULL
            WHERE  organization_id = %s AND {self.owner} = %s
            """,
            (organization_id, owner_id),
        )

    def _opened(self, *, certificate_id: UUID, public_key: str, private_key_sealed: bytes) -> SamlSigningKey:
        private_pem = self._transaction.vault.open(
            private_key_sealed, table=self.table, column=_SEALED, row=certificate_id
        ).decode()
        return SamlSigningKey(
            certificate_id=certificate_id, certificate_pem=public_key, private_pem=Secret(private_pem)
        )
