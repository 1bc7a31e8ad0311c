"""The organization and service of a sign-in, with the membership in it, read in one statement."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.admissions import is_shown
from adapters.postgres.domains_in_force import in_force_at
from adapters.postgres.driver.columns import prefixed, taken
from adapters.postgres.organizations.organizations import organization_row
from adapters.postgres.services.services import service_row
from adapters.postgres.sessions.customer_contexts import IS_ASSIGNED_HERE, IS_GIVEN
from adapters.postgres.sign_in.customer_choices import CUSTOMERS_OF_USER, customers_row
from adapters.postgres.transaction import Aggregate
from core.organizations.organizations import Organization
from core.services.services import Service
from core.sign_in.browser_returns import PAGE_OF_ORGANIZATION
from core.sign_in.places import Place
from core.sign_in.proofs import Target

if TYPE_CHECKING:
    from core.deferred import Deferred

# For a service that is closed to strangers: whether an assignment fits the user, and whether a key gave them access.
_ADMISSION: Final = f"""
    SELECT jsonb_build_object('is_assigned', {IS_ASSIGNED_HERE}, 'is_given', {IS_GIVEN.format(user_id="%(user_id)s")})
    FROM   (SELECT s.id, s.role_ids) AS v
"""
# Of services that are closed, or that have customers.
_OF_CLOSED: Final = f"CASE WHEN s.access <> 'everyone' THEN ({_ADMISSION}) END"
_OF_SOLD: Final = f"CASE WHEN s.customers <> 'none' THEN ({CUSTOMERS_OF_USER}) END"
_OF_ORGANIZATION: Final = "o.slug = %(organization_slug)s"
_BY_SLUG: Final = "AND s.slug = %(service_slug)s"
_VISITED: Final = """
    SELECT l.user_id
    FROM   service_users l
    WHERE  l.service_id = s.id AND l.user_id = %(user_id)s AND l.last_login_at IS NOT NULL
"""
_PLACE: Final = f"""
    SELECT {prefixed(Organization, table="o", prefix="organization_")},
           {prefixed(Service, table="s", prefix="service_")},
           m.id IS NOT NULL           AS is_member,
           m.suspended_at IS NOT NULL AS is_suspended,
           m.confirmed_at IS NOT NULL AS is_confirmed,
           coalesce(m.role = 'owner', false)   AS is_owner,
           m.confirmed_at IS NULL
           AND EXISTS (SELECT FROM scim_profiles p
                       WHERE  p.organization_id = m.organization_id AND p.user_id = m.user_id)
                                      AS is_by_directory,
           {_OF_CLOSED} AS admission,
           visited.user_id IS NULL    AS is_first_visit,
           {_OF_SOLD} AS customers
    FROM      organizations o
    LEFT JOIN services s    ON s.organization_id = o.id {_BY_SLUG}
    LEFT JOIN memberships m ON m.organization_id = o.id AND m.user_id = %(user_id)s
    LEFT JOIN LATERAL ({_VISITED}) AS visited ON true
    WHERE     o.status <> 'deleting' AND {is_shown("o")} AND {_OF_ORGANIZATION}
"""
# PostgreSQL prepares what is behind a false CASE as well: half of the time of the statement.
_OF_OPEN: Final = "AND s.access = 'everyone' AND s.customers = 'none'"


# A return to a page of the console names its organization in the path.
_TARGET: Final = f"""
    WITH kept AS (
        SELECT coalesce(organization_slug, substring(target FROM %(page)s)) AS slug, service_slug
        FROM   browser_returns
        WHERE  id_hash = %(return_hash)s
    )
    SELECT o.id AS organization_id, s.id AS service_id
    FROM      organizations o
    LEFT JOIN kept       ON true
    LEFT JOIN services s ON s.organization_id = o.id AND s.slug = kept.service_slug
    WHERE     o.slug = coalesce((SELECT slug FROM kept), %(organization_slug)s) AND o.status <> 'deleting'
      AND     {is_shown("o")}
"""


class PostgresSignInPlaces(Aggregate):
    """The port `SignInPlaces`."""

    def defer(
        self,
        user_id: UUID,
        organization_slug: str | None,
        service_slug: str | None,
        *,
        holds: bool = False,
    ) -> Deferred[Place]:
        if organization_slug is None:
            return Place
        values = {
            "organization_slug": organization_slug,
            "service_slug": service_slug,
            "user_id": user_id,
            **in_force_at(self._transaction.now),
        }
        found = self._defer_one(_place, _holding(_PLACE) if holds else _PLACE, values)
        return lambda: found() or Place()

    def defer_of_client(self, user_id: UUID, client_id: UUID) -> Deferred[Place]:
        values = {"client_id": client_id, "user_id": user_id, **in_force_at(self._transaction.now)}
        text = _of_client(_PLACE)
        found = self._defer_one(_place, _holding(_open(text)), values)
        return lambda: found() or self._one(_place, _holding(text), values) or Place()

    def defer_target(self, return_hash: bytes | None, organization_slug: str | None) -> Deferred[Target | None]:
        return self._defer_one(
            Target,
            _TARGET,
            {"return_hash": return_hash, "organization_slug": organization_slug, "page": PAGE_OF_ORGANIZATION},
        )


# When it is sent, a statement is made of `_PLACE`: a test that undoes a rule there undoes it for sign-ins too.
@cache
def _holding(text: LiteralString) -> LiteralString:
    """Return a statement that keeps the organization of a place, and the link of a user who has been there before."""
    return f"{text.replace(_VISITED, f'{_VISITED} FOR NO KEY UPDATE')} FOR KEY SHARE OF o"


@cache
def _of_client(text: LiteralString) -> LiteralString:
    """Return a statement that reads the place of a service which is named by its client id."""
    return text.replace(_BY_SLUG, "").replace(_OF_ORGANIZATION, "s.client_id = %(client_id)s")


@cache
def _open(text: LiteralString) -> LiteralString:
    """Return a statement that reads a place, for services that are open to everyone, without customers."""
    for case in (_OF_CLOSED, _OF_SOLD):
        text = text.replace(case, "NULL::jsonb")
    return f"{text} {_OF_OPEN}"


def _place(*, customers: dict[str, Any] | None, admission: dict[str, bool] | None, **columns: Any) -> Place:
    organization, service = taken(columns, "organization_"), taken(columns, "service_")
    known: dict[str, Any] = columns | (admission or {})
    return Place(
        organization=organization_row(**organization),
        service=service_row(**service) if service["id"] is not None else None,
        customers=customers_row(customers) if customers is not None else None,
        **known,
    )
