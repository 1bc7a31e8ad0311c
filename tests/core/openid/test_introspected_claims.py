"""Which claims introspection takes from the token, and which from the rows as they are now (decisions 10.5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from core.openid.introspection import SHOWN
from core.secrets import Secret
from core.sessions.callers import Caller, ServicePlan
from core.sessions.customer_contexts import CustomerContext
from core.sessions.mfa_methods import MfaMethods
from core.sessions.token_additions import TokenSubject
from core.sessions.token_claims import claims_of_rows, token_grant

START = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
GROUPS = [{"id": "1", "name": "Sales"}]
# Claims of an access token that introspection does not tell: a service reads them in the token, or at userinfo.
NOT_TOLD: Final = {
    *("email", "service", "plan", "subscription_status", "features"),
    *("is_platform_owner", "is_platform_support", "impersonator", "impersonation_session"),
}
# Every field of a caller that a claim may come from.
ADA: Final = Caller(
    user_id=UUID(int=1),
    email="ada@example.com",
    email_verified_at=START,
    is_platform_owner=True,
    is_platform_support=True,
    user_created_at=START,
    session_id=UUID(int=2),
    amr=["pwd"],
    authenticated_at=START,
    device_id=None,
    organization_id=UUID(int=3),
    organization_slug="acme",
    organization_status="active",
    role="admin",
    custom_permissions=None,
    service_id=UUID(int=4),
    service_slug="shop",
    service_client_id=UUID(int=5),
    service_plan=ServicePlan(
        id=UUID(int=6), name="Pro", features=["a"], subscription_status="active", current_period_end=None
    ),
    service_groups=GROUPS,
    is_end_user=True,
    impersonator_id=UUID(int=7),
)
AT_CUSTOMER: Final = replace(
    ADA,
    customer_id=UUID(int=8),
    role=None,
    customer=CustomerContext(
        id=UUID(int=8),
        organization_id=UUID(int=9),
        slug="globex",
        name="Globex",
        external_id="B-7",
        role="member",
        service_roles=["editor"],
        groups=GROUPS,
        requires_mfa=False,
        mfa_methods=MfaMethods.ANY,
    ),
)


def test_nothing_that_rows_say_is_told_as_the_token_was() -> None:
    callers = (ADA, replace(ADA, service_groups=GROUPS * 101), AT_CUSTOMER)
    subjects = [TokenSubject(caller=one) for one in callers]
    grants = [token_grant(one, Secret("r"), session_expires_at=START) for one in subjects]
    said = {name for grant in grants for name in grant.claims}
    of_rows = {name for subject in subjects for name in claims_of_rows(subject)}

    assert of_rows >= {"role", "groups", "groups_overage", "customer", "customer_role", "service_roles"}
    assert not of_rows & {*SHOWN}
    # A new claim is of one of the three.
    assert said == of_rows | (said & {*SHOWN}) | NOT_TOLD
