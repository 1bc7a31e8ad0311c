"""The embedded sandbox provider behind the port `BillingGateway`: the use cases of `core/billing/sandbox.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.billing import sandbox
from core.billing.provider import BillingMode, CheckoutOrder, CheckoutSession, NothingForSale, ReadSubscription
from core.billing.provider_customers import CustomerCreation
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxGateway:
    """The port `BillingGateway`, without a network; one that is closed sells nothing, and keeps what it has sold."""

    database: Database
    base_url: str
    is_open: bool = True

    @property
    def mode(self) -> BillingMode:
        return BillingMode.SANDBOX

    async def close(self) -> None:
        """Close nothing: the database is not ours."""

    async def create_customer(self, creation: CustomerCreation) -> str:
        self._require_open()
        return await self.database.transact(sandbox.create_customer, creation)

    async def open_checkout(self, order: CheckoutOrder, *, key: str) -> CheckoutSession:
        self._require_open()
        return await self.database.transact(sandbox.open_checkout, order, base_url=self.base_url, key=key)

    async def open_portal(self, customer_id: str, return_url: str) -> str:
        self._require_open()
        return await self.database.transact(sandbox.open_portal, customer_id, return_url, base_url=self.base_url)

    async def read_subscription(self, subscription_id: str) -> ReadSubscription | None:
        return await self.database.read(sandbox.read_subscription, subscription_id)

    async def cancel_subscription(self, subscription_id: str) -> None:
        await self.database.transact(sandbox.cancel, subscription_id)

    def _require_open(self) -> None:
        if not self.is_open:
            raise NothingForSale
