"""Services of the hostile world: of each type, with plans, end users and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.organizations.access import Capability
from core.services.api_keys import Permission
from core.services.services import ServiceType
from core.services.subscriptions import SubscriptionStatus
from core.services.workload_rules import RefusalReason
from tests.pages.crawl.rows import Rows
from tests.pages.crawl.values import HOST, NAME, RIGHT_TO_LEFT, UNBROKEN, URL

if TYPE_CHECKING:
    from tests.pages.crawl.organizations import Organization

# Of each kind, with each sentence about it.
TROUBLES = (
    ("client_authentication", "none"),
    ("client_authentication", UNBROKEN),
    ("client_authentication", "client_secret_basic"),
    ("redirect_uri", None),
    ("redirect_uri", URL),
    ("redirect_uri", "https://evil.example/<b>"),
    ("redirect_uri", f"https://{HOST}/other"),
    ("logout_uri", URL),
    ("logout_uri", f"https://{HOST}/{UNBROKEN}"),
    ("grant", "authorization_code"),
    ("grant", "refresh_token"),
    ("grant", "urn:ietf:params:oauth:grant-type:device_code"),
    ("grant", NAME),
    ("pkce", None),
    ("pkce", "code_verifier"),
    ("pkce", "plain"),
    ("response_type", "id_token token"),
    ("scope", RIGHT_TO_LEFT),
    ("access", None),
)
SERVICE = "a-long-slug-of-a-service"


def insert_services(rows: Rows) -> tuple[UUID, UUID, UUID]:
    """Insert a service of each type; return that for customers, a plan of it that is sold, and another service."""
    roles = [{"name": name, "title": NAME, "description": RIGHT_TO_LEFT} for name in ("reader", "editor")]
    ids: list[UUID] = []
    for kind in ServiceType:
        is_first = not ids
        ids.append(
            rows.add(
                "services",
                slug=SERVICE if is_first else f"{SERVICE}-{kind}",
                name=NAME if is_first else UNBROKEN,
                service_type=kind,
                client_secret_hash=b"0" * 32 if kind in {ServiceType.WEB, ServiceType.API} else None,
                redirect_uris=[URL, f"https://{HOST}/callback"],
                post_logout_redirect_uris=[URL],
                initiate_login_uri=URL if is_first else None,
                customers=("listed", "any", "none", "none")[len(ids)],
                individuals="others" if len(ids) < 2 else "all",
                access=("everyone", "everyone", "members", "assigned")[len(ids)],
                roles=roles if is_first else [],
                scopes=[{"name": UNBROKEN, "description": RIGHT_TO_LEFT}, {"name": "read", "description": NAME}]
                if is_first
                else [],
                machine_scopes=["read"] if is_first else [],
                role_ids={one["name"]: str(rows.clock_id()) for one in roles} if is_first else {},
                audiences=[URL] if is_first else [],
                group_claims=["role"] if is_first else [],
                groups_as=("objects", "names", "ids", "names")[len(ids)],
                token_signing=("RS256", "ES256", "RS256", "ES256")[len(ids)],
            )
        )
        rows.add("plans", service_id=ids[-1], name="Free", price_cents=0, currency="usd", is_default=True)
    service_id = ids[0]
    plan_id = rows.add(
        "plans",
        service_id=service_id,
        name=NAME,
        price_cents=123_456_789,
        currency="eur",
        features=[NAME, UNBROKEN],
        billing_price_id=f"price_<b>{rows.clock_id()}{UNBROKEN}",
    )
    rows.add(
        "client_problems",
        service_id=service_id,
        kind="redirect_uri",
        network="",
        minute=rows.clock(),
        noted_at=rows.clock(),
        ip_address="203.0.113.0/24",
        sent=f"{URL}&refused=<b>",
        registered=[],
    )
    for number, (kind, sent) in enumerate(TROUBLES):
        rows.add(
            "client_problems",
            service_id=service_id,
            kind=kind,
            network=str(number),
            minute=rows.clock(),
            noted_at=rows.clock(),
            ip_address="2001:db8:1234::/48",
            sent=sent,
            registered=[UNBROKEN, "<b>"] if number % 2 else [],
        )
    return service_id, plan_id, ids[1]


def insert_end_users(organization: Organization, states: dict[str, UUID]) -> None:
    """Insert end users of the service, with a subscription in each state."""
    rows = organization.rows.of(service_id=organization.service_id, plan_id=organization.plan_id)
    for number, (state, user_id) in enumerate(states.items()):
        rows.add(
            "service_users",
            user_id=user_id,
            email="",
            origin=("membership", "key", "self")[number % 3],
            last_login_at=rows.clock() if number % 2 or state == "closed" else None,
        )
        rows.add("service_user_metadata", user_id=user_id, metadata={"note": NAME, "other": UNBROKEN})
        status = list(SubscriptionStatus)[number % len(SubscriptionStatus)]
        rows.add("subscriptions", user_id=user_id, status=status.value, current_period_end=rows.ago(days=-30))
        if number < 2:
            rows.add("service_grants", user_id=user_id, relation=("manager", "viewer")[number])


def insert_keys(rows: Rows, service_id: UUID) -> None:
    """Insert keys of a service and of its organization, and workloads with each reason of a refusal."""
    rows.add(
        "api_keys",
        service_id=service_id,
        name=UNBROKEN,
        permissions=["read:users"],
        last_used_at=rows.clock(),
        expires_at=rows.ago(days=1),
    )
    key_id = rows.add(
        "organization_keys",
        name=NAME,
        prefix="gk_abc123",
        permissions=[one.value for one in Capability],
        last_used_at=rows.clock(),
        expires_at=rows.ago(days=-1),
    )
    permissions = [one.value for one in Permission]
    for made_by_key in (key_id, rows.clock_id()):
        rows.add("api_keys", service_id=service_id, name=NAME, permissions=permissions, made_by_key=made_by_key)
    rows.add("scim_tokens", name=NAME, made_by_key=key_id)
    rows.add("setup_links", parts=["domain"], expires_at=rows.ago(days=-3), made_by_key=key_id)
    by_identity = rows.add(
        "organization_keys", name=UNBROKEN, permissions=["services.view"], prefix=None, key_hash=None
    )
    for number, reason in enumerate([None, *RefusalReason]):
        rows.add(
            "workloads",
            service_id=service_id if number % 2 else None,
            key_id=None if number % 2 else by_identity,
            name=NAME,
            issuer=URL,
            audience=URL,
            match={"sub": f"repo:<b>{UNBROKEN}", "environment": "production"},
            last_used_at=rows.clock(),
            refused_at=rows.clock() if reason else None,
            refused_reason=reason.value if reason else None,
            refused_claims={"sub": NAME, "environment": None} if reason else None,
        )
