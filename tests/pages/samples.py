"""Every page with sample values: long names, hostile texts, problems at fields, and lists with several rows.

`SAMPLES` names each template; a test fails when one is missing.
"""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

from core.credentials.factors import FactorsToSetUp
from core.credentials.mfa import MfaStatus
from core.organizations.organizations import OrganizationStatus
from core.saml.configuration import SOURCE_FIELDS
from core.secrets import Secret
from core.sign_in.account_figures import AccountFigures
from core.sign_in.own_ways import AccountLimit
from entrypoints.pages.console.sections import OF_ACCOUNT
from entrypoints.pages.frame.form_state import TypedField, TypedForm
from entrypoints.pages.frame.next_steps import NextStep
from entrypoints.pages.frame.rendering import Page, page
from entrypoints.pages.frame.returns import ReturnQuery
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.routes import Routes
from tests.pages.account_samples import ACTIVITY, BOUND, SHORT, WAYS
from tests.pages.acting_samples import ACTED, ACTING
from tests.pages.auditlog_samples import AUDITLOG_SAMPLES
from tests.pages.branding_samples import BRANDING_SAMPLES
from tests.pages.connection_samples import CONNECTION_SAMPLES
from tests.pages.console_samples import CONSOLE_SAMPLES, FOUND
from tests.pages.customers_samples import CUSTOMERS_SAMPLES
from tests.pages.deliveries_samples import DELIVERIES_SAMPLES
from tests.pages.fleet_samples import FLEET_SAMPLES
from tests.pages.job_samples import JOB_SAMPLES
from tests.pages.money_samples import MONEY_SAMPLES
from tests.pages.people_samples import PEOPLE_SAMPLES
from tests.pages.platform_samples import PLATFORM_SAMPLES
from tests.pages.plots_samples import PLOTS_SAMPLES
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM
from tests.pages.service_samples import SERVICE_SAMPLES
from tests.pages.services_samples import SERVICES_SAMPLES
from tests.pages.settings_samples import SETTINGS_SAMPLES
from tests.pages.setup_samples import SETUP_SAMPLES
from tests.pages.system_samples import SYSTEM_SAMPLES
from tests.pages.users_samples import USERS_SAMPLES
from tests.pages.why_samples import WHY_SAMPLES
from tests.pages.workload_samples import WORKLOAD_SAMPLES

QR_CODE: Final = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9H0z"/></svg>'
SECRET: Final = "67CA 25LA B3WN J52M IT6V HE4I 6P42 7TIV"
CODES: Final = [f"{number:05}-{number:05}" for number in range(10)]

_BACK: Final = SimpleNamespace(name=SHORT, redirect_uri="https://harbour.example/welcome")
_BROWSER: Final = SimpleNamespace(email=EMAIL, is_disowned=True, confined_to="0191d3c1-0000-7000-8000-00000000000f")
_FORM: Final[dict[str, Any]] = {"form_token": "token", "browser": _BROWSER, "sections": [OF_ACCOUNT]}
_WAY: Final[dict[str, Any]] = {
    **_FORM,
    "way": ReturnQuery(return_id="kept"),
    "cancel": "/auth/authorize/cancel",
    "place": NAME,
    "owner": NAME,
    "elsewhere": "",
    "links": True,
    "email": EMAIL,
    "problem": "",
}
_CONNECTION = SimpleNamespace(
    domain=EMAIL.partition("@")[2], provider_name=NAME, connection_id="0191d3c1-0000-7000-8000-00000000000f"
)
_ACCOUNT: Final[dict[str, Any]] = {**_FORM, "outcome": "", "problem": "", "email": EMAIL}
_ROW: Final = {"id": "0191d3c1-0000-7000-8000-00000000000f", "name": NAME, "created_at": NOW, "last_used_at": NOW}
_CUSTOMERS: Final = [
    SimpleNamespace(id=1, name=NAME, is_known=False, is_confirmed=False),
    SimpleNamespace(id=2, name=NAME, is_known=True, is_confirmed=True),
]
_ORGANIZATION: Final = SimpleNamespace(
    id=1, name=NAME, slug="royal", is_active=False, status=OrganizationStatus.PENDING
)

