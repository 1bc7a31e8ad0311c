"""The sign-ins at products in the table `login_events`, each list a range of an index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, LiteralString
from uuid import UUID

from adapters.postgres.affiliations import DIRECTORY_NAME, OF_ROW, OF_ROW_COLUMNS, Affiliations
from adapters.postgres.log_times import kept_values
from adapters.postgres.transaction import Aggregate
from core.customers.product_sign_ins import ProductSignIn
from core.customers.products import Product
from core.ids import first_id_since
from core.sign_in.reasons import SignInReason, reason_of
from core.sign_in.sign_ins import Scope

_AT_PRODUCT: Final = """
    SELECT e.id, e.created_at, e.provider, e.mailed_proof, e.success, e.reason, e.connection_id, e.user_id
    FROM   login_events e
    WHERE  e.organization_id = %(vendor_id)s
      AND  e.through_organization_id = %(organization_id)s AND e.customer_id = %(customer_id)s
      AND  e.id >= %(from_id)s AND e.id < %(end_id)s
"""
_NEWEST: Final = "ORDER BY e.id DESC LIMIT %(limit)s"
# The membership is looked up for each row of the page: the planner would read all members of the organization.
_NAMED: Final = f"""
    SELECT   e.id, e.created_at, e.provider, e.mailed_proof, e.success, e.reason, c.name AS connection_name,
             u.id AS user_id, u.email,
             coalesce(CASE WHEN m.confirmed_at IS NOT NULL AND u.email_verified_at IS NOT NULL THEN u.name END,
                      {DIRECTORY_NAME.format(organization_id="%(organization_id)s", user_id="u.id")}) AS name,
             m.user_id IS NOT NULL AS is_member, {OF_ROW_COLUMNS}
    FROM     page e
    LEFT     JOIN upstream_connections c ON c.id = e.connection_id AND c.organization_id = %(organization_id)s
    {OF_ROW}
    LEFT     JOIN users u ON u.id = standing.user_id
    LEFT     JOIN LATERAL (SELECT user_id, confirmed_at
                           FROM   memberships
                           WHERE  organization_id = %(organization_id)s AND user_id = u.id
                           OFFSET 0) AS m ON true
    ORDER BY e.id DESC
"""

# Who it was, of a sign-in from before the organization had to do with the user.
_OF_STRANGER: Final[dict[str, Any]] = {"user_id": None, "email": None, "name": None, "is_member": False}


def _listed(which: LiteralString) -> LiteralString:
    """Return the statement of a list; each outcome is read separately, so that rows of the other one are not."""
    return f"""
        WITH page AS MATERIALIZED (
            SELECT e.*
            FROM   (({_AT_PRODUCT} AND e.success AND true = ANY (%(outcomes)s) {which} {_NEWEST})
                    UNION ALL
                    ({_AT_PRODUCT} AND NOT e.success AND false = ANY (%(outcomes)s) {which} {_NEWEST})) AS e
            {_NEWEST})
        {_NAMED}
    """


NEWEST_AT_PRODUCT: Final = _listed("")
OF_PERSON_AT_PRODUCT: Final = _listed("AND e.user_id = %(user_id)s AND e.created_at >= %(since)s")


class PostgresProductSignIns(Aggregate):
    """The port `ProductSignIns`."""

    def newest(
        self, organization_id: UUID, product: Product, *, succeeded: bool | None, after: UUID | None, limit: int
    ) -> Sequence[ProductSignIn]:
        values = self._values_of(organization_id, product, succeeded=succeeded, after=after, limit=limit)
        return self._listed(organization_id, self._rows(NEWEST_AT_PRODUCT, values))

    def of_person(
        self, user_id: UUID, scope: Scope, product: Product, *, succeeded: bool | None, after: UUID | None, limit: int
    ) -> Sequence[ProductSignIn]:
        values = self._values_of(scope.organization_id, product, succeeded=succeeded, after=after, limit=limit)
        values["from_id"] = max(values["from_id"], first_id_since(scope.since))
        # Planned with the person each time: a plan for any person may read all sign-ins at the product.
        values |= {"user_id": user_id, "since": scope.since}
        return self._listed(scope.organization_id, self._rows(OF_PERSON_AT_PRODUCT, values, prepare=False))

    def _listed(self, organization_id: UUID, rows: Sequence[dict[str, Any]]) -> Sequence[ProductSignIn]:
        """Return the sign-ins, without the user where the sign-in is from before the user belonged here."""
        return [
            _sign_in(**(row if since is not None and since <= row["created_at"] else row | _OF_STRANGER))
            for row, since in Affiliations(self._transaction).of_rows(organization_id, rows)
        ]

    def _values_of(
        self, organization_id: UUID, product: Product, *, succeeded: bool | None, after: UUID | None, limit: int
    ) -> dict[str, Any]:
        kept = kept_values(self._transaction.now)
        return {
            "organization_id": organization_id,
            "vendor_id": product.vendor_id,
            "customer_id": product.customer_id,
            "outcomes": [True, False] if succeeded is None else [succeeded],
            "from_id": kept["kept_id"],
            "end_id": kept["now_id"] if after is None else min(after, kept["now_id"]),
            "limit": limit,
        }


def _sign_in(*, success: bool, reason: str | None, **columns: Any) -> ProductSignIn:
    # A version after this one may have reasons that this one does not know.
    known = None if success else reason_of(reason) or SignInReason.NOT_RECORDED
    return ProductSignIn(reason=known, **columns)
