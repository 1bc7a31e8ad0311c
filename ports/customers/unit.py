"""The part of the unit of work that belongs to the area `customers`."""

from typing import Final, Protocol

from core.customers.setup_callers import SetupCaller
from ports.customers.claiming import CustomerClaims
from ports.customers.claims import TokenPreviews
from ports.customers.customers import ServiceCustomers
from ports.customers.found_customers import FoundCustomers
from ports.customers.found_products import FoundProducts
from ports.customers.group_rules import CustomerGroupRules
from ports.customers.made_for_us import MadeForUs
from ports.customers.my_applications import MyApplications
from ports.customers.own_customers import OwnCustomers
from ports.customers.people import CustomerPeople
from ports.customers.people_events import PeopleEvents
from ports.customers.product_sign_ins import ProductSignIns
from ports.customers.products import Products
from ports.customers.refused_sign_ins import RefusedSignIns
from ports.customers.restoration import EndedCustomers
from ports.customers.service_settings import ServiceRoleUses
from ports.customers.setup_links import CustomerSetupLinks
from ports.customers.setup_progress import CustomerSetupProgresses
from ports.customers.usage import CustomerUsages


class CustomersUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    def enter_setup(self, caller: SetupCaller) -> None:
        """Let a vendor act in the internal organization of a customer too, besides the organization of the request."""
        ...

    service_customers: Final[ServiceCustomers]
    customer_claims: Final[CustomerClaims]
    ended_customers: Final[EndedCustomers]
    made_for_us: Final[MadeForUs]
    products: Final[Products]
    found_customers: Final[FoundCustomers]
    found_products: Final[FoundProducts]
    service_role_uses: Final[ServiceRoleUses]
    customer_people: Final[CustomerPeople]
    token_previews: Final[TokenPreviews]
    refused_sign_ins: Final[RefusedSignIns]
    product_sign_ins: Final[ProductSignIns]
    own_customers: Final[OwnCustomers]
    my_applications: Final[MyApplications]
    people_events: Final[PeopleEvents]
    customer_usage: Final[CustomerUsages]
    customer_setup_progress: Final[CustomerSetupProgresses]
    customer_setup_links: Final[CustomerSetupLinks]
    customer_group_rules: Final[CustomerGroupRules]
