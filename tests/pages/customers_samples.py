"""The pages of customers and products with sample values: a part of `samples.py`."""

from collections import defaultdict
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from core.customers.assignments import Assignment
from core.customers.customers import EXTERNAL_ID_CHARACTERS_MAX, ServiceCustomer
from core.customers.found_customers import CustomerFigures
from core.customers.found_products import NamedAssignment, NamedGroup, ProductDetail, ProductFigures
from core.customers.people import CustomerPerson
from core.customers.product_sign_ins import ProductSignIn, ProductSignInRows
from core.customers.products import Product, ProductAccess
from core.customers.refused_sign_ins import RefusedSignIn
from core.customers.relations import CustomerState
from core.customers.service_settings import RoleUses
from core.organizations.access import Capability
from core.positions import FoundRows
from core.services.customer_rules import DESCRIPTION_CHARACTERS_MAX, ROLES_MAX, CustomerPolicy, ServiceRole
from core.sign_in.reasons import SignInReason
from entrypoints.pages.console.sign_in_lists import OUTCOME_CHOICES, OUTCOMES
from entrypoints.pages.customers.customers import STATES, CustomerOfferForm, FoundCustomersQuery
from entrypoints.pages.customers.people import CustomerPeopleQuery
from entrypoints.pages.customers.product_sign_ins import ProductSignInsQuery
from entrypoints.pages.customers.products import (
    ACCESSES,
    FoundProductsQuery,
    ProductAcceptanceForm,
    ProductAssignmentForm,
    ProductSightForm,
)
from entrypoints.pages.customers.refused_sign_ins import WORDS
from entrypoints.pages.customers.service_settings import (
    INDIVIDUALS,
    POLICIES,
    CustomerPolicyForm,
    ServiceRoleForm,
    ServiceRoleTextsForm,
)
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM
from tests.pages.services_samples import SERVICE

_ID: Final = UUID(ID)
_CUSTOMER: Final = ServiceCustomer(
    id=_ID,
    organization_id=_ID,
    slug=LONG_SLUG,
    name=NAME,
    external_id="x" * EXTERNAL_ID_CHARACTERS_MAX,
    is_accepted=True,
    is_paused_by_vendor=True,
    is_paused_by_customer=True,
    shares_directory=True,
    last_sign_in_at=NOW,
    created_at=NOW,
)
_OFFER: Final = replace(_CUSTOMER, organization_id=None, name=None, is_accepted=False, external_id=None)
_ROLE: Final = ServiceRole(name="r" * 50, title=NAME, description=f"{NAME} " * 5)
_PERSON: Final = CustomerPerson(
    id=_ID, email=EMAIL, name=NAME, service_roles=["b", "r" * 50], own_roles=["b"], last_sign_in_at=NOW
)
_REFUSED: Final = RefusedSignIn(id=_ID, created_at=NOW, user_id=_ID, email=EMAIL, name=NAME, reason=None)
_OF_SERVICE: Final[dict[str, Any]] = {
    **SERVICE,
    "service": replace(SERVICE["service"], customers=CustomerPolicy.LISTED, roles=[_ROLE, replace(_ROLE, name="b")]),
    "customers": f"{SERVICE['page']}/customers",
    "customer_page": f"{SERVICE['page']}/customers/{ID}",
    "settings": f"{SERVICE['page']}/customers/settings",
    "figures": CustomerFigures(users=10_001, sessions=7),
    "customer": _CUSTOMER,
    "external_id_max": EXTERNAL_ID_CHARACTERS_MAX,
    "description_max": DESCRIPTION_CHARACTERS_MAX,
}
_PRODUCT: Final = Product(
    customer_id=_ID,
    vendor_id=_ID,
    vendor_slug=LONG_SLUG,
    vendor_name=NAME,
    service_id=_ID,
    service_slug=LONG_SLUG,
    service_name=NAME,
    client_id=_ID,
    external_id=None,
    is_accepted=True,
    is_paused_by_vendor=True,
    is_paused_by_customer=False,
    access=ProductAccess.ASSIGNED,
    assignments=[Assignment(subject="everyone", roles=[])],
    shares_directory=False,
    groups=[_ID],
    hidden=True,
    created_at=NOW,
)
_DETAIL: Final = ProductDetail(
    product=_PRODUCT,
    figures=ProductFigures(users=12, sessions=10_001),
    assignments=[
        NamedAssignment(assignment=Assignment(subject="everyone", roles=[]), name=None),
        NamedAssignment(assignment=Assignment(subject=f"role:{LONG_SLUG}", roles=["r" * 50, "b"]), name=None),
        NamedAssignment(assignment=Assignment(subject=f"group:{ID}", roles=[]), name=NAME),
        NamedAssignment(assignment=Assignment(subject=f"user:{ID}", roles=["b"]), name=EMAIL),
    ],
    groups=[NamedGroup(id=_ID, name=NAME)],
    service_roles=[_ROLE, replace(_ROLE, description="")],
    organization_roles=["owner", LONG_SLUG],
)
_SIGN_IN: Final = ProductSignIn(
    id=_ID,
    created_at=NOW,
    provider="upstream",
    reason=SignInReason.CUSTOMER_CLOSED,
    connection_name=NAME,
    user_id=_ID,
    email=EMAIL,
    name=NAME,
    is_member=True,
)
_PRODUCTS: Final = f"/app/organizations/{LONG_SLUG}/products"
_OF_ORGANIZATION: Final[dict[str, Any]] = {
    **CONSOLE,
    "product": _PRODUCT,
    "figures": ProductFigures(users=12, sessions=10_001),
    "products": _PRODUCTS,
    "page": f"{_PRODUCTS}/{ID}",
}

