"""Login events in the table `login_events`, and what a sign-in is compared with, which stands by person beside it.

The log may be spread over machines by its organizations, and no sign-in asks more than one of them: an event is written
where it belongs, and nothing is read. `sign_in_habits` has the newest sign-ins of a person, and `recent_refusals` the
refused ones of the last minutes (0084).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.admissions import IS_SHOWN
from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.sessions.customer_contexts import membership_of
from adapters.postgres.transaction import Aggregate
from core.accounts import sign_in_failures
from core.ids import CLOCKS_DIFFER_MAX
from core.sign_in.login_events import EventPlace, LoginEvent, NamedPlace, RefusedAttempt
from core.sign_in.reasons import FAILED_ATTEMPTS, ROWS_MAX, WAITING, SignInReason
from core.sign_in.risk import FAILURES_MAX, FAILURES_WINDOW, HABIT_SIGN_INS_MAX, HABITS_WINDOW, Habits

if TYPE_CHECKING:
    from core.deferred import Deferred

_HOUR: Final = timedelta(hours=1)
_HOURS_OF_DAY: Final = 24
# A country has two letters (ISO 3166), and they stand one behind the other.
_LETTERS: Final = 2
_NO_COUNTRY: Final = " " * _LETTERS

_KEY: Final = ("id", "user_id", "organization_id")
# A sign-in that goes on after waiting, such as for a second factor, does not report again whether a mailed link or code
# was used; and a later refusal keeps the organization and service of the attempt, even where it names none.
_KEPT: Final = (*_KEY, "mailed_proof", "through_organization_id", "customer_id")
ADD: Final = f"INSERT INTO login_events ({columns(LoginEvent)}) VALUES ({placeholders(LoginEvent)})"
REPLACE: Final = f"""
    {ADD}
    ON CONFLICT (organization_id, id) DO UPDATE
    SET    ({columns(LoginEvent, without=_KEPT)}) = ({columns(LoginEvent, table="excluded", without=_KEPT)}),
           mailed_proof = coalesce(EXCLUDED.mailed_proof, login_events.mailed_proof),
           through_organization_id = CASE WHEN EXCLUDED.success OR EXCLUDED.customer_id IS NOT NULL
                                            OR login_events.customer_id IS NULL
                                          THEN EXCLUDED.through_organization_id
                                          ELSE login_events.through_organization_id END,
           customer_id = CASE WHEN EXCLUDED.success THEN EXCLUDED.customer_id
                              ELSE coalesce(EXCLUDED.customer_id, login_events.customer_id) END
    WHERE  login_events.user_id = EXCLUDED.user_id AND NOT login_events.success
"""
# In place of `ADD`, for an account that does not exist or has its most events: it reads the same part of the log.
LOOK_FOR: Final = """
    DELETE FROM login_events
    WHERE  organization_id = %(organization_id)s AND id = %(id)s AND user_id = %(user_id)s AND NOT success
"""
# A continued attempt counts once, by its last reason.
ADD_REFUSAL: Final = """
    INSERT INTO recent_refusals (id, user_id, organization_id, reason, created_at)
    SELECT %(id)s, %(user_id)s, %(organization_id)s, %(reason)s, %(created_at)s
    WHERE  %(is_stored)s
    ON CONFLICT (id) DO UPDATE
    SET    (organization_id, reason, created_at) = (EXCLUDED.organization_id, EXCLUDED.reason, EXCLUDED.created_at)
"""
ADD_HABIT: Final = """
    INSERT INTO sign_in_habits AS h (user_id, hours, countries, expires_at)
    VALUES (%(user_id)s, ARRAY[%(hour)s::integer], %(country)s, %(expires_at)s)
    ON CONFLICT (user_id) DO UPDATE
    SET    hours = (EXCLUDED.hours || h.hours)[:%(sign_ins_max)s],
           countries = left(EXCLUDED.countries || h.countries, %(letters_max)s),
           expires_at = EXCLUDED.expires_at
"""
_FAILURES: Final = """
    SELECT count(*)
    FROM   (SELECT
            FROM   recent_refusals
            WHERE  user_id = %(user_id)s AND created_at > %(failures_since)s AND reason = ANY (%(failed_attempts)s)
            LIMIT  %(failures_max)s) AS refused
"""
HABITS: Final = f"""
    SELECT h.hours, h.countries, ({_FAILURES}) AS failures,
           (SELECT count(*)
            FROM   (SELECT
                    FROM   recent_refusals
                    WHERE  user_id = %(user_id)s AND created_at > %(failures_since)s AND reason = ANY (%(waiting)s)
                    LIMIT  %(waiting_max)s) AS waiting) AS waiting
    FROM   (SELECT %(user_id)s::uuid AS id) AS u
    LEFT   JOIN sign_in_habits h ON h.user_id = u.id
"""
_IS_KNOWN: Final = """
    (NOT %(is_for_known)s
     OR EXISTS (SELECT FROM memberships m WHERE m.organization_id = o.id AND m.user_id = u.id)
     OR EXISTS (SELECT FROM service_users l WHERE l.organization_id = o.id AND l.user_id = u.id))
"""
# The customer of the service that the attempt names, if it is one to which the user belongs, and has confirmed that.
_FOR_CUSTOMER: Final = f"""
    SELECT c.id, c.organization_id
    FROM   service_customers c
    JOIN   {membership_of("u.id")} AS cm ON cm.confirmed_at IS NOT NULL
    WHERE  c.vendor_id = named.id AND c.service_id = s.id
      AND  (c.id = %(named_customer_id)s::uuid
            OR c.organization_id = (SELECT o.id FROM organizations o WHERE o.slug = %(named_customer)s::text))
