"""The part of the unit of work that belongs to the area `billing`."""

from typing import Final, Protocol

from ports.billing.cancellations import BillingCancellations
from ports.billing.checkout import BillingCheckouts
from ports.billing.customers import BillingCustomers
from ports.billing.events import BillingEvents
from ports.billing.own_subscriptions import SubscriptionsOfUser
from ports.billing.sandbox import Sandbox
from ports.billing.subscriptions import BillingSubscriptions


class BillingUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    billing_cancellations: Final[BillingCancellations]
    billing_checkouts: Final[BillingCheckouts]
    billing_customers: Final[BillingCustomers]
    billing_events: Final[BillingEvents]
    own_subscriptions: Final[SubscriptionsOfUser]
    billing_subscriptions: Final[BillingSubscriptions]
    sandbox: Final[Sandbox]
