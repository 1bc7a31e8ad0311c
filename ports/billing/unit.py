"""The part of the unit of work that belongs to the area `billing`."""

from typing import Protocol

from ports.billing.cancellations import BillingCancellations
from ports.billing.checkout import BillingCheckouts
from ports.billing.customers import BillingCustomers
from ports.billing.events import BillingEvents
from ports.billing.own_subscriptions import SubscriptionsOfUser
from ports.billing.sandbox import Sandbox
from ports.billing.subscriptions import BillingSubscriptions


class BillingUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def billing_cancellations(self) -> BillingCancellations: ...

    @property
    def billing_checkouts(self) -> BillingCheckouts: ...

    @property
    def billing_customers(self) -> BillingCustomers: ...

    @property
    def billing_events(self) -> BillingEvents: ...

    @property
    def own_subscriptions(self) -> SubscriptionsOfUser: ...

    @property
    def billing_subscriptions(self) -> BillingSubscriptions: ...

    @property
    def sandbox(self) -> Sandbox: ...
