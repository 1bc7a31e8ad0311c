"""Sessions, and their callers: the query of every authenticated request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.session_kinds import SessionKind
from adapters.postgres.sessions.callers import (
    IS_LIVE,
    OWN_REFRESHABLE,
    REFRESHABLE,
    CallersBySession,
    live_at,
    refreshable_row,
)
from core.organizations.organizations import OWNER
from core.parts import ROWS_AT_ONCE_MAX
from core.sessions.caller_limits import Confinement
from core.sessions.refresh import Refreshable
from core.sessions.sessions import EndedImpersonation, EndedSession, Session

# Revokes live sessions of a user; each statement inserts its own condition.
_REVOKE: Final = f"""
    UPDATE sessions s
    SET    revoked_at = %(now)s
    WHERE  user_id = %(user_id)s AND {IS_LIVE}
"""
_REVOKED: Final = "RETURNING id, organization_id"
# What an organization ends takes only those children along that belong to it.
_OF_ORGANIZATION: Final = "AND (%(organization_id)s::uuid IS NULL OR organization_id = %(organization_id)s)"

# What `Confinement.covers` says, with the values of `within_values`.
WITHIN: Final = """
    (((confined_to = %(within)s AND (%(within_service)s::uuid IS NULL OR confined_to_service = %(within_service)s))
      OR (organization_id = %(within)s AND service_id IS NOT NULL
          AND (%(within_service)s::uuid IS NULL OR service_id = %(within_service)s)))
     AND (%(within_service)s::uuid IS NULL OR customer_id IS NOT DISTINCT FROM %(within_customer)s))
"""
# It exchanges the token of a session only where `core/sessions/refresh.py` has nothing to refuse: no client has asked,
# and the organization, if there is one, is active, has its user as a member, and requires no second factor.
_EXCHANGED_OWN: Final = f"""
    UPDATE sessions s
    SET    refresh_hash = %(new_hash)s, refreshed_at = %(now)s,
           exchanged_at = (%(now)s || s.exchanged_at)[:%(remembered_max)s]
    FROM   ({OWN_REFRESHABLE}) AS found
    WHERE  s.id = found."session.id" AND s.refresh_hash = %(old_hash)s AND s.revoked_at IS NULL
      AND  found.scopes IS NULL
      AND  (found."place.organization_id" IS NULL
            OR (found."place.organization_status" = 'active' AND found."place.role" IS NOT NULL
                AND NOT found."place.requires_mfa"))
    RETURNING found.*
