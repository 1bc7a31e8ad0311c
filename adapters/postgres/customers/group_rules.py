"""Rules by which groups of a customer's people give roles of a service, in the table `customer_group_rules`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.customers.group_rules import CustomerGroupRule
from core.organizations.group_roles import SCIM
from core.organizations.organizations import MadeThrough

# The ids of the roles with these names that the service of an internal organization has.
_ROLE_IDS: Final = """
    ARRAY(SELECT   known.value::uuid
          FROM     organizations i
          JOIN     service_customers c ON c.id = i.internal_of
          JOIN     services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
          CROSS    JOIN LATERAL jsonb_each_text(v.role_ids) AS known
          WHERE    i.id = %(internal_id)s AND known.key = ANY (%(service_roles)s)
          ORDER BY known.key)
"""


class PostgresCustomerGroupRules(Aggregate):
    """The port `CustomerGroupRules`."""

    def of_customer(self, internal_id: UUID) -> Sequence[CustomerGroupRule]:
        return self._all(
            CustomerGroupRule,
            """
            SELECT   r.id, coalesce(r.connection_id::text, %s) AS source,
                     coalesce(r.group_id::text, r.asserted_group) AS "group", g.display_name AS group_name,
                     ARRAY(SELECT   known.key
                           FROM     jsonb_each_text(v.role_ids) AS known
                           WHERE    known.value::uuid = ANY (r.role_ids)
                           ORDER BY known.key) AS service_roles,
                     r.created_at
            FROM     customer_group_rules r
            JOIN     service_customers c ON c.id = r.customer_id
            JOIN     services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
            LEFT     JOIN directory_groups g ON g.organization_id = r.organization_id AND g.id = r.group_id
            WHERE    r.organization_id = %s
            ORDER BY r.created_at, r.id
            """,
            (SCIM, internal_id),
        )

    def role_names(self, internal_id: UUID) -> Sequence[str]:
        return self._values(
            """
            SELECT   known.key
            FROM     organizations i
            JOIN     service_customers c ON c.id = i.internal_of
            JOIN     services v          ON v.organization_id = c.vendor_id AND v.id = c.service_id
            CROSS    JOIN LATERAL jsonb_each_text(v.role_ids) AS known
            WHERE    i.id = %s
            ORDER BY known.key
            """,
            (internal_id,),
        )

    def add(self, internal_id: UUID, rule: CustomerGroupRule, made_through: MadeThrough | None) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO customer_group_rules (id, organization_id, customer_id, group_id, connection_id,
                                              asserted_group, role_ids, created_at, made_through)
            SELECT %(id)s, id, internal_of, %(group_id)s, %(connection_id)s, %(asserted_group)s, {_ROLE_IDS},
                   %(created_at)s, %(made_through)s
            FROM   organizations
            WHERE  id = %(internal_id)s
            """,
            _values_of(internal_id, rule) | {"made_through": made_through},
        )

    def save(self, internal_id: UUID, rule: CustomerGroupRule) -> None:
        self._connection.execute_later(
            f"""
            UPDATE customer_group_rules
            SET    role_ids = {_ROLE_IDS}
            WHERE  organization_id = %(internal_id)s AND id = %(id)s
            """,
            _values_of(internal_id, rule),
        )

    def remove(self, internal_id: UUID, rule_id: UUID) -> None:
        self._connection.execute_later(
            "DELETE FROM customer_group_rules WHERE organization_id = %s AND id = %s", (internal_id, rule_id)
        )


def _values_of(internal_id: UUID, rule: CustomerGroupRule) -> dict[str, Any]:
    is_of_directory = rule.source == SCIM
    return {
        "internal_id": internal_id,
        "id": rule.id,
        "group_id": UUID(rule.group) if is_of_directory else None,
        "connection_id": None if is_of_directory else UUID(rule.source),
        "asserted_group": None if is_of_directory else rule.group,
        "service_roles": list(rule.service_roles),
        "created_at": rule.created_at,
    }
