"""Impersonation sessions."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from core.platform.impersonation import ImpersonatedUser, Impersonation
from core.secrets import Secret
from core.sessions.tokens import TokenGrant

ENDS_AT = datetime(2026, 2, 3, 5, 5, 6, tzinfo=UTC)


def test_an_impersonation_ends_with_its_session() -> None:
    grant = TokenGrant(
        user_id=UUID(int=1),
        session_id=UUID(int=2),
        client_id=None,
        claims={},
        session_expires_at=ENDS_AT,
        refresh_token=Secret("refresh"),
    )

    impersonation = Impersonation(
        grant=grant, user=ImpersonatedUser(id=UUID(int=1), email="ada@example.org"), audit_log_id=UUID(int=3)
    )

    assert impersonation.expires_at == ENDS_AT
