"""The pages of one service with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.billing.checkout import Offer
from core.organizations.access import Capability, RequiredStanding
from core.organizations.memberships import MembershipStatus
from core.organizations.relations import ServiceRelation
from core.positions import FoundRows
from core.services.api_keys import ApiKey, ListedApiKey, Permission
from core.services.grants import Grantee, ServiceGrant
from core.services.plans import CountedPlan, Plan, PlanEnd
from entrypoints.pages.saml.application_kinds import KINDS, OTHER
from entrypoints.pages.saml.applications import ATTRIBUTES, BINDINGS
from entrypoints.pages.saml.configuration import NAMES, copies_of
from entrypoints.pages.services.api_keys import EXPIRIES, PERMISSIONS
from entrypoints.pages.services.grants import RELATIONS
from entrypoints.pages.services.plans import FEATURES_SHOWN
from tests.pages.console_samples import CONSOLE, LONG_SLUG, MEMBER
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_PAGE: Final = f"/app/organizations/{LONG_SLUG}/services/{LONG_SLUG}"
SERVICE: Final[dict[str, Any]] = {
    **CONSOLE,
    "service": SimpleNamespace(id=ID, name=NAME, slug=LONG_SLUG),
    "page": _PAGE,
    "lacks_list": None,
    "tabs": [
        (_PAGE, "Connect", None),
        (f"{_PAGE}/grants", "People", Capability.SERVICES_MANAGE),
        (f"{_PAGE}/plans", "Plans", None),
        (f"{_PAGE}/api-keys", "API keys", None),
        (f"{_PAGE}/single-sign-on", "SAML", None),
    ],
}
_KEY: Final = ApiKey(
    id=UUID(ID),
    service_id=UUID(ID),
    name=NAME,
    prefix="sk_abc123",
    permissions=list(Permission),
    last_used_at=NOW,
    expires_at=NOW,
    created_at=NOW,
    created_by=UUID(ID),
)
_LISTED: Final = ListedApiKey(key=_KEY, maker_email=EMAIL)
_KEYS: Final[dict[str, Any]] = {
    **SERVICE,
    "keys": f"{_PAGE}/api-keys",
    "permissions": PERMISSIONS,
    "now": NOW,
    "shown": _LISTED,
    "lacks_change": Capability.SERVICES_MANAGE,
}
_PLAN: Final = Plan(
    id=UUID(ID),
    organization_id=UUID(ID),
    service_id=UUID(ID),
    name=NAME,
    price_cents=99_999_999,
    currency="eur",
    features=["f" * 100, NAME, "reports", "export"],
    billing_price_id="price_" + "x" * 249,
    is_default=False,
    created_at=NOW,
)
_PLANS: Final[dict[str, Any]] = {
    **SERVICE,
    "plans": f"{_PAGE}/plans",
    "lacks_change": None,
    "is_sandbox": True,
    "price": "999999.99 EUR",
    "problems": dict.fromkeys(("name", "price", "currency", "features", "billing_price_id"), PROBLEM),
    "form": SimpleNamespace(name=NAME, price="x", currency="eur", features=NAME, billing_price_id=NAME),
    "shown": PlanEnd(plan=_PLAN, live=10_001, ended=3),
}
_APPLICATION: Final = SimpleNamespace(
    configuration=SimpleNamespace(
        entity_id=f"https://sp.example/{NAME}", acs_url="https://sp.example/acs", enabled=True
    ),
    certificate=SimpleNamespace(
        public_key="-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n", valid_until=NOW
    ),
    certificate_id=ID,
    contact=SimpleNamespace(last_request_at=NOW, last_error=PROBLEM, last_error_at=NOW),
    is_begun=True,
    state="state",
)
_SAML: Final[dict[str, Any]] = {
    **SERVICE,
    "saml": f"{_PAGE}/single-sign-on",
    "shown": _APPLICATION,
    "kinds": KINDS,
    "kind": OTHER,
    "names": NAMES,
    "bindings": BINDINGS,
    "attributes": ATTRIBUTES,
    "copies": copies_of("https://id.example.com/saml/royal/harbour"),
    "test": f"/api/organizations/{LONG_SLUG}/services/{LONG_SLUG}/saml/login",
    "typed": SimpleNamespace(
        metadata="<EntityDescriptor/>", entity_id=NAME, acs_url=NAME, name_id_format="", email_attribute=NAME
    ),
    "details": SimpleNamespace(
        enabled="on",
        members_only="",
        sign_assertions="on",
        sign_response="",
        sp_certificate=NAME,
        slo_url=NAME,
        slo_binding="post",
        attributes=dict.fromkeys(ATTRIBUTES, NAME),
    ),
    "problems": dict.fromkeys(
        (
            "metadata",
            "entity_id",
            "acs_url",
            "name_id_format",
            "attribute_mapping",
            "sign_response",
            "sp_certificate",
            "slo_url",
            "slo_binding",
        ),
        PROBLEM,
    ),
    "lacks_change": None,
    "lacks_certificate": None,
    "lacks_removal": None,
}
_GRANT: Final = ServiceGrant(
    user=Grantee(id=UUID(ID), email=EMAIL, status=MembershipStatus.INACTIVE),
    relation=ServiceRelation.MANAGER,
    granted_by=None,
    created_at=NOW,
)

SERVICE_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "services/api_keys.html": {
        **_KEYS,
        "query": SimpleNamespace(search=NAME),
        "is_filtered": True,
        "found": FoundRows(found=[_LISTED, ListedApiKey(key=_KEY, maker_email=None)], total=99, next=None),
        "first": f"{_PAGE}/api-keys",
        "next": f"{_PAGE}/api-keys?after=b",
    },
    "services/api_keys_new.html": {
        **_KEYS,
        "form": SimpleNamespace(name=NAME, permissions=["read:users"], expires="30"),
        "problems": {"name": PROBLEM, "permissions": PROBLEM, "expires": PROBLEM},
        "lacking": {Permission.WRITE_USERS: [Capability.END_USERS_MANAGE]},
        "expiries": EXPIRIES,
    },
    "services/api_keys_one.html": {
        **_KEYS,
        "secret": f"sk_abc123_{'k' * 43}",
        "example": f"curl https://id.example.com/api/service/users/$USER_ID \\\n  -H 'X-Api-Key: sk_abc123_{'k' * 43}'",
        "lacks_change": RequiredStanding.OWNER,
    },
    "services/api_keys_revocation.html": _KEYS,
    "services/plans.html": {
        **_PLANS,
        "query": SimpleNamespace(search=NAME),
        "is_filtered": True,
        "found": FoundRows(
            found=[
                CountedPlan(plan=_PLAN, subscription_count=10_001),
                CountedPlan(plan=replace(_PLAN, is_default=True, features=[]), subscription_count=0),
                CountedPlan(plan=replace(_PLAN, billing_price_id=None), subscription_count=1),
            ],
            total=99,
            next=None,
        ),
        "prices": {_PLAN.id: "999999.99 EUR"},
        "features_shown": FEATURES_SHOWN,
        "first": f"{_PAGE}/plans",
        "next": f"{_PAGE}/plans?after=b",
    },
    "services/plans_new.html": _PLANS,
    "services/plans_one.html": {
        **_PLANS,
        "checkout": f"https://id.example.com{_PAGE}/plans/{ID}/buy",
        "checkout_call": 'curl -X POST "https://id.example.com/api/service/users/$USER_ID/checkout"',
        "keys": f"{_PAGE}/api-keys/new",
    },
    "services/plans_deletion.html": {**_PLANS, "shown": PlanEnd(plan=_PLAN, live=0, ended=214)},
    "billing/checkout.html": {
        **_PLANS,
        "page": f"{_PAGE}/plans/{ID}/buy",
        "is_bought": False,
        "offer": Offer(service=SERVICE["service"], plan=_PLAN, is_subscribed=False),
        "address": "",
    },
    "saml/applications.html": _SAML,
    "saml/applications_certificate.html": _SAML,
    "saml/applications_deletion.html": {**_SAML, "sessions": 10_001},
    "services/grants.html": {
        "lacks_giving": None,
        **SERVICE,
        "query": SimpleNamespace(search=EMAIL, find=EMAIL),
        "is_filtered": True,
        "people": SimpleNamespace(candidates=[MEMBER, MEMBER], end_users=10_001),
        "found": FoundRows(found=[_GRANT, _GRANT], total=99, next=None),
        "relation_names": dict(RELATIONS),
        "lacks_members": None,
        "lacks_end_users": None,
        "end_users": f"/app/organizations/{LONG_SLUG}/people/end-users?service={LONG_SLUG}",
        "grants": f"{_PAGE}/grants",
        "first": f"{_PAGE}/grants",
        "next": f"{_PAGE}/grants?after=b",
    },
    "services/grants_one.html": {
        "lacks_giving": None,
        **SERVICE,
        "access": SimpleNamespace(user_id=ID, email=EMAIL, role="a" * 50),
        "present": "viewer",
        "chosen": "manager",
        "relations": RELATIONS,
        "relation_names": dict(RELATIONS),
        "grants": f"{_PAGE}/grants",
    },
}
