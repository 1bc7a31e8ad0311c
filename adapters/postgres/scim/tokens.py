"""SCIM tokens in their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.scim.tokens import ScimCaller, ScimToken

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.scim.authority import Authority
    from core.scim.tokens import PresentedToken

CALLERS: Final = """
    SELECT t.id AS token_id, t.name AS token_name, t.token_hash, t.last_used_at, t.expires_at, t.maker_role,
           t.maker_permissions, o.id AS organization_id, o.status AS organization_status
    FROM   scim_tokens t
    JOIN   organizations o ON o.id = t.organization_id
    WHERE  t.prefix = %s
"""


class PostgresScimTokens(Aggregate):
    """The port `ScimTokens`."""

    def callers(self, token: PresentedToken) -> Sequence[ScimCaller]:
        return (
            self._connection.cursor(row_factory=kwargs_row(ScimCaller), binary=True)
            .execute(CALLERS, (token.prefix,))
            .fetchall()
        )

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
    ) -> None:
        self._connection.execute_later(
            """
            INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, expires_at, created_at, created_by,
                                     maker_role, maker_permissions)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                token.id,
                organization_id,
                token.name,
                token.prefix,
                token_hash,
                token.expires_at,
                token.created_at,
                created_by,
                authority.role,
                authority.permissions,
            ),
        )

    def of_organization(self, organization_id: UUID) -> Sequence[ScimToken]:
        return (
            self._connection.cursor(row_factory=kwargs_row(ScimToken))
            .execute(
                """
                SELECT   id, name, prefix, created_at, expires_at, last_used_at
                FROM     scim_tokens
                WHERE    organization_id = %s
                ORDER BY created_at DESC, id DESC
                """,
                (organization_id,),
            )
            .fetchall()
        )

    def remove(self, organization_id: UUID, token_id: UUID) -> ScimToken | None:
        return (
            self._connection.cursor(row_factory=kwargs_row(ScimToken))
            .execute(
                """
                DELETE FROM scim_tokens
                WHERE  organization_id = %s AND id = %s
                RETURNING id, name, prefix, created_at, expires_at, last_used_at
                """,
                (organization_id, token_id),
            )
            .fetchone()
        )
