"""What events have told vendors of the people of customers: `customer_users_told` and `customer_user_checks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, LiteralString, NamedTuple
from uuid import UUID

from adapters.postgres.customers.people import IS_SEEN
from adapters.postgres.sessions.customer_contexts import CUSTOMER_ROLE, membership_of
from adapters.postgres.sign_in.customer_choices import seen
from adapters.postgres.transaction import Aggregate
from core.customers.people_events import PersonChange, PersonEvent, PersonEventBatch
from core.ids import FIRST_ID

# The most organizations whose changes one transaction reads.
ORGANIZATIONS_MAX: Final = 20
# No two transactions process the same changes.
_LOCK: Final = "SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.customer_user_checks'))"
# The customer role only for a person who has signed in.
_SEEN: Final = seen(f"CASE WHEN own.user_id IS NOT NULL THEN {CUSTOMER_ROLE} END")
# Each step finds the next organization in the index, however many changes each has. The changes of all of them share
# the batch.
NEXT: Final = """
    WITH RECURSIVE turn (organization_id, number) AS (
        (SELECT   organization_id, 1
         FROM     customer_user_checks
         WHERE    organization_id > %(last_turn)s
         ORDER BY organization_id, created_at, id
         LIMIT    1)
        UNION ALL
        SELECT next.organization_id, turn.number + 1
        FROM   turn
        CROSS JOIN LATERAL (SELECT   organization_id
                            FROM     customer_user_checks
                            WHERE    organization_id > turn.organization_id
                            ORDER BY organization_id, created_at, id
                            LIMIT    1) AS next
        WHERE  turn.number < %(organizations_max)s
    ), share AS MATERIALIZED (
        SELECT greatest(1, %(people_max)s / greatest(1, count(*))) AS people FROM turn
    )
    SELECT   turn.organization_id, share.people AS share, noted.id, noted.service_id, noted.customer_id, noted.user_id,
             coalesce(noted.after, %(first_id)s) AS after
    FROM     turn
    CROSS JOIN share
    CROSS JOIN LATERAL (SELECT   *
                        FROM     customer_user_checks
                        WHERE    organization_id = turn.organization_id
                        ORDER BY created_at, id
                        LIMIT    (SELECT people FROM share)) AS noted
    ORDER BY turn.number, noted.created_at, noted.id
"""
# For the planner: arrays from a query have no known length, so that there is one plan for any number.
_CHANGES: Final = """
    unnest((SELECT %(organization_ids)s::uuid[]), (SELECT %(ids)s::uuid[]), (SELECT %(about)s::uuid[]),
           (SELECT %(after)s::uuid[]))
    WITH ORDINALITY AS change (organization_id, id, about, after, number)
"""
# Each change of a service is passed on to its customers, which take the turns of their vendor.
EXPAND: Final = f"""
    WITH passed AS MATERIALIZED (
        SELECT change.organization_id, change.id, customer.id AS customer_id
        FROM   {_CHANGES}
        CROSS JOIN LATERAL (SELECT   c.id
                            FROM     service_customers c
                            WHERE    c.vendor_id = change.organization_id AND c.service_id = change.about
                              AND    c.accepted_at IS NOT NULL AND c.id > change.after
                            ORDER BY c.id
                            LIMIT    %(share)s) AS customer
    ), noted AS (
        INSERT INTO customer_user_checks (id, organization_id, customer_id, created_at)
        SELECT gen_random_uuid(), organization_id, customer_id, clock_timestamp() FROM passed
    )
    SELECT   id, customer_id AS place, NULL::uuid AS organization_id, NULL::uuid AS customer_id, NULL::uuid AS user_id
    FROM     passed
    ORDER BY id, customer_id
"""
# Each person at every service that the organization uses: a person that a vendor knows may no longer be a member.
OF_USERS: Final = f"""
    SELECT   id, place, organization_id, place AS customer_id, user_id
    FROM     (SELECT change.id, customer.id AS place, change.organization_id, change.about AS user_id, change.number,
                     row_number() OVER (PARTITION BY change.organization_id
                                        ORDER BY change.number, customer.id) AS pairs
              FROM   {_CHANGES}
              CROSS JOIN LATERAL (SELECT   c.id
                                  FROM     service_customers c
                                  WHERE    c.organization_id = change.organization_id AND c.accepted_at IS NOT NULL
                                    AND    c.id > change.after
                                  ORDER BY c.id
                                  LIMIT    %(share)s) AS customer) AS pair
    WHERE    pairs <= %(share)s
    ORDER BY number, place
