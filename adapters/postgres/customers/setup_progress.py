"""How far the setup of customers is, read from what their internal organizations have."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from adapters.postgres.customers.customers import service_values
from adapters.postgres.transaction import Aggregate
from core.customers.setup_progress import CustomerTrouble, MadeSoFar, TroubleKind
from core.services.services import Service
from core.sign_in.upstream.provider_problems import ProviderProblem, problem_of

_OF_ONE_SIGN_IN: Final = [problem.value for problem in ProviderProblem if problem.is_of_one_sign_in]
_PREVENTING: Final = [problem.value for problem in ProviderProblem if problem.prevents]


# Whether the vendor may set a part of a customer `c` up, whose organization is `o`.
_SEES_CONNECTIONS: Final = "(o.is_unclaimed OR 'upstream' = ANY (c.vendor_setup))"
_SEES_DOMAINS: Final = "(o.is_unclaimed OR 'mail_domain' = ANY (c.vendor_setup))"
_SEES_GROUPS: Final = "(o.is_unclaimed OR 'groups' = ANY (c.vendor_setup))"
_SEES_DIRECTORY: Final = "(o.is_unclaimed OR 'scim' = ANY (c.vendor_setup))"
# Each is what fails in the internal organization `i` of a customer `c`, with the same columns. What never failed is
# left out by its own row, because there are many customers, and few of them fail.
_CONNECTIONS: Final = f"""
    SELECT c.id AS customer_id,
           CASE WHEN u.off_reason IS NULL THEN 'connection_failing' ELSE 'connection_off' END AS kind,
           u.name,
           CASE WHEN u.off_reason IS NOT NULL  THEN u.updated_at
                WHEN failure.problem IS NULL   THEN u.checked_at
                ELSE greatest(failure.first_at, sign_ins.last_at) END AS since,
           CASE WHEN u.off_reason IS NULL THEN coalesce(failure.problem, u.check_problem) END AS problem,
           NULL::text AS detail
    FROM   upstream_connections u
    LEFT   JOIN LATERAL (
        SELECT max(used_at) AS last_at
        FROM   identities
        WHERE  organization_id = u.organization_id AND connection_id = u.id) sign_ins ON true
    LEFT   JOIN LATERAL (
        SELECT   problem, first_at
        FROM     upstream_failures
        WHERE    organization_id = u.organization_id AND connection_id = u.id
          AND    (sign_ins.last_at IS NULL
                  OR (last_at > sign_ins.last_at AND problem <> ALL (%(of_one_sign_in)s)))
        ORDER BY last_at DESC, problem
        LIMIT    1) failure ON true
    WHERE  u.organization_id = i.id AND {_SEES_CONNECTIONS}
      AND  (u.off_reason IS NOT NULL OR u.setup_state = 'failing' OR u.check_problem IS NOT NULL)
      AND  (u.off_reason IS NOT NULL OR failure.problem IS NOT NULL
            OR (u.checked_at IS NOT NULL AND u.check_problem = ANY (%(preventing)s)))
"""
_DOMAINS: Final = f"""
    SELECT c.id, CASE WHEN r.status = 'failing' THEN 'domain_failing' ELSE 'domain_unproved' END,
           r.domain, coalesce(r.failing_since, r.checked_at), NULL, NULL
    FROM   domain_routes r
    WHERE  r.organization_id = i.id AND {_SEES_DOMAINS}
      AND  (r.status = 'failing' OR (r.status = 'pending' AND r.checked_at IS NOT NULL))
"""
_DIRECTORIES: Final = f"""
    SELECT c.id, 'directory_expired', t.name, t.expires_at, NULL, NULL
    FROM   scim_tokens t
    WHERE  t.organization_id = i.id AND {_SEES_DIRECTORY} AND t.last_used_at IS NOT NULL AND t.expires_at <= %(at)s
      AND  NOT EXISTS (SELECT FROM scim_tokens valid
                       WHERE  valid.organization_id = t.organization_id
                         AND  (valid.expires_at IS NULL OR valid.expires_at > %(at)s))
"""
# An organization that the vendor has made is no other person's to hear about first.
CLOSED: Final = "(o.is_unclaimed AND o.status IN ('rejected', 'suspended'))"
# Whether anything fails at a customer `c`, whose organization is `o`.
IS_FAILING: Final = f"""
    ({CLOSED} OR EXISTS (
        SELECT FROM organizations i
        WHERE  i.internal_of = c.id
          AND  (EXISTS ({_CONNECTIONS}) OR EXISTS ({_DOMAINS}) OR EXISTS ({_DIRECTORIES}))))
