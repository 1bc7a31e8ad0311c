"""SCIM tokens in their table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.organizations.authority import Authority
from core.organizations.organizations import MadeThrough
from core.prefixed_tokens import PrefixedToken
from core.scim.tokens import ScimCaller, ScimToken

CALLERS: Final = """
    SELECT t.id AS token_id, t.name AS token_name, t.token_hash, t.last_used_at, t.expires_at, t.groups, t.maker_role,
           t.maker_permissions, t.link_roles, o.id AS organization_id, o.status AS organization_status,
           o.internal_of IS NOT NULL AS is_for_customer
    FROM   scim_tokens t
    JOIN   organizations o ON o.id = t.organization_id AND o.status <> 'deleting'
    WHERE  t.prefix = %s
"""


class PostgresScimTokens(Aggregate):
    """The port `ScimTokens`."""

    def callers(self, token: PrefixedToken) -> Sequence[ScimCaller]:
        return self._callers(ScimCaller, CALLERS, (token.prefix,), binary=True)

    def record_use(self, caller: ScimCaller, *, at: datetime) -> None:
        self._connection.execute_later(
            """
            UPDATE scim_tokens
            SET    last_used_at = %s
            WHERE  id = (SELECT id
                         FROM   scim_tokens
                         WHERE  organization_id = %s AND id = %s
                         FOR    NO KEY UPDATE SKIP LOCKED)
            """,
            (at, caller.organization_id, caller.token_id),
        )

    def add(
        self,
        organization_id: UUID,
        token: ScimToken,
        *,
        token_hash: bytes,
        created_by: UUID,
        authority: Authority,
        made_through: MadeThrough | None = None,
    ) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO scim_tokens ({columns(ScimToken)}, organization_id, token_hash, created_by, maker_role,
                                     maker_permissions, link_roles, made_through)
            VALUES ({placeholders(ScimToken)}, %(organization_id)s, %(token_hash)s, %(created_by)s, %(maker_role)s,
                    %(maker_permissions)s, %(link_roles)s, %(made_through)s)
            """,
            {
                **values(token),
                "organization_id": organization_id,
                "token_hash": token_hash,
                "created_by": created_by,
                "maker_role": authority.role,
                "maker_permissions": authority.permissions,
                "link_roles": authority.link_roles,
                "made_through": made_through,
            },
        )

    def of_organization(self, organization_id: UUID) -> Sequence[ScimToken]:
        return self._all(
            ScimToken,
            f"""
            SELECT   {columns(ScimToken)}
            FROM     scim_tokens
            WHERE    organization_id = %s
            ORDER BY created_at DESC, id DESC
            """,
            (organization_id,),
        )

    def remove(self, organization_id: UUID, token_id: UUID) -> ScimToken | None:
        return self._one(
            ScimToken,
            f"DELETE FROM scim_tokens WHERE organization_id = %s AND id = %s RETURNING {columns(ScimToken)}",
            (organization_id, token_id),
        )