"""
# The organization that the attempt names, or else the one through which it was made; never both. It is not deleted
# before the transaction ends. An attempt for a customer of a service belongs to both organizations.
REFUSED: Final = f"""
    SELECT named.id AS organization_id, s.id AS service_id,
           coalesce(customer.organization_id, through.id) AS through_organization_id, customer.id AS customer_id,
           h.hours, h.countries, ({_FAILURES}) AS failures,
           (SELECT count(*)
            FROM   (SELECT
                    FROM   recent_refusals
                    WHERE  user_id = %(user_id)s AND created_at > %(since)s
                    AND    reason = %(reason)s AND organization_id = coalesce(named.id, u.id)
                    LIMIT  %(rows_max)s) AS recent) >= %(rows_max)s AS is_one_too_many
    FROM   (SELECT %(user_id)s::uuid AS id) AS u
    LEFT   JOIN sign_in_habits h ON h.user_id = u.id
    LEFT   JOIN LATERAL (SELECT id FROM organizations o
                         WHERE  o.slug = %(organization_slug)s AND o.status <> 'deleting' AND {IS_SHOWN}
                           AND  {_IS_KNOWN}
                         FOR    KEY SHARE) AS named ON true
    LEFT   JOIN LATERAL (SELECT id FROM organizations o
                         WHERE  %(organization_slug)s::text IS NULL
                         AND    o.id = %(through_organization_id)s AND {_IS_KNOWN}) AS through ON true
    LEFT   JOIN services s ON s.organization_id = named.id AND s.slug = %(service_slug)s
    LEFT   JOIN LATERAL ({_FOR_CUSTOMER}) AS customer ON true
"""


class PostgresLoginEvents(Aggregate):
    """The port `LoginEvents`."""

    def add(self, event: LoginEvent, *, has_waited: bool) -> None:
        self._connection.execute_later(REPLACE if has_waited else ADD, values(event))
        if event.success:
            self._add_habit(event)
        else:
            self._add_refusal(event, is_stored=True)

    def pass_over(self, event: LoginEvent) -> None:
        self._connection.execute_later(LOOK_FOR, values(event))
        self._add_refusal(event, is_stored=False)

    def defer_refused(self, user_id: UUID, reason: SignInReason, named: NamedPlace) -> Deferred[RefusedAttempt]:
        customer = named.customer
        read = self._defer_all(
            self._refused,
            REFUSED,
            self._failures_of(user_id)
            | {
                "reason": reason.value,
                "organization_slug": named.organization_slug,
                "service_slug": named.service_slug,
                "through_organization_id": named.through_organization_id,
                "named_customer_id": customer if isinstance(customer, UUID) else None,
                "named_customer": customer if isinstance(customer, str) else None,
                "is_for_known": named.is_for_known,
                "since": self._transaction.now - sign_in_failures.WINDOW,
                "rows_max": reason.rows_max,
            },
        )
        # It has one row, also for an account that does not exist.
        return lambda: read()[0]

    def defer_habits(self, user_id: UUID) -> Deferred[Habits]:
        read = self._defer_all(
            self._habits,
            HABITS,
            self._failures_of(user_id) | {"waiting": sorted(WAITING), "waiting_max": ROWS_MAX},
        )
        return lambda: read()[0]

    def _failures_of(self, user_id: UUID) -> dict[str, Any]:
        return {
            "user_id": user_id,
            "failures_since": self._transaction.now - FAILURES_WINDOW,
            "failures_max": FAILURES_MAX,
            "failed_attempts": sorted(FAILED_ATTEMPTS),
        }

    def _add_habit(self, event: LoginEvent) -> None:
        country = event.geo_country or ""
        self._connection.execute_later(
            ADD_HABIT,
            {
                "user_id": event.user_id,
                "hour": _hour_of(event.created_at),
                "country": country if len(country) == _LETTERS else _NO_COUNTRY,
                "expires_at": _end_of_month(event.created_at) + HABITS_WINDOW,
                "sign_ins_max": HABIT_SIGN_INS_MAX,
                "letters_max": HABIT_SIGN_INS_MAX * _LETTERS,
            },
        )

    def _add_refusal(self, event: LoginEvent, *, is_stored: bool) -> None:
        self._connection.execute_later(ADD_REFUSAL, values(event) | {"is_stored": is_stored})

    def _refused(
        self,
        *,
        hours: Sequence[int] | None,
        countries: str | None,
        failures: int,
        is_one_too_many: bool,
        **place: UUID | None,
    ) -> RefusedAttempt:
        return RefusedAttempt(
            habits=self._habits(hours=hours, countries=countries, failures=failures, waiting=0),
            place=EventPlace(**place),
            is_one_too_many=is_one_too_many,
        )

    def _habits(self, *, hours: Sequence[int] | None, countries: str | None, failures: int, waiting: int) -> Habits:
        now, kept = self._transaction.now, list[tuple[int, str]]()
        since, until = _hour_of(now - HABITS_WINDOW), _hour_of(now + CLOCKS_DIFFER_MAX)
        for number, hour in enumerate(hours or ()):
            if since < hour <= until:
                kept.append((hour % _HOURS_OF_DAY, (countries or "")[_LETTERS * number :][:_LETTERS]))
        return Habits(
            sign_ins=len(kept),
            countries=sorted({country for _, country in kept} - {_NO_COUNTRY}),
            hours=sorted({hour for hour, _ in kept}),
            failures=failures,
            waiting=waiting,
        )


def _end_of_month(moment: datetime) -> datetime:
    in_next = moment.astimezone(UTC).replace(day=1) + timedelta(days=31)
    return in_next.replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _hour_of(moment: datetime) -> int:
    """Return the number of an hour since 1970, in UTC."""
    return int(moment.timestamp()) // int(_HOUR.total_seconds())
