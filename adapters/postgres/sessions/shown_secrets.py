"""The secrets that a page shows once, in the table `shown_secrets`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.secrets import Secret
from core.sessions.shown_secrets import Holder

_SECRETS: Final = {"table": "shown_secrets", "column": "secrets_sealed"}


class PostgresShownSecrets(Aggregate):
    """The port `ShownSecrets`."""

    def add(
        self,
        holder: Holder,
        shown_id: UUID,
        *,
        page: str,
        secrets: Sequence[Secret],
        expires_at: datetime,
        kept_max: int,
    ) -> None:
        texts = json.dumps([secret.reveal() for secret in secrets]).encode()
        self._connection.execute_later(
            """
            INSERT INTO shown_secrets (id, session_id, setup_visit_hash, page, secrets_sealed, expires_at)
            VALUES (%s, %s, %s, %s, %s, %s)
            """,
            (
                shown_id,
                holder.session_id,
                holder.setup_visit_hash,
                page,
                self._transaction.vault.seal(texts, row=shown_id, **_SECRETS),
                expires_at,
            ),
        )
        self._connection.execute_later(
            """
            DELETE FROM shown_secrets
            WHERE  id = ANY (ARRAY(
                SELECT   id
                FROM     shown_secrets
                WHERE    session_id = %(session_id)s OR setup_visit_hash = %(setup_visit_hash)s
                ORDER BY expires_at DESC, id DESC
                OFFSET   %(kept_max)s))
            """,
            {
                "session_id": holder.session_id,
                "setup_visit_hash": holder.setup_visit_hash,
                "kept_max": kept_max,
            },
        )

    def claim(self, holder: Holder, shown_id: UUID, *, page: str) -> tuple[Secret, ...] | None:
        sealed = self._value_or_none(
            """
            DELETE FROM shown_secrets x
            WHERE     x.id = %(id)s AND x.page = %(page)s AND x.expires_at > %(now)s
              AND     (x.setup_visit_hash = %(setup_visit_hash)s
                       OR (x.session_id = %(session_id)s
                           AND EXISTS (SELECT FROM sessions s
                                       WHERE  s.id = x.session_id AND s.revoked_at IS NULL AND s.expires_at > %(now)s)))
            RETURNING x.secrets_sealed
            """,
            {
                "id": shown_id,
                "page": page,
                "now": self._transaction.now,
                "session_id": holder.session_id,
                "setup_visit_hash": holder.setup_visit_hash,
            },
        )
        if sealed is None:
            return None
        texts: list[str] = json.loads(self._transaction.vault.open(sealed, row=shown_id, **_SECRETS))
        return tuple(Secret(text) for text in texts)