"""
# The members of a customer, and the people that its vendor knows, each read up to the limit. Either organization may
# have made the change.
OF_CUSTOMERS: Final = f"""
    SELECT   change.id, person.user_id AS place, c.organization_id, c.id AS customer_id, person.user_id
    FROM     {_CHANGES}
    JOIN     service_customers c ON c.id = change.about AND change.organization_id IN (c.organization_id, c.vendor_id)
    CROSS JOIN LATERAL (
             SELECT   found.user_id
             FROM     ((SELECT   m.user_id
                        FROM     memberships m
                        WHERE    m.organization_id = c.organization_id AND m.user_id > change.after
                        ORDER BY m.user_id
                        LIMIT    %(share)s)
                       UNION
                       (SELECT   m.user_id
                        FROM     memberships m
                        WHERE    m.made_for = c.id AND m.user_id > change.after
                        ORDER BY m.user_id
                        LIMIT    %(share)s)
                       UNION
                       (SELECT   t.user_id
                        FROM     customer_users_told t
                        WHERE    t.customer_id = c.id AND t.user_id > change.after
                        ORDER BY t.user_id
                        LIMIT    %(share)s)) AS found
             ORDER BY found.user_id
             LIMIT    %(share)s) AS person
    ORDER BY change.number, place
"""
_PAIRS: Final = """
    unnest((SELECT %(organization_ids)s::uuid[]), (SELECT %(customer_ids)s::uuid[]), (SELECT %(user_ids)s::uuid[]))
    AS pair (organization_id, customer_id, user_id)
"""
_CUSTOMER_OF_PAIR: Final = """
    service_customers c ON c.organization_id = pair.organization_id AND c.id = pair.customer_id
"""
# Before what is compared is read: roles that the vendor gives, and the end of a customer, wait for this transaction or
# come before it.
KEEP_TOLD: Final = f"""
    SELECT kept.user_id
    FROM   {_PAIRS}
    JOIN   {_CUSTOMER_OF_PAIR}
    CROSS JOIN LATERAL (SELECT user_id
                        FROM   customer_users_told
                        WHERE  customer_id = c.id AND user_id = pair.user_id
                        FOR    UPDATE) AS kept
"""
CHECK: Final = f"""
    WITH present AS MATERIALIZED (
        SELECT c.vendor_id, c.id AS customer_id, c.external_id, v.client_id, v.slug AS service_slug, pair.user_id,
               c.shares_directory OR seen.is_admitted AS is_told_of_all, t.told, seen.data
        FROM   {_PAIRS}
        JOIN   {_CUSTOMER_OF_PAIR} AND c.accepted_at IS NOT NULL
        JOIN   services v ON v.organization_id = c.vendor_id AND v.id = c.service_id
        -- For the planner: one row by its key, where a join reads all rows of a customer for each person.
        LEFT   JOIN LATERAL (SELECT told
                             FROM   customer_users_told
                             WHERE  customer_id = c.id AND user_id = pair.user_id
                             LIMIT  1) AS t ON true
        LEFT   JOIN LATERAL (
                   SELECT {_SEEN} AS data, cm.made_for IS NOT NULL AS is_admitted
                   FROM   {membership_of("pair.user_id")} AS cm
                   JOIN   users u ON u.id = cm.user_id
                   LEFT   JOIN customer_users own ON own.customer_id = c.id AND own.user_id = cm.user_id
                   WHERE  {IS_SEEN}) AS seen
               ON true),
    changed AS MATERIALIZED (
        SELECT *,
               CASE WHEN data IS NULL AND told IS NOT NULL THEN 'REMOVED'
                    WHEN data IS NOT NULL AND coalesce(told, '') = '' AND is_told_of_all THEN 'ADDED'
                    -- The person has signed in before and is admitted again.
                    WHEN data IS NOT NULL AND told IS DISTINCT FROM md5(data::text) THEN 'CHANGED'
               END AS change
        FROM   present),
    forgotten AS (
        DELETE FROM customer_users_told t
        USING  changed x
        WHERE  x.change = 'REMOVED' AND t.customer_id = x.customer_id AND t.user_id = x.user_id),
    noted AS (
        UPDATE customer_users_told t
        SET    told = md5(x.data::text)
        FROM   changed x
        WHERE  x.change IN ('ADDED', 'CHANGED') AND t.customer_id = x.customer_id AND t.user_id = x.user_id),
    noted_first AS (
        -- A first sign-in may have noted more meanwhile.
        INSERT INTO customer_users_told (customer_id, user_id, told)
        SELECT customer_id, user_id, md5(data::text) FROM changed WHERE change IS NOT NULL AND told IS NULL
        ON CONFLICT DO NOTHING)
    SELECT   change, vendor_id, customer_id, external_id, client_id, service_slug, user_id, data
    FROM     changed
    WHERE    change IS NOT NULL
    ORDER BY customer_id, user_id
