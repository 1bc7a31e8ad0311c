"""The pages of setup with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.organizations.group_roles import WantedRule
from core.scim.tokens import FoundGroups, ScimToken, TokenEnds
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.trial_judgements import TrialJudgement, TrialVerdict
from core.sign_in.upstream.trials import TrialAnswer
from entrypoints.pages.audit import receiver_kinds
from entrypoints.pages.console.setup_steps import SetupStep
from entrypoints.pages.organizations.setup import STATES
from entrypoints.pages.saml import application_kinds
from entrypoints.pages.scim import directory_kinds
from entrypoints.pages.sign_in.upstream import provider_kinds, provider_problems
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_SETUP: Final[dict[str, Any]] = {
    "form_token": "token",
    "setup": SimpleNamespace(organization_name=NAME, expires_at=NOW, roles=["admin"]),
    # A branding, which other pages have as well.
    "brand": SimpleNamespace(
        name=NAME,
        platform="Gatehouse",
        logo=None,
        icon=None,
        style_sheet=None,
        links=[("Terms of use", "https://harbour.example/terms")],
        support_email=EMAIL,
    ),
}
COPIES: Final = {
    name: (label, "https://id.example.com/auth/upstream/0191d3c1-0000-7000-8000-00000000000f/" + name)
    for name, label in (
        ("redirect_uri", "Redirect URI"),
        ("metadata_address", "Metadata address"),
        ("entity_id", "Entity id, or audience"),
        ("acs_url", "Address for assertions (ACS URL)"),
        ("slo_url", "Sign-out address"),
        ("revocation_address", "Address to end sessions (global token revocation)"),
        ("sign_in_address", "Address to sign in by this connection"),
    )
}
_CONNECTION_FORM: Final = SimpleNamespace(
    name=NAME, issuer="https://idp.example", client_id=NAME, metadata_url="", metadata_xml=NAME
)
_PROGRESS: Final = SimpleNamespace(
    checked_at=NOW, problem=ProviderProblem.WRONG_SECRET, last_sign_in_at=NOW, failing_since=NOW
)
_SAML: Final = SimpleNamespace(
    setup=_SETUP["setup"],
    is_begun=True,
    service=SimpleNamespace(name=NAME),
    configuration=SimpleNamespace(enabled=True, entity_id="https://harbour.example/metadata"),
    certificate=SimpleNamespace(public_key=f"-----BEGIN CERTIFICATE-----\n{'M' * 64}", valid_until=NOW),
    contact=SimpleNamespace(last_request_at=NOW, last_error=NAME, last_error_at=NOW),
)
_TOKEN: Final = ScimToken(
    id=UUID(ID),
    name=NAME,
    prefix="scim_live_67CA25",
    groups=FoundGroups.ORGANIZATION,
    created_at=NOW,
    expires_at=None,
    last_used_at=NOW,
)
_SOURCES: Final = [("scim", "Groups of your directory"), (ID, NAME)]
_CONSIDERED: Final = SimpleNamespace(
    rule=WantedRule(source=ID, group=NAME, role="a" * 50), group_name=NAME, people=10_001, needs_code=True
)
_CONNECTION: Final = SimpleNamespace(
    id=ID,
    name=NAME,
    is_saml=True,
    enabled=False,
    issuer="https://idp.example/" + "a" * 120,
    attribute_mapping={"groups": "a" * 120},
)
# As far as steps can be: done, the next one, one of several states, one that waits, and one that can be left out.
STEPS: Final = [
    SetupStep(title=NAME, text=NAME, is_done=True, action="Open", address="/app/setup/parts/upstream"),
    SetupStep(title=NAME, text=NAME, is_done=False, action=NAME, address="/app/setup/parts/upstream#domains"),
    *(
        SetupStep(title=NAME, text=text, is_done=False, action="Open", address="/app/setup", badge=(kind, state))
        for kind, state, text in STATES.values()
        if "%" not in text
    ),
    SetupStep(title=NAME, text=NAME, is_done=False, names=("a" * 80,)),
    SetupStep(title=NAME, text=NAME, is_done=False, action="Open", address="/app/setup", is_optional=True),
]
SETUP_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "organizations/setup.html": {
        **_SETUP,
        "steps": STEPS,
        "current": STEPS[1],
        "connections_page": "/app/setup/parts/upstream",
    },
    "sign_in/upstream/setup_connection.html": {
        **_SETUP,
        "connection": _CONNECTION,
        "found": SimpleNamespace(
            state=SimpleNamespace(
                is_tried=False,
                connection=_CONNECTION,
                trial=SimpleNamespace(
                    answer=TrialAnswer(subject="x" * 255, email=EMAIL, claims=(("email", EMAIL), ("name", NAME))),
                    is_of=lambda _: False,
                    begun_by=None,
                    is_without_persons=False,
                    concluded_at=NOW,
                ),
            ),
            judgement=TrialJudgement(verdict=TrialVerdict.DOMAIN_PENDING, email=EMAIL, is_own_domain=False),
            can_be_switched_on=True,
            was_on=False,
        ),
        "steps": STEPS,
        "current": STEPS[1],
        "kind": provider_kinds.SAML,
        "typed": _CONNECTION_FORM,
        "token_issuer": "https://acme.okta.com",
        "copies": COPIES,
        "progress": _PROGRESS,
        "sentences": provider_problems.SENTENCES,
        "failures": [
            SimpleNamespace(
                problem=ProviderProblem.NO_ADDRESS,
                last_at=NOW,
                occurrences=3,
                last_request_id="d8fed2c2669267c333debc1504b0d0d7",
            )
        ],
        "claimed": [
            SimpleNamespace(
                id=ID,
                domain=EMAIL.partition("@")[2],
                status="pending",
                enforced=False,
                txt_name="_gatehouse." + EMAIL.partition("@")[2],
                txt_value="gatehouse-verification=sR8uJ0bX3mWq6yTz1kLhVn5cPd2eAf9gZi7oQ4jBxMw",
            )
        ],
        "problem": PROBLEM,
        "problems": dict.fromkeys(("metadata_url", "metadata_xml", "domain"), PROBLEM),
        "typed_domain": NAME,
        "right_issuer": None,
    },
    "sign_in/upstream/setup_deletion.html": {
        **_SETUP,
        "ends": SimpleNamespace(
            connection=SimpleNamespace(id=ID, name=NAME),
            identities=0,
            sessions=1,
            domains=[EMAIL.partition("@")[2]],
            is_open=True,
        ),
        "problem": PROBLEM,
    },
    "organizations/settings/domain_setup.html": {
        **_SETUP,
        "claimed": SimpleNamespace(
            domain="id." + EMAIL.partition("@")[2],
            status="failing",
            txt_name="_gatehouse.id." + EMAIL.partition("@")[2],
            txt_value="gatehouse-verification=sR8uJ0bX3mWq6yTz1kLhVn5cPd2eAf9gZi7oQ4jBxMw",
            checked_at=NOW,
            ends_at=NOW,
        ),
        "target": "id.example.com",
        "typed": "",
        "problem": PROBLEM,
        "failure": PROBLEM,
        "found": ["v=spf1 -all", NAME],
    },
    "organizations/settings/domain_setup_deletion.html": {
        **_SETUP,
        "ends": SimpleNamespace(
            claim=SimpleNamespace(id=ID, proof=SimpleNamespace(domain="id." + EMAIL.partition("@")[2])),
            sessions=1,
            passkeys=2,
        ),
    },
    "organizations/setup_link.html": {**_SETUP, "secret": "secret", "titles": ["Your own domain", NAME]},
    "saml/setup.html": {
        **_SETUP,
        "shown": _SAML,
        "typed": SimpleNamespace(
            metadata=NAME,
            entity_id="https://harbour.example/metadata",
            acs_url="https://harbour.example/acs",
            name_id_format="",
            email_attribute="",
        ),
        "problems": dict.fromkeys(("metadata", "entity_id", "acs_url", "name_id_format", "attribute_mapping"), PROBLEM),
        "names": [("a", "Email address"), ("b", "Persistent id")],
        "kinds": application_kinds.KINDS,
        "kind": application_kinds.OTHER,
        "copies": {
            name: (label, "https://id.example.com/saml/royal/harbour")
            for name, label in (
                ("entity_id", "Entity id, or issuer"),
                ("sso_url", "Sign-in address"),
                ("slo_url", "Sign-out address"),
                ("metadata_url", "Metadata address"),
            )
        },
    },
    "saml/setup_deletion.html": {**_SETUP, "shown": _SAML},
    "scim/setup.html": {
        **_SETUP,
        "shown": SimpleNamespace(
            tokens=[_TOKEN, replace(_TOKEN, last_used_at=None, expires_at=NOW)],
            failures=[
                SimpleNamespace(
                    method="PATCH",
                    path="/scim/v2/Users/0191d3c1-0000-7000-8000-00000000000f",
                    created_at=NOW,
                    user_name=EMAIL,
                    status=400,
                    detail=NAME,
                )
            ],
        ),
        "own_name": NAME,
        "at": NOW,
        "token": "",
        "was_shown": True,
        "kinds": directory_kinds.KINDS,
        "kind": directory_kinds.KINDS[0],
        "copies": {
            name: (label, "https://id.example.com/scim/v2")
            for name, label in (
                ("scim_url", "Address (base URL)"),
                ("entra_url", "Address (base URL)"),
                ("identifier", "Unique identifier"),
            )
        },
    },
    "scim/setup_revocation.html": {
        **_SETUP,
        "ends": TokenEnds(token=_TOKEN, is_valid=True, others=1),
        "own_name": "Setup link",
    },
    "scim/group_setup.html": {
        **_SETUP,
        "shown": SimpleNamespace(
            rules=[
                SimpleNamespace(
                    id=UUID(ID), source="scim", group=ID, group_name=NAME, role="a" * 50, gives_role=is_giving
                )
                for is_giving in (True, False)
            ]
        ),
        "form": SimpleNamespace(source="scim", group=NAME, role="admin"),
        "problems": {"group": PROBLEM, "role": PROBLEM},
        "problem": PROBLEM,
        "sources": _SOURCES,
        "names": dict(_SOURCES),
        "roles": [("admin", "admin"), ("a" * 50, "a" * 50)],
        "arrived": [NAME],
        "kinds": directory_kinds.GROUP_KINDS,
        "kind": directory_kinds.GROUP_KINDS[0],
    },
    "scim/group_setup_check.html": {
        **_SETUP,
        "considered": _CONSIDERED,
        "names": dict(_SOURCES),
        "form": SimpleNamespace(source=ID, group=NAME, role="admin"),
    },
    "scim/group_setup_removal.html": {
        **_SETUP,
        "considered": _CONSIDERED,
        "names": dict(_SOURCES),
        "rule_id": UUID(ID),
    },
    "audit/siem_setup.html": {
        **_SETUP,
        "stream": SimpleNamespace(last_error=NAME, last_success_at=NOW, lag=12, has_token=True),
        "typed": SimpleNamespace(siem_provider="splunk", endpoint="https://splunk.example", index="main"),
        "problems": {"provider": PROBLEM, "endpoint": PROBLEM, "token": PROBLEM, "options": PROBLEM},
        "kinds": receiver_kinds.KINDS,
        "kind": receiver_kinds.KINDS[0],
        "was_tested": True,
        "tested": NAME,
    },
    "audit/siem_setup_deletion.html": {
        **_SETUP,
        "stream": SimpleNamespace(endpoint="https://splunk.example?key=secret", lag=12, pending=1, has_token=True),
    },
    "sign_in/upstream/setup.html": {
        **_SETUP,
        "connections": [SimpleNamespace(connection=_CONNECTION, progress=_PROGRESS)],
        "kinds": provider_kinds.KINDS,
    },
    "sign_in/upstream/setup_new.html": {
        **_SETUP,
        "kind": provider_kinds.KINDS[1],
        "is_saml": False,
        "typed": _CONNECTION_FORM,
        "copies": COPIES,
        "problem": PROBLEM,
        "problems": dict.fromkeys(("name", "issuer", "client_id", "client_secret"), PROBLEM),
        "right_issuer": "https://idp.example/",
    },
}