_TILE: Final = SimpleNamespace(service_name=NAME, organization_name=NAME, customer_name=None, serves_customers=False)


def _membership(role: str) -> SimpleNamespace:
    return SimpleNamespace(
        organization=_ORGANIZATION,
        membership=SimpleNamespace(role=role, created_at=NOW),
        is_suspended=role == "intern",
    )


def _device(*, is_current: bool) -> SimpleNamespace:
    return SimpleNamespace(**_ROW, last_ip="203.0.113.7", is_current=is_current, trusted=True)


_SANDBOX: Final = SimpleNamespace(id="id", service_name=SHORT, plan_name="Team", return_url="/", is_open=True)
_SAML_MESSAGE: Final = SimpleNamespace(
    url="https://harbour.example/acs", parameter="SAMLResponse", value="PHNhbWw", relay_state=NAME
)
_SUBSCRIPTION: Final = SimpleNamespace(
    id="sub", description=NAME, status="active", current_period_end=NOW, created_at=NOW, has_ended=False
)

SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "credentials/mfa_backup_codes.html": {**_ACCOUNT, "outcome": SHORT, "codes": CODES},
    "accounts/closing.html": _ACCOUNT,
    "accounts/locks_own.html": _ACCOUNT,
    "privacy/export.html": _ACCOUNT,
    "credentials/devices.html": {
        **_ACCOUNT,
        "devices": [_device(is_current=True), _device(is_current=False)],
        "total": 120,
    },
    "accounts/names.html": {**_ACCOUNT, "name": "Ada", "problem": PROBLEM},
    "accounts/email_changes.html": {**_ACCOUNT, "ways": WAYS, "requested": EMAIL, "typed": "ada", "problem": PROBLEM},
    "sign_in/identities.html": {
        **_ACCOUNT,
        "outcome": SHORT,
        "identities": [
            (SimpleNamespace(provider="codehost", provider_user_id="4711", email=EMAIL, linked_at=NOW), True),
            (SimpleNamespace(provider="removed", provider_user_id="4711", email=None, linked_at=NOW), False),
        ],
        "others": ["officesuite"],
    },
    "sign_in/identities_link.html": {**_ACCOUNT, "provider": "codehost", "address": "/auth/codehost?link=id"},
    "credentials/passkeys_new.html": {**_ACCOUNT, "challenge_id": "id", "options": "{}", "problem": PROBLEM},
    "organizations/organizations_own.html": {
        **_ACCOUNT,
        "outcome": SHORT,
        "organizations": [_membership("owner"), _membership("intern")],
        "invitations": [
            SimpleNamespace(
                organization_name=NAME,
                role="admin",
                expires_at=NOW,
                token=Secret("token"),
                service_names=[NAME, "Shop"],
                message=NAME,
            )
        ],
    },
    "organizations/organizations_search.html": {
        **_FORM,
        "outcome": "",
        "problem": "",
        "searched": NAME,
        "groups": FOUND,
    },
    "customers/my_applications.html": {
        **_ACCOUNT,
        "tiles": [
            (_TILE, f"/auth/start/{ID}"),
            (SimpleNamespace(**{**vars(_TILE), "customer_name": NAME}), f"/auth/start/{ID}?customer={ID}"),
            (SimpleNamespace(**{**vars(_TILE), "serves_customers": True}), ""),
        ],
        "first": "/app/account/my-applications",
        "next": "/app/account/my-applications?after=b",
    },
    "accounts/profile.html": {
        **_ACCOUNT,
        "acting": ACTING,
        "name": "Ada",
        "ways": BOUND,
        "figures": AccountFigures(sessions=1, applications=2, subscriptions=0, organizations=1),
    },
    "credentials/passkeys.html": {
        **_ACCOUNT,
        "outcome": SHORT,
        "passkeys": [SimpleNamespace(**_ROW, backup_eligible=True, second_factor=True)],
        "signals": "{}",
        "signals_name": True,
        "ways": replace(BOUND, limit=AccountLimit.NOT_CONFIRMED),
    },
    "accounts/passwords.html": {
        **_ACCOUNT,
        "problem": PROBLEM,
        "ways": WAYS,
        "is_current_wrong": False,
        "repeated_problem": PROBLEM,
        "way": ReturnQuery(return_id="kept"),
    },
    "accounts/passwords_notice.html": {**_WAY, "on": "/app/sign-in?return_id=kept"},
    "credentials/mfa.html": {
        **_ACCOUNT,
        "problem": PROBLEM,
        "status_of_factor": MfaStatus(enabled=True, has_backup_codes=False),
        "has_app": True,
        "passkeys": [SimpleNamespace(**_ROW, second_factor=True), SimpleNamespace(**_ROW, second_factor=False)],
        "ways": WAYS,
    },
    "credentials/mfa_setup.html": {
        **_ACCOUNT,
        "problem": PROBLEM,
        "picture": QR_CODE,
        "picture_title": "QR code",
        "secret": SECRET,
        "uri": "otpauth://totp/Example",
    },
    **{name: {**_ACCOUNT, **values} for name, values in ACTIVITY.items()},
    "openid/authorization.html": {
        **_FORM,
        "question": SimpleNamespace(
            request_id=Secret("request"), organization_name=NAME, service_name=NAME, email=EMAIL
        ),
    },
    "sign_in/second_factor_setup_backup_codes.html": {**_WAY, "codes": CODES},
    "sign_in/choose_organization.html": {**_WAY, "organizations": [_ORGANIZATION, _ORGANIZATION], "present": 1},
    "accounts/verification.html": {
        **_FORM,
        "token": "token",
        "email": EMAIL,
        "place": NAME,
        "registration": SimpleNamespace(created_at=NOW, origin="203.0.113.7 (Reykjavík, IS)"),
        "is_same_browser": False,
        "problem": SHORT,
    },
    "accounts/verification_of_change.html": {"token": "token", "old_email": EMAIL, "new_email": EMAIL},
    "invitations/confirmation.html": {
        "token": "token",
        "found": SimpleNamespace(
            organization=_ORGANIZATION, user=SimpleNamespace(email=EMAIL), membership=SimpleNamespace(role="admin")
        ),
    },
    "openid/device.html": {**_FORM, "problem": PROBLEM, "user_code": "WDJB-MJHT"},
    "openid/device_answer.html": {
        **_FORM,
        "user_code": "WDJB-MJHT",
        "waiting": SimpleNamespace(
            client=SimpleNamespace(service=SimpleNamespace(name=NAME)),
            organization_name=NAME,
            ip_address="2001:db8::1",
            user_agent="x" * 120,
            created_at=NOW,
        ),
        "qr_code": "PHN2Zy8+",
        "undecided": SimpleNamespace(customers=_CUSTOMERS, may_come_alone=True),
        "settled": SimpleNamespace(standing=_CUSTOMERS[0], customer="1"),
    },
    "openid/device_no_access.html": {
        **_FORM,
        "user_code": "WDJB-MJHT",
        "waiting": SimpleNamespace(client=SimpleNamespace(service=SimpleNamespace(name=NAME, customers="any"))),
        "refusal": SimpleNamespace(message=PROBLEM),
    },
    "openid/authorization_customers.html": {
        **_FORM,
        "question": SimpleNamespace(
            request_id=Secret("request"),
            organization_name=NAME,
            service_name=NAME,
            email=EMAIL,
            customers=_CUSTOMERS,
            may_come_alone=True,
        ),
    },
    "openid/authorization_no_access.html": {
        **_FORM,
        "question": SimpleNamespace(
            request_id=Secret("request"),
            organization_name=NAME,
            service_name=NAME,
            email=EMAIL,
            message=PROBLEM,
            may_create_organization=True,
        ),
    },
    "openid/device_answered.html": {"is_approved": False},
    "accounts/locks.html": {"token": "token"},
    "accounts/locks_done.html": {"refused": PROBLEM},
    "accounts/email_change_undo_drop.html": {"token": "token"},
    "accounts/email_change_undo_dropped.html": {},
    "accounts/email_change_undo_done.html": {"token": "token"},
    "openid/authorization_form_post.html": {
        "address": "https://harbour.example/callback",
        "fields": {"code": "c", "state": NAME},
        "submits_itself": False,
    },
    "accounts/password_reset_request.html": {**_WAY, "problem": PROBLEM},
    "frame/home.html": {**_FORM},
    "invitations/invitations_joined.html": {
        **_FORM,
        "joined": SimpleNamespace(
            organization=_ORGANIZATION, role="member", is_confirmed=False, needs_second_factor=False
        ),
        "organizations": "/app/account/organizations",
    },
    "invitations/invitations.html": {
        **_FORM,
        "token": "token",
        "proof": "proof",
        "join_by": "new_password",
        "connection": SimpleNamespace(name=NAME),
        "signed_in_as": EMAIL,
        "name": "Ada",
        "problem": PROBLEM,
        "problems": {"password": PROBLEM, "name": PROBLEM},
        "presented": SimpleNamespace(
            organization_name=NAME,
            inviter_email=EMAIL,
            invitation=SimpleNamespace(role="member", email=EMAIL, expires_at=NOW, message=NAME),
            service_names=[NAME, "Shop"],
        ),
    },
    "frame/redirects.html": {"address": "https://harbour.example/callback?state=x", "frames": (), "text": ""},
    "openid/logout.html": {
        **_FORM,
        "service_name": NAME,
        "address": "https://harbour.example/?state=x",
        "client_id": "id",
        "redirect_uri": "https://harbour.example/",
        "state": "x",
        "ui_locales": "de",
    },
    "sign_in/magic_links.html": {"token": "token", "email": EMAIL, "place": NAME, "signs_in": False},
    "sign_in/magic_links_code.html": {"code": "67CA25LAB3WNJ52MIT6VHE4I6P427TIV", "back": _BACK},
    "sign_in/mailed_links.html": {**_WAY, "problem": PROBLEM, "challenge_id": "id"},
    "frame/message.html": {
        "acted": ACTED,
        "heading": NAME,
        "text": EMAIL,
        "back": _BACK,
        "next": ("Sign in", "/"),
        "steps": (NextStep(text="Try again", href="/app"), NextStep(text="Use another account", href="/app/sign-out")),
        "typed": TypedForm(
            action="/app/sign-in/password",
            carried=(("return_id", "kept"),),
            fields=(
                TypedField(name="email", label="Email address", type="email", autocomplete="username", value=EMAIL),
                TypedField(
                    name="password", label="Password", type="password", autocomplete="current-password", value=""
                ),
            ),
        ),
        "texts": (("Reason", NAME),),
        "wait_seconds": 200,
        "signed_in_as": EMAIL,
        "details": NAME,
        "request_id": "a" * 64,
    },
    "credentials/host_passkeys.html": {
        **_FORM,
        "host": EMAIL.partition("@")[2],
        "challenge_id": "id",
        "options": "{}",
        "problem": PROBLEM,
    },
    "accounts/password_reset_sent.html": _WAY,
    "accounts/registration.html": {
        **_WAY,
        "way_place": ("acme", "shop"),
        "required": _CONNECTION,
        "name": "Ada",
        "problems": {"email": PROBLEM, "password": PROBLEM, "name": PROBLEM},
    },
    "accounts/registration_done.html": _WAY,
    "accounts/password_reset.html": {
        "token": "token",
        "email": EMAIL,
        "place": NAME,
        "password_problem": PROBLEM,
        "repeated_problem": PROBLEM,
    },
    "billing/sandbox_checkout.html": {"session": _SANDBOX, "price": "19.00 EUR"},
    "billing/sandbox_portal.html": {
        "session": _SANDBOX,
        "subscriptions": [(_SUBSCRIPTION, "19.00 EUR"), (_SUBSCRIPTION, "9.00 EUR")],
        "actions": [(SimpleNamespace(value="renew"), "Renew"), (SimpleNamespace(value="cancel"), "Cancel")],
        "states": {"active": "active"},
    },
    "saml/sign_in_agreement.html": {
        **_FORM,
        "wanted": SimpleNamespace(
            service_name=NAME, organization_name=NAME, email=EMAIL, attributes=("email", "id", "name", "role", "groups")
        ),
        "action": "/saml/royal/harbour/authenticate",
        "saml_state": "state",
        "relay_state": NAME,
        "customer": NAME,
    },
    "saml/sign_in_customers.html": {
        **_FORM,
        "question": SimpleNamespace(
            service_name=NAME,
            organization_name=NAME,
            email=EMAIL,
            attributes=SOURCE_FIELDS,
            customers=_CUSTOMERS,
            may_come_alone=True,
        ),
        "action": "/saml/royal/harbour/authenticate",
        "saml_state": "state",
        "fields": {"saml_state": "state", "relay_state": NAME},
    },
    "saml/messages_denied.html": {
        "message": _SAML_MESSAGE,
        "place": NAME,
        "heading": NAME,
        "text": EMAIL,
        "steps": (NextStep(text="Set up a second factor", href="/app/account/second-factor"),),
        "request_id": "a" * 64,
    },
    "frame/redirects_post.html": {"message": _SAML_MESSAGE, "place": NAME, "submits_itself": False},
    "saml/messages_redirect.html": {"url": "https://harbour.example/slo?SAMLRequest=fZA"},
    "sign_in/second_factor.html": {
        **_WAY,
        "problem": PROBLEM,
        "passkey_problem": PROBLEM,
        "options": "{}",
        "stay": "on",
        "trust": "on",
    },
    "sign_in/second_factor_setup_passkey.html": {
        **_WAY,
        "confirmed_at": "",
        "proved_at": "",
        "lacking": FactorsToSetUp(has_factor=True, takes_passkey=True, has_passkey=True, has_mailed_proof=False),
    },
    "credentials/passkey_factors.html": {**_WAY, "challenge_id": "id", "options": "{}", "problem": PROBLEM},
    "sign_in/second_factor_setup_code.html": {
        **_WAY,
        "problem": PROBLEM,
        "secret": SECRET.replace(" ", ""),
        "picture": QR_CODE,
    },
    "sign_in/second_factor_setup.html": {**_WAY, "confirmed_at": ""},
    **BRANDING_SAMPLES,
    **CONSOLE_SAMPLES,
    **CONNECTION_SAMPLES,
    **CUSTOMERS_SAMPLES,
    **SETTINGS_SAMPLES,
    **MONEY_SAMPLES,
    **PEOPLE_SAMPLES,
    **JOB_SAMPLES,
    **FLEET_SAMPLES,
    **PLOTS_SAMPLES,
    **PLATFORM_SAMPLES,
    **SYSTEM_SAMPLES,
    **WHY_SAMPLES,
    **WORKLOAD_SAMPLES,
    **AUDITLOG_SAMPLES,
    **SERVICE_SAMPLES,
    **SERVICES_SAMPLES,
    **SETUP_SAMPLES,
    **DELIVERIES_SAMPLES,
    **USERS_SAMPLES,
    "accounts/registration_send_again.html": {**_WAY, "problem": PROBLEM},
    "sign_in/login.html": {**_WAY, "proposed_email": EMAIL, "providers": ["codehost"], "is_invalid": True},
    "sign_in/sign_in_again.html": {**_WAY, "problem": PROBLEM, "has_code": True},
    "sign_in/login_methods.html": {
        **_WAY,
        "problem": PROBLEM,
        "stay": "on",
        "connection": _CONNECTION,
    },
    "sign_in/login_required.html": {**_WAY, "connection": _CONNECTION, "address": "/auth/upstream"},
    "sign_in/second_factor_over.html": {**_WAY, "request_id": "a" * 64},
    "openid/logout_here.html": {**_WAY, "sign_in": "/app/sign-in"},
    "accounts/email_change_undo.html": {"token": "token", "changed_at": NOW},
}

samples = Routes("samples", "Every page with sample values.")


class SampleQuery(Query, kw_only=True):
    """Which page to show."""

    template: str


@samples.get("/samples")
@public
async def sample(call: Call, query: SampleQuery) -> Page:
    """Show a page with sample values."""
    response = page(call, query.template, **SAMPLES[query.template])
    response.headers["Content-Security-Policy"] += "; connect-src 'self'"
    return response