"""
CONTINUE: Final = """
    UPDATE customer_user_checks w
    -- Behind the others, so that a change that concerns many delays none.
    SET    after = read.after, created_at = clock_timestamp()
    FROM   unnest(%(ids)s::uuid[], %(after)s::uuid[]) AS read (id, after)
    WHERE  w.id = read.id
"""


class _Change(NamedTuple):
    """A change that waits, of one of a person, a customer or a service; `share` is how many pairs are read of each."""

    organization_id: UUID
    share: int
    id: UUID
    service_id: UUID | None
    customer_id: UUID | None
    user_id: UUID | None
    after: UUID

    @property
    def about(self) -> UUID:
        """The person, the customer or the service."""
        about = self.user_id or self.customer_id or self.service_id
        assert about is not None, "a change is of nothing"
        return about


class _Read(NamedTuple):
    """What a change concerns: a person of a customer, or nothing where it is passed on; and its place in the order."""

    id: UUID
    place: UUID
    organization_id: UUID | None
    customer_id: UUID | None
    user_id: UUID | None


class PostgresPeopleEvents(Aggregate):
    """The port `PeopleEvents`."""

    def check(self, people_max: int, *, last_turn: UUID | None) -> PersonEventBatch | None:
        if not self._value(_LOCK):
            return None
        turns = self._next(people_max, last_turn or FIRST_ID)
        if not turns and last_turn is not None:
            turns = self._next(people_max, FIRST_ID)
        if not turns:
            return None
        taken = [change for one in turns for change in _taken(one)]
        found = [row for kind in _KINDS for row in self._found(kind, taken)]
        self._release(taken, found)
        is_last_turn = len(turns) < ORGANIZATIONS_MAX
        return PersonEventBatch(
            events=self._compared(list({row[2:] for row in found if row.user_id is not None})),
            last_turn=None if is_last_turn else turns[-1][0].organization_id,
        )

    def _next(self, people_max: int, last_turn: UUID) -> list[list[_Change]]:
        """Return the first changes of some organizations, by organization and in their order."""
        changes = self._all(
            _Change,
            NEXT,
            {
                "last_turn": last_turn,
                "organizations_max": ORGANIZATIONS_MAX,
                "people_max": people_max,
                "first_id": FIRST_ID,
            },
        )
        return [list(one) for _, one in groupby(changes, attrgetter("organization_id"))]

    def _found(self, kind: str, taken: Sequence[_Change]) -> list[_Read]:
        changes = [change for change in taken if getattr(change, kind) is not None]
        if not changes:
            return []
        return self._all(
            _Read,
            _KINDS[kind],
            {
                "organization_ids": [change.organization_id for change in changes],
                "ids": [change.id for change in changes],
                "about": [change.about for change in changes],
                "after": [change.after for change in changes],
                "share": changes[0].share,
            },
        )

    def _release(self, taken: Sequence[_Change], found: Sequence[_Read]) -> None:
        """Delete the changes that are worked off, and keep the others for a later turn."""
        done, continued = list[UUID](), list[_Read]()
        read = {change.id: list[_Read]() for change in taken}
        for row in found:
            read[row.id].append(row)
        for _, one in groupby(taken, attrgetter("organization_id")):
            left = taken[0].share
            for change in one:
                rows = read[change.id]
                left -= len(rows)
                if left > 0:
                    done.append(change.id)
                elif rows:
                    continued.append(rows[-1])
        self._connection.execute_later("DELETE FROM customer_user_checks WHERE id = ANY (%s)", (done,))
        if continued:
            self._connection.execute_later(
                CONTINUE, {"ids": [row.id for row in continued], "after": [row.place for row in continued]}
            )

    def _compared(self, pairs: Sequence[tuple[UUID | None, UUID | None, UUID | None]]) -> list[PersonEvent]:
        if not pairs:
            return []
        columns = ("organization_ids", "customer_ids", "user_ids")
        values = {name: list(ids) for name, ids in zip(columns, zip(*pairs, strict=True), strict=True)}
        self._connection.execute_later(KEEP_TOLD, values)
        return self._all(_news, CHECK, values)


_KINDS: Final[Mapping[str, LiteralString]] = {"user_id": OF_USERS, "customer_id": OF_CUSTOMERS, "service_id": EXPAND}


def _taken(changes: Sequence[_Change]) -> list[_Change]:
    """Return which of the first changes of an organization one batch processes.

    That is the first one if it concerns many people, else all changes that concern single persons.
    """
    first, *_ = changes
    return [change for change in changes if change.user_id is not None] if first.user_id is not None else [first]


def _news(*, change: str, data: dict[str, Any] | None, **of: Any) -> PersonEvent:
    seen = data or {"email": None, "name": None, "service_roles": []}
    return PersonEvent(
        change=PersonChange[change],
        email=seen["email"],
        name=seen["name"],
        service_roles=seen["service_roles"],
        **of,
    )
