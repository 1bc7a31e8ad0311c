"""What the entries of all logs say while their actor is impersonated."""

from __future__ import annotations

from adapters.postgres.sessions.callers import PostgresCallers
from adapters.postgres.transaction import Transaction
from core.audit.audit_log import IMPERSONATION_SESSION, IMPERSONATOR


def impersonation(transaction: Transaction) -> dict[str, str]:
    """Return the details that say by whom, and in which session, the caller is impersonated; none if not."""
    if transaction.session_id is None:
        return {}
    # A transaction that records something has asked for its caller, unless the session itself is what it is about.
    caller = transaction.caller or PostgresCallers(transaction).of_session(transaction.session_id)
    if caller is None or caller.limits.impersonator_id is None:
        return {}
    return {IMPERSONATOR: str(caller.limits.impersonator_id), IMPERSONATION_SESSION: str(transaction.session_id)}