CUSTOMERS_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "customers/customers.html": {
        **_OF_SERVICE,
        "query": FoundCustomersQuery(search=NAME),
        "is_filtered": True,
        "found": FoundRows(found=[_CUSTOMER, _OFFER], total=10_001, next=None),
        "file": "/customers.csv",
        "first": "/first",
        "next": "/next",
        "states": STATES,
        "form": CustomerOfferForm(organization=NAME, external_id=NAME),
        "problems": defaultdict(str, {"organization": PROBLEM}),
        "lacks_offer": None,
    },
    "customers/customers_one.html": {
        **_OF_SERVICE,
        "state": STATES[CustomerState.PAUSED],
        "offered_until": NOW,
        "typed": NAME,
        "problems": defaultdict(str, {"external_id": PROBLEM}),
        "lacks_change": None,
        "lacks_lasting": None,
        "lacks_people": None,
        "refused": [
            (_REFUSED, *WORDS[None], "/why?email=x"),
            (replace(_REFUSED, name=None), *WORDS[SignInReason.CUSTOMER_CLOSED], "/why?email=y"),
        ],
        "lacks_why": None,
    },
    "customers/people.html": {
        **_OF_SERVICE,
        "query": CustomerPeopleQuery(search=NAME, role="b"),
        "is_filtered": True,
        "found": FoundRows(
            found=[_PERSON, replace(_PERSON, name=None, own_roles=[], last_sign_in_at=None)], total=2, next=None
        ),
        "file": "/people.csv",
        "first": "/first",
        "next": "/next",
        "people": f"{SERVICE['page']}/customers/{ID}/people",
        "titles": {"b": NAME},
        "choices": [("", "Every role"), ("b", NAME)],
    },
    "customers/people_one.html": {
        **_OF_SERVICE,
        "person": _PERSON,
        "problems": defaultdict(str, {"roles": PROBLEM}),
        "people": f"{SERVICE['page']}/customers/{ID}/people",
        "service_roles": [NAME, "r" * 50],
        "own_roles": [NAME],
        "boxes": [(one.name, one.title, one.description, None) for one in (_ROLE, replace(_ROLE, name="b"))],
        "chosen": ["b"],
        "why": f"/app/organizations/{LONG_SLUG}/why",
        "lacks_why": Capability.END_USERS_MANAGE,
        "lacks_change": None,
        "is_called_with_key": True,
    },
    "customers/customers_pause.html": _OF_SERVICE,
    "customers/customers_ending.html": _OF_SERVICE,
    "customers/service_settings.html": {
        **_OF_SERVICE,
        "policy": CustomerPolicyForm(customers="any", individuals="none"),
        "role": ServiceRoleForm(name=NAME, title=NAME, description=NAME),
        "start": f"https://app.example.com/{NAME}",
        "tile": f"https://id.example.com/auth/start/{ID}",
        "policies": POLICIES,
        "individuals": INDIVIDUALS,
        "roles_max": ROLES_MAX,
        "problems": defaultdict(str, {"roles": PROBLEM, "customers": PROBLEM, "initiate_login_uri": PROBLEM}),
        "lacks_change": None,
        "lacks_lasting": None,
    },
    "customers/service_settings_role.html": {
        **_OF_SERVICE,
        "role": _ROLE,
        "form": ServiceRoleTextsForm(title=NAME, description=NAME),
        "problems": defaultdict(str, {"roles": PROBLEM}),
        "lacks_change": None,
    },
    "customers/service_settings_removal.html": {
        **_OF_SERVICE,
        "role": _ROLE,
        "uses": RoleUses(assignments=10_001, people=2),
    },
    "customers/products.html": {
        **CONSOLE,
        "query": FoundProductsQuery(search=NAME),
        "is_filtered": True,
        "found": FoundRows(found=[_PRODUCT, replace(_PRODUCT, is_accepted=False)], total=2, next=None),
        "file": "/products.csv",
        "first": "/first",
        "next": "/next",
        "offers": 2,
        "offered": f"{_PRODUCTS}?state=offered",
        "form": ProductAcceptanceForm(client_id=NAME),
        "states": STATES,
        "choices": [("", "Every state"), ("offered", "Offered")],
        "problems": defaultdict(str, {"client_id": PROBLEM}),
        "page": _PRODUCTS,
        "lacks_accepting": None,
        "lacks_change": Capability.PRODUCTS_MANAGE,
    },
    "customers/products_one.html": {
        **_OF_ORGANIZATION,
        "found": _DETAIL,
        "state": STATES[CustomerState.PAUSED],
        "accesses": ACCESSES,
        "access": "assigned",
        "sight": ProductSightForm(hidden="on"),
        "assignment": ProductAssignmentForm(whom="group", named=NAME, roles=["b"]),
        "group": NAME,
        "problems": defaultdict(str, {"named": PROBLEM, "group": PROBLEM, "access": PROBLEM, "whom": PROBLEM}),
        "lacks_sign_ins": None,
        "lacks_change": None,
        "lacks_accepting": None,
        "lacks_lasting": None,
        "lacks_sharing": Capability.ORG_MEMBERS_VIEW,
    },
    "customers/product_sign_ins.html": {
        **_OF_ORGANIZATION,
        "query": ProductSignInsQuery(outcome="refused", person=EMAIL),
        "is_filtered": True,
        "found": ProductSignInRows(
            found=[
                _SIGN_IN,
                replace(_SIGN_IN, reason=None, name=None, connection_name=None, is_member=False),
                replace(_SIGN_IN, user_id=None, email=None, name=None),
            ],
            next=None,
        ),
        "file": "/sign-ins.csv",
        "first": "/first",
        "next": "/next",
        "product_page": f"{_PRODUCTS}/{ID}",
        "page": f"{_PRODUCTS}/{ID}/sign-ins",
        "people": f"/app/organizations/{LONG_SLUG}/people",
        "choices": OUTCOME_CHOICES,
        "outcomes": OUTCOMES,
        "methods": {_ID: NAME},
    },
    "customers/products_pause.html": _OF_ORGANIZATION,
    "customers/products_ending.html": _OF_ORGANIZATION,
}
