"""The subjects of tokens of imagined sessions, by the statement that reads the subjects of real ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Final
from uuid import UUID

from adapters.postgres.sessions.callers import counts, live_at, reading_caller, subject_row
from adapters.postgres.sessions.token_additions import additions
from adapters.postgres.transaction import Aggregate
from core.ids import FIRST_ID
from core.services.services import Service
from core.sessions.token_additions import TokenSubject

# In place of a stored session: one by a password that begins now.
_SESSION: Final = """
    (SELECT %(session_id)s::uuid AS id, %(user_id)s::uuid AS user_id, %(organization_id)s::uuid AS organization_id,
            %(service_id)s::uuid AS service_id, NULL::uuid AS device_id, ARRAY['pwd'] AS amr,
            %(now)s::timestamptz AS authenticated_at, %(now)s::timestamptz AS created_at,
            -- The sign-in that the customer requires counts as done: an impersonator needs none.
            %(user_id)s::uuid AS impersonator_id, %(customer_id)s::uuid AS customer_id, NULL::uuid AS confined_to,
            NULL::uuid AS confined_to_service, NULL::uuid AS connection_id, NULL::text AS confined_to_role,
            false AS lacks_connection) s
"""
PREVIEWED: Final = reading_caller(
    additions(counts("dm", "s"), reads_always=True),
    session=_SESSION,
    condition="""
           o.id = %(organization_id)s AND v.organization_id = %(organization_id)s
      AND  u.deactivated_at IS NULL AND u.anonymized_at IS NULL
      AND  (%(customer_id)s::uuid IS NOT NULL
            OR EXISTS (SELECT FROM memberships
                       WHERE  organization_id = %(organization_id)s AND user_id = u.id
                         AND  confirmed_at IS NOT NULL AND suspended_at IS NULL)
            OR EXISTS (SELECT FROM service_users
                       WHERE  organization_id = %(organization_id)s AND service_id = %(service_id)s AND user_id = u.id
                         AND  last_login_at IS NOT NULL))
    """,
)


class PostgresTokenPreviews(Aggregate):
    """The port `TokenPreviews`."""

    def subject(self, service: Service, user_id: UUID, customer_id: UUID | None) -> TokenSubject | None:
        found = self._one(
            subject_row,
            PREVIEWED,
            {
                "session_id": FIRST_ID,
                "user_id": user_id,
                "organization_id": service.organization_id,
                "service_id": service.id,
                "customer_id": customer_id,
                **live_at(self._transaction.now),
            },
        )
        if found is None:
            return None
        limits = replace(found.caller.limits, impersonator_id=None)
        return replace(found, caller=replace(found.caller, limits=limits))