"""
# Whether the setup of an active customer `c` waits for something.
IS_SETTING_UP: Final = f"""
    (c.last_sign_in_at IS NULL AND EXISTS (
        SELECT FROM organizations i
        WHERE  i.internal_of = c.id
          AND  (({_SEES_CONNECTIONS} AND EXISTS (SELECT FROM upstream_connections WHERE organization_id = i.id))
                OR ({_SEES_DIRECTORY} AND EXISTS (SELECT FROM scim_tokens WHERE organization_id = i.id))
                OR EXISTS (SELECT FROM setup_links WHERE organization_id = i.id AND expires_at > %(at)s))))
"""
_OF_THESE: Final = """
    WHERE c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s AND c.id = ANY (%(customer_ids)s)
"""
TROUBLES: Final = f"""
    SELECT   trouble.*
    FROM     service_customers c
    JOIN     organizations o      ON o.id = c.organization_id
    LEFT     JOIN organizations i ON i.internal_of = c.id
    CROSS    JOIN LATERAL (
        ({_CONNECTIONS})
        UNION ALL ({_DOMAINS})
        UNION ALL ({_DIRECTORIES})
        UNION ALL (SELECT c.id, 'organization_' || o.status, '', o.updated_at, NULL, NULL WHERE {CLOSED})) AS trouble
    {_OF_THESE}
    ORDER BY trouble.since DESC, trouble.kind, trouble.name
"""
MADE: Final = f"""
    SELECT c.id AS customer_id,
           (SELECT count(*) FROM upstream_connections
            WHERE  organization_id = i.id AND {_SEES_CONNECTIONS}) AS connections,
           (SELECT count(*) FROM upstream_connections
            WHERE  organization_id = i.id AND setup_state = 'tested' AND {_SEES_CONNECTIONS}) AS tested,
           (SELECT count(*) FROM domain_routes
            WHERE  organization_id = i.id AND {_SEES_DOMAINS}) AS mail_domains,
           (SELECT count(*) FROM domain_routes
            WHERE  organization_id = i.id AND status = 'pending' AND {_SEES_DOMAINS}) AS pending_domains,
           (SELECT count(*) FROM scim_tokens
            WHERE  organization_id = i.id AND {_SEES_DIRECTORY}) AS scim_tokens,
           (SELECT count(*) FROM scim_tokens
            WHERE  organization_id = i.id AND last_used_at IS NOT NULL AND {_SEES_DIRECTORY}) AS calling,
           (SELECT count(*) FROM customer_group_rules
            WHERE  organization_id = i.id AND {_SEES_GROUPS}) AS group_rules,
           (SELECT count(*) FROM setup_links
            WHERE  organization_id = i.id AND expires_at > %(at)s) AS setup_links,
           (SELECT count(*) FROM setup_links
            WHERE  organization_id = i.id AND expires_at > %(at)s AND last_used_at IS NOT NULL) AS opened
    FROM   service_customers c
    JOIN   organizations o ON o.id = c.organization_id
    JOIN   organizations i ON i.internal_of = c.id
    {_OF_THESE}
"""


class PostgresCustomerSetupProgresses(Aggregate):
    """The port `CustomerSetupProgresses`."""

    def made(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[MadeSoFar]:
        values = {"customer_ids": list(customer_ids), "at": self._transaction.now}
        return self._all(MadeSoFar, MADE, service_values(service) | values)

    def troubles(self, service: Service, customer_ids: Sequence[UUID]) -> Sequence[CustomerTrouble]:
        values = {"customer_ids": list(customer_ids), **trouble_values(self._transaction.now)}
        return self._all(_trouble, TROUBLES, service_values(service) | values)


def trouble_values(at: datetime) -> dict[str, Any]:
    """Return the values of `IS_FAILING` and `IS_SETTING_UP` at that time."""
    return {"at": at, "of_one_sign_in": _OF_ONE_SIGN_IN, "preventing": _PREVENTING}


def _trouble(*, kind: str, problem: str | None, **columns: Any) -> CustomerTrouble:
    return CustomerTrouble(
        kind=TroubleKind(kind), problem=problem_of(problem) if problem is not None else None, **columns
    )
