"""A test kit: a throw-away Gatehouse for the tests of a product, as the pytest fixture `gatehouse`.

The server runs as a process of its own, in an environment of its own, for a whole run of pytest; each test gets a fresh
state of it. What the kit gives tests (people, organizations, tokens, mails, a clock, identity providers) is made by the
interface that every client has, apart from the state and the clock. `../pytest_plugin.py` has the fixtures.
"""

from gatehouse_client.testing.directory import Directory, EntraDirectory
from gatehouse_client.testing.kit import GatehouseKit
from gatehouse_client.testing.mailbox import Mail
from gatehouse_client.testing.parties import MadeCustomer, Organization, Person, Product
from gatehouse_client.testing.providers import EntraProvider, IdentityProvider, OktaProvider
from gatehouse_client.testing.webhooks import Delivery, WebhookReceiver

__all__ = [
    "Delivery",
    "Directory",
    "EntraDirectory",
    "EntraProvider",
    "GatehouseKit",
    "IdentityProvider",
    "MadeCustomer",
    "Mail",
    "OktaProvider",
    "Organization",
    "Person",
    "Product",
    "WebhookReceiver",
]