"""


class PostgresSessions(CallersBySession):
    """The port `Sessions`."""

    def add(self, session: Session, *, refresh_hash: bytes) -> None:
        if session.customer_id is not None:
            self._transaction.session_kinds.add(session.id, SessionKind.WHOLE)
        self._connection.execute_later(
            f"""
            INSERT INTO sessions ({columns(Session, without=("confinement",))}, refresh_hash, confined_to,
                                  confined_to_service, connection_id, confined_to_role, lacks_connection)
            VALUES ({placeholders(Session, without=("confinement",))}, %(refresh_hash)s, %(confined_to)s,
                    %(confined_to_service)s, %(connection_id)s, %(confined_to_role)s, %(lacks_connection)s)
            """,
            values(session) | _limits(session.confinement) | {"refresh_hash": refresh_hash},
        )

    def find_refreshable(self, session_id: UUID, *, is_limited: bool = False) -> Refreshable | None:
        return self._of_session(refreshable_row, OWN_REFRESHABLE, REFRESHABLE, session_id, is_limited=is_limited)

    def exchange(self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int) -> bool:
        return self._changes_one(
            """
            UPDATE sessions
            SET    refresh_hash = %s, refreshed_at = %s, exchanged_at = (%s || exchanged_at)[:%s]
            WHERE  id = %s AND refresh_hash = %s AND revoked_at IS NULL
            """,
            (new_hash, self._transaction.now, self._transaction.now, remembered_max, session_id, old_hash),
        )

    def exchange_own(
        self, session_id: UUID, *, old_hash: bytes, new_hash: bytes, remembered_max: int
    ) -> Refreshable | None:
        if self._transaction.session_kinds.of(session_id) is not SessionKind.OWN:
            return None
        return self._one(
            refreshable_row,
            _EXCHANGED_OWN,
            {
                "old_hash": old_hash,
                "new_hash": new_hash,
                "remembered_max": remembered_max,
                **self._known(session_id),
            },
        )

    def hand_over(self, session_id: UUID, *, new_hash: bytes) -> None:
        self._connection.execute_later(
            f"""
            UPDATE sessions s
            SET    refresh_hash = %(new_hash)s, refreshed_at = %(now)s, exchanged_at = '{{}}'
            WHERE  id = %(session_id)s AND {IS_LIVE}
            """,
            {"new_hash": new_hash, **self._known(session_id)},
        )

    def lock_refresh_hash(self, session_id: UUID) -> bytes | None:
        return self._value_or_none(
            f"SELECT refresh_hash FROM sessions s WHERE id = %(session_id)s AND {IS_LIVE} FOR NO KEY UPDATE",
            {"session_id": session_id, **live_at(self._transaction.now)},
        )

    def move(self, session_id: UUID, *, organization_id: UUID, new_hash: bytes, remembered_max: int) -> None:
        self._connection.execute_later(
            """
            UPDATE sessions
            SET    organization_id = %s, service_id = NULL, refresh_hash = %s, refreshed_at = %s,
                   exchanged_at = (%s || exchanged_at)[:%s]
            WHERE  id = %s
            """,
            (organization_id, new_hash, self._transaction.now, self._transaction.now, remembered_max, session_id),
        )

    def leave_organization(self, session_id: UUID) -> None:
        self._connection.execute_later("UPDATE sessions SET organization_id = NULL WHERE id = %s", (session_id,))

    def add_methods(self, session_id: UUID, methods: Sequence[str]) -> None:
        self._connection.execute_later(
            """
            UPDATE sessions
            SET    amr = amr || ARRAY(SELECT method FROM unnest(%s::text[]) AS method WHERE method <> ALL (amr))
            WHERE  id = %s
            """,
            (list(methods), session_id),
        )

    def alive_of(self, user_id: UUID) -> Sequence[Session]:
        return self._all(
            _session,
            f"""
            SELECT   {columns(Session, without=("confinement", "bounded_until"))}, confined_to, confined_to_service,
                     connection_id, lacks_connection
            FROM     sessions s
            WHERE    user_id = %(user_id)s AND {IS_LIVE}
            ORDER BY refreshed_at DESC, id DESC
            """,
            {"user_id": user_id, **live_at(self._transaction.now)},
        )

    def revoke(self, session_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        return self._revoked(f"{_REVOKE} AND id = %(session_id)s {_REVOKED}", user_id, session_id=session_id)

    def revoke_each(self, session_ids: Sequence[UUID], *, user_id: UUID) -> Sequence[UUID | None]:
        text = f"{_REVOKE} AND id = ANY (%(session_ids)s) {_REVOKED}"
        return self._revoked(text, user_id, session_ids=list(session_ids))

    def revoke_all(self, user_id: UUID, *, except_session_id: UUID | None = None) -> Sequence[UUID | None]:
        text = f"{_REVOKE} AND id IS DISTINCT FROM %(except_session_id)s {_REVOKED}"
        return self._revoked(text, user_id, except_session_id=except_session_id)

    def revoke_within(
        self, limits: Confinement, *, user_id: UUID, except_session_id: UUID | None
    ) -> Sequence[UUID | None]:
        return self._revoked(
            f"{_REVOKE} AND {WITHIN} AND id IS DISTINCT FROM %(except_session_id)s {_REVOKED}",
            user_id,
            except_session_id=except_session_id,
            **within_values(limits),
        )

    def revoke_of_device(self, device_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        return self._revoked(f"{_REVOKE} AND device_id = %(device_id)s {_REVOKED}", user_id, device_id=device_id)

    def revoke_in_organization(self, organization_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        # With sessions that the organization's own identity provider has begun on the platform, and sessions at
        # services that it uses as a customer.
        text = f"""
            {_REVOKE}
            AND (organization_id = %(organization_id)s OR confined_to = %(organization_id)s
                 OR customer_id = ANY (ARRAY(SELECT id FROM service_customers
                                             WHERE  organization_id = %(organization_id)s))
                 -- By a vendor's setup for a customer, of people who are no members of the customer.
                 OR (s.customer_id = ANY (ARRAY(SELECT internal_of FROM organizations WHERE id = %(organization_id)s))
                     AND NOT EXISTS (SELECT FROM service_customers c
                                     JOIN   memberships k ON k.organization_id = c.organization_id
                                                         AND k.user_id = s.user_id
                                     WHERE  c.id = s.customer_id)))
            {_REVOKED}
        """
        return self._revoked(text, user_id, organization_id=organization_id)

    def revoke_by_any_connection(self, user_id: UUID, *, except_session_id: UUID) -> Sequence[UUID | None]:
        text = f"{_REVOKE} AND connection_id IS NOT NULL AND id <> %(except_session_id)s {_REVOKED}"
        return self._revoked(text, user_id, except_session_id=except_session_id)

    def revoke_of_service(self, service_id: UUID, *, user_id: UUID) -> Sequence[UUID | None]:
        return self._revoked(f"{_REVOKE} AND service_id = %(service_id)s {_REVOKED}", user_id, service_id=service_id)

    def revoke_by_connection(self, organization_id: UUID, connection_id: UUID) -> Sequence[EndedSession]:
        return self._revoked_in_parts(
            f"""
            UPDATE sessions s
            SET    revoked_at = %(now)s
            FROM   users u
            WHERE  s.id = ANY (ARRAY(SELECT s.id
                                     FROM   sessions s
                                     WHERE  s.connection_id = %(connection_id)s
                                       AND  s.confined_to = %(organization_id)s AND {IS_LIVE}
                                     LIMIT  %(limit)s))
              AND  u.id = s.user_id AND {IS_LIVE}
            RETURNING u.id AS user_id, u.email
            """,
            {
                "organization_id": organization_id,
                "connection_id": connection_id,
                **live_at(self._transaction.now),
            },
        )

    def _revoked_in_parts(self, text: LiteralString, values: Mapping[str, Any]) -> Sequence[EndedSession]:
        """Run a statement that ends at most `limit` sessions, until it ends none.

        A run that ends fewer may only have found sessions that another transaction has ended meanwhile.
        """
        ended: list[EndedSession] = []
        while part := self._all(EndedSession, text, {**values, "limit": ROWS_AT_ONCE_MAX}):
            ended += part
        return ended

    def narrow_to_member(self, organization_id: UUID, role: str, user_ids: Sequence[UUID] | None = None) -> None:
        self._connection.execute_later(
            """
            UPDATE sessions s
            SET    confined_to_role = 'member'
            FROM   upstream_connections c
            WHERE  c.organization_id = %(organization_id)s AND s.connection_id = c.id
              AND  c.joins_as IS DISTINCT FROM %(role)s
              AND  s.confined_to = %(organization_id)s AND s.confined_to_role = %(role)s
              AND  (%(user_ids)s::uuid[] IS NULL OR s.user_id = ANY (%(user_ids)s))
            """,
            {
                "organization_id": organization_id,
                "role": role,
                "user_ids": list(user_ids) if user_ids is not None else None,
            },
        )

    def revoke_not_by_connection(
        self, organization_id: UUID, connection_id: UUID, *, domain: str
    ) -> Sequence[EndedSession]:
        return self._revoked_in_parts(
            f"""
            WITH ending AS MATERIALIZED (
                SELECT s.id, u.email
                FROM   users u
                JOIN   (SELECT user_id FROM memberships WHERE organization_id = %(organization_id)s
                        UNION
                        SELECT user_id FROM service_users WHERE organization_id = %(organization_id)s) AS people
                       ON people.user_id = u.id
                JOIN   sessions s ON s.user_id = u.id AND s.connection_id IS DISTINCT FROM %(connection_id)s
                WHERE  substring(u.email FROM '@([^@]*)$') = %(domain)s AND NOT u.is_platform_owner
                  AND  NOT EXISTS (SELECT FROM memberships m
                                   WHERE  m.organization_id = %(organization_id)s AND m.user_id = u.id
                                     AND  m.role = %(owner)s AND m.suspended_at IS NULL)
                  AND  (s.organization_id = %(organization_id)s
                        -- Not sessions that are confined to another organization.
                        OR (s.organization_id IS NULL
                            AND coalesce(s.confined_to, %(organization_id)s) = %(organization_id)s))
                  AND  s.impersonator_id IS NULL
                  AND  {IS_LIVE}
                LIMIT  %(limit)s
            )
            UPDATE sessions s
            SET    revoked_at = %(now)s
            FROM   ending
            WHERE  s.id = ending.id AND {IS_LIVE}
            RETURNING s.user_id, ending.email
            """,
            {
                "organization_id": organization_id,
                "connection_id": connection_id,
                "domain": domain,
                "owner": OWNER,
                **live_at(self._transaction.now),
            },
        )

    def _revoked(
        self, text: LiteralString, user_id: UUID, **values: UUID | Sequence[UUID] | None
    ) -> Sequence[UUID | None]:
        common_values = {"user_id": user_id, **live_at(self._transaction.now)}
        ended = self._connection.execute(text, {**common_values, **values}).fetchall()
        if ended:
            # A statement of its own: it sees what was committed while the one above waited for a lock.
            self._connection.execute_later(
                "UPDATE sessions SET revoked_at = %s WHERE impersonator_session_id = ANY (%s) AND revoked_at IS NULL",
                (self._transaction.now, [session_id for session_id, _ in ended]),
            )
            ended += self._connection.execute(
                f"{_REVOKE} AND parent_id = ANY (%(parents)s) {_OF_ORGANIZATION} {_REVOKED}",
                {
                    "organization_id": None,
                    **common_values,
                    **values,
                    "parents": [session_id for session_id, _ in ended],
                },
            ).fetchall()
        return [organization_id for _, organization_id in ended]

    def end_impersonations_begun_in(self, session_id: UUID) -> Sequence[EndedImpersonation]:
        return self._all(
            EndedImpersonation,
            f"""
            UPDATE sessions s
            SET    revoked_at = %(now)s
            WHERE  impersonator_session_id = %(session_id)s AND {IS_LIVE}
            RETURNING id AS session_id, user_id, organization_id
            """,
            {"session_id": session_id, **live_at(self._transaction.now)},
        )

    def end_impersonations(self, user_id: UUID) -> None:
        self._connection.execute_later(
            """
            UPDATE sessions
            SET    revoked_at = %s
            WHERE  (impersonator_id = %s OR (user_id = %s AND impersonator_id IS NOT NULL)) AND revoked_at IS NULL
            """,
            (self._transaction.now, user_id, user_id),
        )


def within_values(limits: Confinement | None) -> dict[str, UUID | None]:
    """Return the values of `WITHIN`; without limits they are null."""
    if limits is None:
        return {"within": None, "within_service": None, "within_customer": None}
    return {
        "within": limits.organization_id,
        "within_service": limits.service_id,
        "within_customer": limits.customer_id,
    }


def _limits(confinement: Confinement | None) -> dict[str, Any]:
    return {
        "confined_to": confinement.organization_id if confinement is not None else None,
        "confined_to_service": confinement.service_id if confinement is not None else None,
        "connection_id": confinement.connection_id if confinement is not None else None,
        "confined_to_role": confinement.role if confinement is not None else None,
        "lacks_connection": confinement is not None and confinement.lacks_connection,
    }


def _session(
    *,
    confined_to: UUID | None,
    confined_to_service: UUID | None,
    connection_id: UUID | None,
    lacks_connection: bool,
    **columns: Any,
) -> Session:
    if confined_to is None:
        return Session(**columns)
    confinement = Confinement(
        organization_id=confined_to,
        service_id=confined_to_service,
        connection_id=connection_id,
        lacks_connection=lacks_connection,
    )
    return Session(confinement=confinement, **columns)
