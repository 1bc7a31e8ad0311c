"""Checkouts in the table `billing_checkouts`."""

from __future__ import annotations

from datetime import datetime

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.billing.checkout import Checkout
from core.billing.provider import BillingMode


class PostgresBillingCheckouts(Aggregate):
    """The port `BillingCheckouts`."""

    def start(self, checkout: Checkout, mode: BillingMode, *, unfinished_since: datetime) -> Checkout:
        # The lock makes concurrent requests for the same purchase one checkout.
        self._connection.execute_later("SELECT FROM users WHERE id = %s FOR NO KEY UPDATE", (checkout.user_id,))
        unfinished = self._one(
            Checkout,
            f"""
            SELECT   {columns(Checkout)}
            FROM     billing_checkouts
            WHERE    session_id IS NULL AND user_id = %s AND plan_id = %s AND mode = %s AND organization_id = %s
              AND    price_id = %s AND success_url = %s AND cancel_url = %s AND created_at >= %s
            ORDER BY created_at DESC
            LIMIT    1
            """,
            (
                checkout.user_id,
                checkout.plan_id,
                mode.value,
                checkout.organization_id,
                checkout.price_id,
                checkout.success_url,
                checkout.cancel_url,
                unfinished_since,
            ),
        )
        if unfinished is not None:
            return unfinished
        self._connection.execute_later(
            f"""
            INSERT INTO billing_checkouts ({columns(Checkout)}, mode)
            VALUES ({placeholders(Checkout)}, %(mode)s)
            """,
            values(checkout) | {"mode": mode.value},
        )
        return checkout

    def finish(self, checkout: Checkout, session_id: str) -> None:
        self._connection.execute_later(
            "UPDATE billing_checkouts SET session_id = %s WHERE organization_id = %s AND id = %s",
            (session_id, checkout.organization_id, checkout.id),
        )

    def remove(self, checkout: Checkout) -> None:
        self._connection.execute_later(
            "DELETE FROM billing_checkouts WHERE organization_id = %s AND id = %s AND session_id IS NULL",
            (checkout.organization_id, checkout.id),
        )
