"""Which claims introspection takes from the token, and which from the rows as they are now."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from core.openid.introspection import SHOWN
from core.secrets import Secret
from core.sessions.customer_contexts import CustomerContext
from core.sessions.mfa_methods import MfaMethods
from core.sessions.places import ServicePlan
from core.sessions.token_additions import TokenSubject
from core.sessions.tokens import claims_of_rows, token_grant
from tests.caller_values import AT_SERVICE, START, changed

GROUPS = [{"id": "1", "name": "Sales"}]
# Claims of an access token that introspection does not tell: a service reads them in the token, or at userinfo.
NOT_TOLD: Final = {
    *("email", "service", "plan", "subscription_status", "features"),
    *("is_platform_owner", "is_platform_support", "impersonator", "impersonation_session"),
}
# Every field of a caller that a claim may come from.
IMPERSONATED: Final = changed(
    AT_SERVICE,
    account={"is_platform_owner": True, "is_platform_support": True},
    place={"role": "admin"},
    service={
        "plan": ServicePlan(
            id=UUID(int=6), name="Pro", features=["a"], subscription_status="active", current_period_end=None
        ),
        "groups": GROUPS,
    },
    limits={"impersonator_id": UUID(int=7)},
)
CUSTOMER: Final = CustomerContext(
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
)
AT_CUSTOMER: Final = changed(IMPERSONATED, place={"customer_id": UUID(int=8), "role": None, "customer": CUSTOMER})


def test_nothing_that_rows_say_is_told_as_the_token_was() -> None:
    callers = (IMPERSONATED, changed(IMPERSONATED, service={"groups": GROUPS * 101}), AT_CUSTOMER)
    subjects = [TokenSubject(caller=one) for one in callers]
    grants = [token_grant(one, Secret("r"), session_expires_at=START) for one in subjects]
    said = {name for grant in grants for name in grant.claims}
    of_rows = {name for subject in subjects for name in claims_of_rows(subject)}

    assert of_rows >= {"role", "groups", "groups_overage", "customer", "customer_role", "service_roles"}
    assert not of_rows & {*SHOWN}
    # Every claim belongs to one of the three.
    assert said == of_rows | (said & {*SHOWN}) | NOT_TOLD
