"""Deleting invitations that were answered or ended long ago, with the origins of answers without a user.

An invitation can be declined without signing in. Then the audit entry has an address and a user agent, but no user, and
only the invitation says whose they are, should that person be anonymized. So they are deleted with the invitation, as
an anonymization would: the salts go too, and the chain still fits (`core/audit/chain.py`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from adapters.postgres.transaction import Aggregate
from core.audit.chain_verification import ANONYMIZED_IP_ADDRESS, ANONYMIZED_USER_AGENT

# The condition and the expression match the index `invitations_ended`.
_DELETE: Final = """
    DELETE FROM invitations
    WHERE  id = ANY (ARRAY(
        SELECT   id
        FROM     invitations
        WHERE    status <> 'pending' AND coalesce(answered_at, expires_at) <= %s
        ORDER BY coalesce(answered_at, expires_at)
        LIMIT    %s
        FOR UPDATE SKIP LOCKED))
    RETURNING organization_id, id::text
"""
# What a program did with a key of the organization has no user either, and stays.
_FORGET_ORIGINS: Final = """
    UPDATE audit_entries a
    SET    ip_address = %(ip_address)s, user_agent = CASE WHEN a.user_agent IS NOT NULL THEN %(user_agent)s END
    FROM   unnest(%(organizations)s::uuid[], %(ids)s::text[]) AS i (organization_id, id)
    WHERE  a.organization_id = i.organization_id AND a.target_type = 'invitation' AND a.target_id = i.id
      AND  a.actor_user_id IS NULL AND a.ip_address IS NOT NULL AND NOT a.details ? 'organization_key_id'
    RETURNING a.organization_id, a.id
"""
# After the entries, and by a statement of its own: an entry that was being sealed has its seal by now.
_FORGET_SALTS: Final = """
    UPDATE audit_seals s
    SET    salts = s.salts - '{ip_address,user_agent}'::text[]
    FROM   audit_entries a
    JOIN   unnest(%(organizations)s::uuid[], %(ids)s::uuid[]) AS e (organization_id, id)
           ON e.organization_id = a.organization_id AND e.id = a.id
    WHERE  s.organization_id = a.organization_id AND s.position = a.position
"""


class EndedInvitations(Aggregate):
    """The invitations that are kept no longer."""

    def delete(self, ended_until: datetime, limit: int) -> int:
        deleted = self._connection.execute(_DELETE, (ended_until, limit)).fetchall()
        if deleted:
            entries = self._connection.execute(
                _FORGET_ORIGINS,
                {
                    "organizations": [organization_id for organization_id, _ in deleted],
                    "ids": [invitation_id for _, invitation_id in deleted],
                    "ip_address": ANONYMIZED_IP_ADDRESS,
                    "user_agent": ANONYMIZED_USER_AGENT,
                },
            ).fetchall()
            self._connection.execute(
                _FORGET_SALTS,
                {
                    "organizations": [organization_id for organization_id, _ in entries],
                    "ids": [entry_id for _, entry_id in entries],
                },
            )
        return len(deleted)
