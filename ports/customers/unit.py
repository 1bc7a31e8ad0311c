"""The part of the unit of work that belongs to the area `customers`."""

from typing import Final, Protocol

from core.customers.setup_callers import SetupCaller
from ports.customers.customers import (
    CustomerClaims,
    CustomerUsages,
    EndedCustomers,
    FoundCustomers,
    MadeForUs,
    OwnCustomers,
    ServiceCustomers,
    ServiceRoleUses,
    TokenPreviews,
)
from ports.customers.people import CustomerPeople, PeopleEvents
from ports.customers.products import FoundProducts, MyApplications, Products, ProductSignIns, RefusedSignIns
from ports.customers.setup import CustomerGroupRules, CustomerSetupLinks, CustomerSetupProgresses


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
