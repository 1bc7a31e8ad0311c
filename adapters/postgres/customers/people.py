"""The people of customers as their vendors see them, in the tables `memberships` and `customer_users`."""

from __future__ import annotations

from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.sessions.customer_contexts import IS_ASSIGNED, ROLES, membership_of
from adapters.postgres.sign_in.customer_choices import NAME, SEEN_OF_SIGNED_IN
from adapters.postgres.transaction import Aggregate
from core.customers.customers import ServiceCustomer
from core.customers.people import ChangedPerson, CustomerPeoplePage, CustomerPerson, PeopleSought
from core.limits import COUNTED_MAX
from core.services.services import Service

# Whether the vendor sees a member `cm` with the account `u`, who has signed in if there is a row `own`. It sees the
# people that its own setup admits even before they confirm that, but then nothing of their accounts.
IS_SEEN: Final = f"""
    (cm.suspended_at IS NULL
     AND CASE WHEN cm.confirmed_at IS NOT NULL THEN u.deactivated_at IS NULL ELSE cm.made_for IS NOT NULL END
     AND (c.shares_directory OR own.user_id IS NOT NULL OR cm.made_for IS NOT NULL) AND {IS_ASSIGNED})
"""
# The names of the roles of a service `v` that the vendor gives a person as `own` says.
_OWN_ROLES: Final = """
    ARRAY(SELECT   known.key
          FROM     jsonb_each_text(v.role_ids) AS known
          WHERE    known.value::uuid = ANY (own.own_role_ids)
          ORDER BY known.key)
"""
_SHOWN: Final = f"""
    u.id, u.email, {NAME} AS name, {ROLES} AS service_roles, {_OWN_ROLES} AS own_roles, own.last_sign_in_at,
    coalesce((SELECT metadata
              FROM   service_user_metadata
              WHERE  organization_id = c.vendor_id AND service_id = c.service_id AND user_id = u.id), '{{}}')
        AS metadata
"""
# Of one customer. Both organizations are named, so that each table is read by a key that begins with one of them.
_CUSTOMER: Final = """
    FROM service_customers c
    JOIN services v ON v.organization_id = c.vendor_id AND v.id = c.service_id
"""
_IS_CUSTOMER: Final = """
    c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s AND c.id = %(customer_id)s
    AND c.organization_id = %(organization_id)s
"""
# Looked up for one person after the other, in the order of the list and only as far as it is read: the planner would
# join all people of a large customer with all accounts.
_ACCOUNT: Final = """
    CROSS JOIN LATERAL (SELECT id, email, name, email_verified_at, deactivated_at
                        FROM   users
                        WHERE  id = cm.user_id
                        OFFSET 0) AS u
"""
_OWN: Final = """
    LEFT JOIN LATERAL (SELECT *
                       FROM   customer_users
                       WHERE  customer_id = c.id AND user_id = cm.user_id
                       OFFSET 0) AS own ON true
"""
# Begins with the people to list: those who have signed in, or all members.
_SIGNED_IN: Final = f"""
    {_CUSTOMER}
    JOIN customer_users own ON own.customer_id = c.id
    JOIN {membership_of("own.user_id")} AS cm ON true
    {_ACCOUNT}
    WHERE {_IS_CUSTOMER}
"""
_MEMBERS: Final = f"""
    {_CUSTOMER}
    JOIN memberships cm ON cm.organization_id = %(organization_id)s
    {_ACCOUNT}
    {_OWN}
    WHERE {_IS_CUSTOMER}
"""
# For a customer with an internal organization: with the people that it admits.
_ADMITTED: Final = f"""
    {_CUSTOMER}
    CROSS JOIN LATERAL (SELECT user_id FROM customer_users WHERE customer_id = c.id
                        UNION
                        SELECT user_id FROM memberships WHERE made_for = c.id
                        UNION
                        SELECT user_id FROM memberships
                        WHERE  organization_id = c.organization_id AND c.shares_directory) AS person
    JOIN {membership_of("person.user_id")} AS cm ON true
    {_ACCOUNT}
    {_OWN}
    WHERE {_IS_CUSTOMER}
"""
_FOUND: Final = f"""
    AND {IS_SEEN}
    AND (%(part)s = '' OR strpos(cm.member_email, %(part)s) > 0 OR strpos(lower({NAME}), %(part)s) > 0)
    AND (%(role)s::text IS NULL OR %(role)s = ANY ({ROLES}))
"""


def _read(pages: LiteralString, people: LiteralString, person: LiteralString) -> LiteralString:
    # A page is found by ids alone, so that little is read of the rows before it. There is at least one row, for the
    # total.
    return f"""
        WITH   {pages}
        SELECT total.people AS total, shown.*
        FROM   total
        LEFT   JOIN LATERAL (SELECT {_SHOWN} {people} AND {person} = ANY (ARRAY(SELECT user_id FROM page))) AS shown
                    ON true
        ORDER  BY shown.id
    """


