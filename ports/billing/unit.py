"""The part of the unit of work that belongs to the area `billing`."""

from typing import Final, Protocol

from ports.billing.customers import BillingCustomers
from ports.billing.gateway import BillingCheckouts, Sandbox
from ports.billing.subscriptions import BillingCancellations, BillingEvents, BillingSubscriptions, SubscriptionsOfUser


class BillingUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    billing_cancellations: Final[BillingCancellations]
    billing_checkouts: Final[BillingCheckouts]
    billing_customers: Final[BillingCustomers]
    billing_events: Final[BillingEvents]
    own_subscriptions: Final[SubscriptionsOfUser]
    billing_subscriptions: Final[BillingSubscriptions]
    sandbox: Final[Sandbox]
