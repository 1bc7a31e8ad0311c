"""The pages of why a user cannot sign in, with sample values: a part of `samples.py`."""

from typing import Any, Final
from uuid import UUID

from core.customers.relations import CustomerSide, CustomerState
from core.organizations.access import Capability
from core.organizations.group_roles import ExplainedGroupRule, ExplainedRole, RuleOutcome
from core.organizations.memberships import RoleSource
from core.platform.explained_customers import CustomerMembership, ExplainedCustomer
from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay, WalkedConnection
from core.platform.why import ConnectionProblems, ExplainedAccount, SignInExplanation
from core.sign_in.own_ways import NamedConnection
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Rule
from core.sign_in.upstream.failures import UpstreamFailure
from core.sign_in.upstream.provider_problems import ProviderProblem
from entrypoints.pages.platform.sign_in_questions import WAYS, WhyQuery
from entrypoints.pages.platform.sign_in_walks import SettingPlace, shown
from entrypoints.pages.platform.why import PlatformWhyQuery
from tests.pages.account_samples import sign_in_of
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.platform_samples import PLATFORM
from tests.pages.sample_values import EMAIL, ID, NAME, NOW

_REQUIRED: Final = NamedConnection(id=UUID(ID), organization_id=UUID(ID), name=NAME, organization_name=NAME)
_PASSES: Final = [RuleCheck(rule=rule, verdict=RuleVerdict.PASSES) for rule in (Rule.ORGANIZATION, Rule.ACCOUNT)]
_NOT_REACHED: Final = [RuleCheck(rule=rule, verdict=RuleVerdict.NOT_REACHED) for rule in (Rule.SERVICE, Rule.SEAT)]
_WALKS: Final = (
    SignInWalk(
        way=SignInWay.PASSWORD,
        connection=None,
        checks=(
            *_PASSES,
            RuleCheck(
                rule=Rule.FAILURES,
                verdict=RuleVerdict.DEPENDS,
                reason=SignInReason.TOO_MANY_FAILURES,
                until=NOW,
                networks=("192.0.2.0/24", "2001:db8::/64"),
            ),
            RuleCheck(
                rule=Rule.SINGLE_SIGN_ON,
                verdict=RuleVerdict.REFUSES,
                reason=SignInReason.SSO_REQUIRED,
                required=_REQUIRED,
            ),
            *_NOT_REACHED,
        ),
    ),
    SignInWalk(
        way=SignInWay.LINK,
        connection=None,
        checks=(
            *_PASSES,
            RuleCheck(rule=Rule.MAIL_LIMIT, verdict=RuleVerdict.DEPENDS, until=NOW),
            RuleCheck(rule=Rule.SECOND_FACTOR, verdict=RuleVerdict.NOT_TOLD),
        ),
    ),
    SignInWalk(
        way=SignInWay.CONNECTION,
        connection=WalkedConnection(id=UUID(ID), name=NAME),
        checks=(
            *_PASSES,
            RuleCheck(rule=Rule.LINK, verdict=RuleVerdict.ASKS, reason=SignInReason.LINK_REQUIRED),
        ),
    ),
)
_EXPLANATION: Final = SignInExplanation(
    account=ExplainedAccount(id=UUID(ID), email=EMAIL, is_told=False),
    walks=_WALKS,
    attempts=(
        sign_in_of(None, provider="password", connection=None, user_agent=NAME),
        sign_in_of(SignInReason.STATE_UNKNOWN, request_id="5f0c8c9d2f6b4b6a9d53c1a7c1f0e2ab"),
    ),
    problems=(
        ConnectionProblems(
            connection_id=UUID(ID),
            name=NAME,
            failures=(
                UpstreamFailure(
                    problem=ProviderProblem.NO_ADDRESS,
                    first_at=NOW,
                    last_at=NOW,
                    occurrences=7,
                    last_request_id="5f0c8c9d2f6b4b6a9d53c1a7c1f0e2ab",
                ),
            ),
        ),
    ),
    role=ExplainedRole(
        role=NAME,
        role_source=RoleSource(source="scim", group=ID),
        rules=[
            ExplainedGroupRule(source="scim", group=ID, group_name=NAME, role=NAME, outcome=outcome)
            for outcome in RuleOutcome
        ],
        groups_overage=True,
    ),
    customer=ExplainedCustomer(
        id=UUID(ID),
        slug=LONG_SLUG,
        name=NAME,
        state=CustomerState.PAUSED,
        paused_by=list(CustomerSide),
        has_signed_in=True,
        membership=CustomerMembership.SUSPENDED,
        is_assigned=False,
    ),
)
_PLACES: Final = {
    Rule.ACCOUNT: SettingPlace(href=f"/app/organizations/{LONG_SLUG}/people", text="People"),
    Rule.SERVICE: SettingPlace(call=f"/api/organizations/{LONG_SLUG}/services"),
}

WHY_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "platform/sign_in_questions.html": {
        **CONSOLE,
        **shown(_EXPLANATION, _PLACES),
        "query": WhyQuery(email=EMAIL, service="shop", way="link"),
        "asked": True,
        "services": ["shop", LONG_SLUG],
        "ways": WAYS,
        "page": f"/app/organizations/{LONG_SLUG}/why",
        "members": f"/app/organizations/{LONG_SLUG}/people",
        "lacks_members": None,
        "invitations": f"/app/organizations/{LONG_SLUG}/people/invited",
        "lacks_invitations": Capability.ORG_MEMBERS_MANAGE,
        "sign_in_page": "https://id.example.com/app/sign-in",
    },
    "platform/why.html": {
        **PLATFORM,
        **shown(_EXPLANATION, _PLACES, is_platform=True),
        "query": PlatformWhyQuery(email=EMAIL, organization=LONG_SLUG, network="192.0.2.7"),
        "named": EMAIL,
        "lift": "/app/platform/why/lift?email=x",
        "resend": "/app/platform/why/resend?email=x",
        "asked": True,
        "limited": EMAIL,
        "is_unverified": True,
        "ways": WAYS,
        "page": "/app/platform/why",
        "sign_in_page": "https://id.example.com/app/sign-in",
    },
}