def _page_of(people: LiteralString, person: LiteralString) -> LiteralString:
    """Return the statement that finds a page, and counts the people in the same step."""
    return _read(
        f"""
               found AS MATERIALIZED (
                   SELECT {person} AS user_id {people} {_FOUND} ORDER BY {person} LIMIT %(found_max)s),
               page AS MATERIALIZED (
                   SELECT user_id FROM found ORDER BY user_id LIMIT %(limit)s OFFSET %(offset)s),
               total AS (
                   SELECT least(count(*), %(counted_max)s) AS people FROM found)
        """,
        people,
        person,
    )


def _page_after(people: LiteralString, person: LiteralString) -> LiteralString:
    """Return the statement of a page that begins after a person."""
    return _read(
        f"""
               page AS MATERIALIZED (
                   SELECT   {person} AS user_id
                   {people} {_FOUND} AND {person} > %(after)s
                   ORDER BY {person}
                   LIMIT    %(limit)s OFFSET %(offset)s),
               total AS (
                   SELECT count(*) AS people FROM (SELECT {people} {_FOUND} LIMIT %(counted_max)s) AS counted)
        """,
        people,
        person,
    )


PAGE_OF_SIGNED_IN: Final = _page_of(_SIGNED_IN, "own.user_id")
PAGE_OF_MEMBERS: Final = _page_of(_MEMBERS, "cm.user_id")
SIGNED_IN_AFTER: Final = _page_after(_SIGNED_IN, "own.user_id")
MEMBERS_AFTER: Final = _page_after(_MEMBERS, "cm.user_id")
PAGE_OF_ADMITTED: Final = _page_of(_ADMITTED, "person.user_id")
ADMITTED_AFTER: Final = _page_after(_ADMITTED, "person.user_id")
PERSON: Final = f"SELECT {_SHOWN} {_SIGNED_IN} AND own.user_id = %(user_id)s AND cm.confirmed_at IS NOT NULL"
FIND: Final = f"SELECT {_SHOWN} {_SIGNED_IN} AND {IS_SEEN} AND own.user_id = %(user_id)s"


class PostgresCustomerPeople(Aggregate):
    """The port `CustomerPeople`."""

    def page(self, service: Service, customer: ServiceCustomer, sought: PeopleSought) -> CustomerPeoplePage:
        if customer.has_internal:
            statement = PAGE_OF_ADMITTED if sought.after is None else ADMITTED_AFTER
        elif customer.shares_directory:
            statement = PAGE_OF_MEMBERS if sought.after is None else MEMBERS_AFTER
        else:
            statement = PAGE_OF_SIGNED_IN if sought.after is None else SIGNED_IN_AFTER
        people, total = self._page_of(
            CustomerPerson,
            statement,
            _of(service, customer)
            | {
                "part": sought.search,
                "role": sought.role,
                "after": sought.after,
                "limit": sought.limit,
                "offset": sought.offset,
                "counted_max": COUNTED_MAX + 1,
                "found_max": max(COUNTED_MAX + 1, sought.offset + sought.limit),
            },
            # Planned for the customer: a large one has most of the people.
            prepare=False,
        )
        return CustomerPeoplePage(users=people, total=total)

    def find(self, service: Service, customer: ServiceCustomer, user_id: UUID) -> CustomerPerson | None:
        return self._one(CustomerPerson, FIND, _of(service, customer) | {"user_id": user_id})

    def lock(self, service: Service, customer: ServiceCustomer, user_id: UUID) -> CustomerPerson | None:
        return self._one(
            CustomerPerson,
            f"{PERSON} FOR UPDATE OF own",
            _of(service, customer) | {"user_id": user_id},
        )

    def set_roles(self, service: Service, customer: ServiceCustomer, user_id: UUID, roles: list[str]) -> ChangedPerson:
        values = _of(service, customer) | {"user_id": user_id, "roles": roles}
        self._connection.execute_later(
            """
            UPDATE customer_users own
            SET    own_role_ids = ARRAY(SELECT known.value::uuid
                                        FROM   services s, jsonb_each_text(s.role_ids) AS known
                                        WHERE  s.organization_id = %(vendor_id)s AND s.id = %(service_id)s
                                          AND  known.key = ANY (%(roles)s::text[]))
            FROM   service_customers c
            WHERE  c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s AND c.id = %(customer_id)s
              AND  own.customer_id = c.id AND own.user_id = %(user_id)s
            """,
            values,
        )
        # The caller tells the vendor.
        told = self._connection.execute(
            f"""
            UPDATE customer_users_told t
            SET    told = md5({SEEN_OF_SIGNED_IN}::text)
            {_SIGNED_IN} AND own.user_id = %(user_id)s AND t.customer_id = c.id AND t.user_id = own.user_id
              AND t.told <> ''
            """,
            values,
        )
        return ChangedPerson(person=self._only(CustomerPerson, PERSON, values), is_told=told.rowcount > 0)


def _of(service: Service, customer: ServiceCustomer) -> dict[str, Any]:
    return {
        "vendor_id": service.organization_id,
        "service_id": service.id,
        "customer_id": customer.id,
        "organization_id": customer.organization_id,
    }
