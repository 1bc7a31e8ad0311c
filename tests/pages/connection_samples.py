"""The pages of an organization's sign-in in the console with sample values: a part of `samples.py`."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.accounts.providers import Provider
from core.key_certificates import SamlCertificate
from core.organizations.domain_proofs import ProofStatus
from core.sign_in.sign_in_rules import AskedMember, AskedMembers
from core.sign_in.upstream.configuring import ConfiguredConnection, ConnectionState, SignInSetup
from core.sign_in.upstream.connection_wishes import ConnectionRecord, ConnectionType
from core.sign_in.upstream.domain_routes import DomainRoute
from core.sign_in.upstream.failures import ConnectionProgress, UpstreamFailure
from core.sign_in.upstream.oauth_credentials import StoredCredentials
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.trial_judgements import TrialJudgement, TrialVerdict
from core.sign_in.upstream.trials import TrialAnswer, TrialResult, fingerprint
from entrypoints.pages.sign_in.upstream import provider_kinds
from entrypoints.pages.sign_in.upstream.provider_problems import TO_MEMBERS
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM
from tests.pages.setup_samples import COPIES, STEPS

_OVERVIEW: Final = f"/app/organizations/{LONG_SLUG}/sign-in"
_CONNECTION: Final = ConnectionRecord(
    id=UUID(ID),
    type=ConnectionType.SAML,
    name=NAME,
    issuer="https://idp.example/" + "a" * 120,
    client_id=None,
    has_secret=False,
    scopes=[],
    metadata_url="https://idp.example/metadata",
    metadata_xml=None,
    metadata_valid_until=NOW,
    signs_requests=True,
    attribute_mapping={},
    joins_as="a" * 50,
    trust_mfa=True,
    enabled=False,
    created_at=NOW,
    updated_at=NOW,
)
_PROGRESS: Final = ConnectionProgress(
    connection_id=UUID(ID),
    checked_at=NOW,
    problem=ProviderProblem.METADATA,
    last_sign_in_at=NOW,
    failing_since=NOW,
)
_CLAIMS: Final = (("email", EMAIL), ("name", NAME), ("groups" * 16, '["' + "x" * 400 + '"]'))
_DOMAINS: Final = [
    DomainRoute(
        id=UUID(ID),
        domain=f"{number}.{EMAIL.partition('@')[2]}",
        provider_id=UUID(ID),
        enforced=True,
        status=status,
        txt_name="_gatehouse." + EMAIL.partition("@")[2],
        txt_value="gatehouse-verification=sR8uJ0bX3mWq6yTz1kLhVn5cPd2eAf9gZi7oQ4jBxMw",
    )
    for number, status in enumerate(ProofStatus)
]


def _trial(answer: TrialAnswer, tested_as: bytes) -> TrialResult:
    return TrialResult(connection_id=UUID(ID), concluded_at=NOW, begun_by=EMAIL, tested_as=tested_as, answer=answer)


_FAILED: Final = _trial(
    TrialAnswer(problem=ProviderProblem.FOR_ANOTHER, reason="wrong_audience <b>", claims=_CLAIMS), b"changed"
)
_SUCCEEDED: Final = _trial(TrialAnswer(subject="x" * 255, email=EMAIL, claims=_CLAIMS), fingerprint(_CONNECTION))


def _state(trial: TrialResult | None) -> ConnectionState:
    return ConnectionState(connection=_CONNECTION, progress=_PROGRESS, trial=trial)


def _found(trial: TrialResult | None, verdict: TrialVerdict | None) -> ConfiguredConnection:
    return ConfiguredConnection(
        state=_state(trial),
        judgement=TrialJudgement(verdict=verdict, email=EMAIL, is_own_domain=False, role="a" * 50)
        if verdict is not None
        else None,
        failures=[
            UpstreamFailure(
                problem=ProviderProblem.NO_ADDRESS,
                first_at=NOW,
                last_at=NOW,
                occurrences=3,
                last_request_id="d8fed2c2669267c333debc1504b0d0d7",
            )
        ],
        domains=_DOMAINS,
        certificates=[
            SamlCertificate(
                id=UUID(ID),
                public_key="",
                valid_from=NOW,
                valid_until=NOW,
                is_active=is_active,
                created_at=NOW,
                published_until=None if is_active else NOW + timedelta(days=7),
            )
            for is_active in (True, False)
        ],
        roles=["member"],
    )


_SETUP: Final = SignInSetup(
    connections=[_state(None), _state(_FAILED), _state(_SUCCEEDED)],
    domains=_DOMAINS,
    credentials=[StoredCredentials(provider=Provider.CODEHOST, client_id="c" * 200)],
)
_TYPED: Final = SimpleNamespace(
    name=NAME, issuer="https://idp.example", client_id=NAME, metadata_url="", metadata_xml=NAME, domain=NAME
)
_OF_CONNECTION: Final[dict[str, Any]] = {
    **CONSOLE,
    "connection": _CONNECTION,
    "lacks_configuring": None,
    "seen": NOW.isoformat(),
    "sentences": TO_MEMBERS,
    "page": f"{_OVERVIEW}/connections/{ID}",
    "overview": _OVERVIEW,
}
_LISTED: Final[dict[str, Any]] = {
    "names": {UUID(ID): NAME},
    "problems": dict.fromkeys(("domain", "device_trust_days"), PROBLEM),
    "first": f"{_OVERVIEW}?",
    "next": f"{_OVERVIEW}?after=x",
}
_ENDS: Final = SimpleNamespace(
    connection=_CONNECTION,
    identities=4000,
    without_other_way=17,
    sessions=214,
    domains=[one.domain for one in _DOMAINS],
)
# That of an organization with rules of its own.
_STANDING: Final = SimpleNamespace(
    **{
        **vars(CONSOLE["standing"]),
        "organization": SimpleNamespace(
            **{
                **vars(CONSOLE["standing"].organization),
                "mfa_required": False,
                "is_phishing_resistant": True,
                "device_trust_days": 30,
            }
        ),
    }
)
CONNECTION_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "sign_in/upstream/configuring.html": {
        **CONSOLE,
        **_LISTED,
        "found": _SETUP,
        "shown": _SETUP.connections,
        "domains_shown": _DOMAINS,
        "standing": _STANDING,
        "typed": {"mfa_required": True, "device_trust_days": "400"},
        "days_max": 365,
        "providers": [(Provider.CODEHOST, "codehost", "c" * 200), (Provider.WEBSUITE, "websuite", None)],
        "offered": [],
        "lacks_rules": None,
        "lacks_configuring": None,
        "page": _OVERVIEW,
        "setup_links": f"/app/organizations/{LONG_SLUG}/setup-links",
    },
    "sign_in/upstream/connections_new.html": {
        **CONSOLE,
        "kinds": provider_kinds.KINDS,
        "kind": provider_kinds.KINDS[1],
        "is_saml": False,
        "typed": _TYPED,
        "problems": {"client_secret": PROBLEM},
        "right_issuer": "https://idp.example/",
        "copies": COPIES,
        "page": _OVERVIEW,
    },
    "sign_in/upstream/connections_one.html": {
        **_OF_CONNECTION,
        "found": _found(_FAILED, None),
        "steps": STEPS,
        "current": STEPS[1],
        "kind": provider_kinds.SAML,
        "typed": _TYPED,
        "token_issuer": "https://acme.okta.com",
        "options": SimpleNamespace(
            name=NAME,
            scopes="openid",
            claim_of_id="id",
            claim_of_email="",
            claim_of_groups="",
            joins_as="member",
            trust_mfa="on",
        ),
        "problems": dict.fromkeys(("metadata_url", "metadata_xml", "joins_as", "attribute_mapping"), PROBLEM),
        "right_issuer": None,
        "roles": [("", "Nobody"), ("member", "member"), ("a" * 50, "a" * 50)],
        "copies": COPIES,
    },
    "sign_in/upstream/trials.html": {**_OF_CONNECTION, "found": _found(_SUCCEEDED, TrialVerdict.FOREIGN_DOMAIN)},
    "sign_in/sign_in_rules.html": {
        **CONSOLE,
        "standing": _STANDING,
        "is_strict": False,
        "wanted": "phishing_resistant",
        "seen": "any",
        "asked": AskedMembers(
            named=[AskedMember(user_id=UUID(ID), email=EMAIL, name=NAME, role="admin")], total=1234, members=5678
        ),
        "has_own": False,
        "lacks_change": None,
        "page": "/app/organizations/acme/sign-in",
    },
    "sign_in/upstream/enabling.html": {**_OF_CONNECTION, "found": _found(_FAILED, None), "ends": _ENDS},
    "sign_in/upstream/connections_deletion.html": {**_OF_CONNECTION, "ends": _ENDS, "note": NAME},
    "sign_in/upstream/domain_routes.html": {
        "lacks_change": None,
        **CONSOLE,
        **_LISTED,
        "query": SimpleNamespace(search="harbour"),
        "shown": _DOMAINS,
        "total": 3,
        "connections": [(ID, NAME)],
        "typed": SimpleNamespace(domain=NAME, provider_id=ID),
        "page": f"{_OVERVIEW}/mail-domains",
        "overview": _OVERVIEW,
    },
    "sign_in/upstream/domain_routes_one.html": {
        "lacks_change": None,
        **CONSOLE,
        "route": _DOMAINS[0],
        "state": _state(None),
        "connections": [(ID, NAME)],
        "chosen": ID,
        "enforced": True,
        "page": f"{_OVERVIEW}/mail-domains/{ID}",
        "list_page": f"{_OVERVIEW}/mail-domains",
    },
    "sign_in/upstream/domain_routes_removal.html": {
        **CONSOLE,
        "route": _DOMAINS[0],
        "name": NAME,
        "page": f"{_OVERVIEW}/mail-domains/{ID}",
    },
    "sign_in/upstream/oauth_credentials.html": {
        **CONSOLE,
        "provider": "codehost",
        "client_id": "c" * 200,
        "typed": "c" * 200,
        "problems": {"client_secret": PROBLEM},
        "is_of_platform": True,
        "lacks_setting": None,
        "callback": "https://id.example.com/auth/codehost/callback",
        "page": f"{_OVERVIEW}/oauth-credentials/codehost",
        "overview": _OVERVIEW,
    },
}
