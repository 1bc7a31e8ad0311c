"""The part of the unit of work that belongs to the area `customers`."""

from typing import Protocol

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
from ports.customers.people_news import PeopleNews
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
        """Let a vendor act in the internal organization of a customer, by its slug, besides what it acted in before."""
        ...

    @property
    def service_customers(self) -> ServiceCustomers: ...

    @property
    def customer_claims(self) -> CustomerClaims: ...

    @property
    def ended_customers(self) -> EndedCustomers: ...

    @property
    def made_for_us(self) -> MadeForUs: ...

    @property
    def products(self) -> Products: ...

    @property
    def found_customers(self) -> FoundCustomers: ...

    @property
    def found_products(self) -> FoundProducts: ...

    @property
    def service_role_uses(self) -> ServiceRoleUses: ...

    @property
    def customer_people(self) -> CustomerPeople: ...

    @property
    def token_previews(self) -> TokenPreviews: ...

    @property
    def refused_sign_ins(self) -> RefusedSignIns: ...

    @property
    def product_sign_ins(self) -> ProductSignIns: ...

    @property
    def own_customers(self) -> OwnCustomers: ...

    @property
    def my_applications(self) -> MyApplications: ...

    @property
    def people_news(self) -> PeopleNews: ...

    @property
    def customer_usage(self) -> CustomerUsages: ...

    @property
    def customer_setup_progress(self) -> CustomerSetupProgresses: ...

    @property
    def customer_setup_links(self) -> CustomerSetupLinks: ...

    @property
    def customer_group_rules(self) -> CustomerGroupRules: ...
