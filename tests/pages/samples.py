"""Every page with sample values: long names, hostile texts, problems at fields, and lists with several rows.

`SAMPLES` names each template; a test fails when one is missing.
"""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Final

from core.accounts.profile import SignInMethods
from core.credentials.mfa import MfaStatus
from core.credentials.user_agents import describe
from core.organizations.organizations import OrganizationStatus
from core.secrets import Secret
from entrypoints.pages.rendering import Page, page
from entrypoints.pages.returns import ReturnQuery
from entrypoints.pages.saml.setup import ENTRA
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.routes import Routes

NOW: Final = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
EMAIL: Final = "somebody.with.a.long.name@an.even.longer.name.of.a.host.example.com"
NAME: Final = "The Royal Society of <b>Shipwrights</b> & Daughters, established in 1612"
SHORT: Final = "Harbour Logs"
PROBLEM: Final = "The passwords do not match."
QR_CODE: Final = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9H0z"/></svg>'
SECRET: Final = "67CA 25LA B3WN J52M IT6V HE4I 6P42 7TIV"
CODES: Final = [f"{number:05}-{number:05}" for number in range(10)]

_BACK: Final = SimpleNamespace(name=SHORT, redirect_uri="https://harbour.example/welcome")
_BROWSER: Final = SimpleNamespace(email=EMAIL, is_disowned=True, confined_to="0191d3c1-0000-7000-8000-00000000000f")
_FORM: Final[dict[str, Any]] = {"form_token": "token", "browser": _BROWSER}
_WAY: Final[dict[str, Any]] = {
    **_FORM,
    "way": ReturnQuery(return_id="kept"),
    "cancel": "/auth/authorize/cancel",
    "place": NAME,
    "owner": NAME,
    "email": EMAIL,
    "problem": "",
}
_ACCOUNT: Final[dict[str, Any]] = {**_FORM, "outcome": "", "problem": "", "email": EMAIL}
_ROW: Final = {"id": "0191d3c1-0000-7000-8000-00000000000f", "name": NAME, "created_at": NOW, "last_used_at": NOW}
_ORGANIZATION: Final = SimpleNamespace(
    id=1, name=NAME, slug="royal", is_active=False, status=OrganizationStatus.PENDING
)
_SETUP: Final[dict[str, Any]] = {
    **_FORM,
    "setup": SimpleNamespace(organization_name=NAME, expires_at=NOW),
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


def _membership(role: str) -> SimpleNamespace:
    return SimpleNamespace(organization=_ORGANIZATION, membership=SimpleNamespace(role=role, created_at=NOW))


def _session(*, is_current: bool) -> tuple[SimpleNamespace, Any]:
    return SimpleNamespace(**_ROW, ip_address="203.0.113.7", is_current=is_current), describe("Firefox/128 Linux")


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
    "account_backup_codes.html": {**_ACCOUNT, "outcome": SHORT, "codes": CODES},
    "account_closing.html": _ACCOUNT,
    "account_data.html": _ACCOUNT,
    "account_devices.html": {
        **_ACCOUNT,
        "devices": [_device(is_current=True), _device(is_current=False)],
        "total": 120,
    },
    "account_name.html": {**_ACCOUNT, "name": "Ada", "problem": PROBLEM},
    "account_email.html": {**_ACCOUNT, "requested": EMAIL, "typed": "ada", "problem": PROBLEM},
    "account_identities.html": {
        **_ACCOUNT,
        "outcome": SHORT,
        "identities": [
            SimpleNamespace(provider="codehost", provider_user_id="4711", email=EMAIL, linked_at=NOW),
            SimpleNamespace(provider="websuite", provider_user_id="4711", email=None, linked_at=NOW),
        ],
        "others": ["officesuite"],
    },
    "account_link.html": {**_ACCOUNT, "provider": "codehost", "address": "/auth/codehost?link=id"},
    "account_new_passkey.html": {**_ACCOUNT, "challenge_id": "id", "options": "{}", "problem": PROBLEM},
    "account_organizations.html": {
        **_ACCOUNT,
        "outcome": SHORT,
        "organizations": [_membership("owner"), _membership("intern")],
        "invitations": [SimpleNamespace(organization_name=NAME, role="admin", expires_at=NOW, token=Secret("token"))],
    },
    "account_overview.html": {
        **_ACCOUNT,
        "name": "Ada",
        "methods": SignInMethods(
            has_password=False, second_factor=MfaStatus(enabled=True, has_backup_codes=True), passkeys=2
        ),
    },
    "account_passkeys.html": {
        **_ACCOUNT,
        "outcome": SHORT,
        "passkeys": [SimpleNamespace(**_ROW, backup_eligible=True)],
    },
    "account_password.html": {
        **_ACCOUNT,
        "problem": PROBLEM,
        "has_password": True,
        "is_current_wrong": False,
        "repeated_problem": PROBLEM,
    },
    "account_second_factor.html": {
        **_ACCOUNT,
        "problem": PROBLEM,
        "status_of_factor": MfaStatus(enabled=True, has_backup_codes=False),
    },
    "account_second_factor_setup.html": {
        **_ACCOUNT,
        "problem": PROBLEM,
        "picture": QR_CODE,
        "picture_title": "QR code",
        "secret": SECRET,
        "uri": "otpauth://totp/Example",
    },
    "account_sessions.html": {**_ACCOUNT, "sessions": [_session(is_current=True), _session(is_current=False)]},
    "authorize.html": {
        **_FORM,
        "question": SimpleNamespace(
            request_id=Secret("request"), organization_name=NAME, service_name=NAME, email=EMAIL
        ),
    },
    "backup_codes.html": {**_WAY, "codes": CODES},
    "choose_organization.html": {**_WAY, "organizations": [_ORGANIZATION, _ORGANIZATION], "present": 1},
    "confirm_registration.html": {
        **_FORM,
        "token": "token",
        "email": EMAIL,
        "place": NAME,
        "registration": SimpleNamespace(created_at=NOW, origin="203.0.113.7 (Reykjavík, IS)"),
        "is_same_browser": False,
        "problem": SHORT,
    },
    "confirm_email_change.html": {"token": "token", "old_email": EMAIL, "new_email": EMAIL},
    "confirmation.html": {
        "token": "token",
        "found": SimpleNamespace(
            organization=_ORGANIZATION, user=SimpleNamespace(email=EMAIL), membership=SimpleNamespace(role="admin")
        ),
    },
    "device.html": {**_FORM, "problem": PROBLEM, "user_code": "WDJB-MJHT"},
    "device_answer.html": {
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
    },
    "device_answered.html": {"is_approved": False},
    "drop_email_change.html": {"token": "token"},
    "email_change_dropped.html": {},
    "email_change_undone.html": {"token": "token"},
    "form_post.html": {
        "address": "https://harbour.example/callback",
        "fields": {"code": "c", "state": NAME},
        "submits_itself": False,
    },
    "forgot_password.html": {**_WAY, "problem": PROBLEM},
    "home.html": {**_FORM, "is_custom_host": False},
    "invitation.html": {
        "token": "token",
        "proof": "proof",
        "presented": SimpleNamespace(
            organization_name=NAME,
            inviter_email=EMAIL,
            invitation=SimpleNamespace(role="member", email=EMAIL, expires_at=NOW),
        ),
    },
    "leading_on.html": {"address": "https://harbour.example/callback?state=x", "frames": ()},
    "logout.html": {
        **_FORM,
        "service_name": NAME,
        "address": "https://harbour.example/?state=x",
        "client_id": "id",
        "redirect_uri": "https://harbour.example/",
        "state": "x",
    },
    "magic_link.html": {"token": "token", "email": EMAIL, "place": NAME, "signs_in": False},
    "magic_link_code.html": {"code": "67CA25LAB3WNJ52MIT6VHE4I6P427TIV", "back": _BACK},
    "mailed_link.html": {**_WAY, "problem": PROBLEM},
    "message.html": {
        "heading": NAME,
        "text": EMAIL,
        "back": _BACK,
        "next": ("Sign in", "/"),
        "details": NAME,
        "request_id": "a" * 64,
    },
    "new_passkey.html": {
        **_FORM,
        "host": EMAIL.partition("@")[2],
        "challenge_id": "id",
        "options": "{}",
        "problem": PROBLEM,
    },
    "password_link_sent.html": _WAY,
    "register.html": {**_WAY, "name": "Ada", "problems": {"email": PROBLEM, "password": PROBLEM, "name": PROBLEM}},
    "registered.html": _WAY,
    "reset_password.html": {
        "token": "token",
        "email": EMAIL,
        "place": NAME,
        "password_problem": PROBLEM,
        "repeated_problem": PROBLEM,
    },
    "sandbox_checkout.html": {"session": _SANDBOX, "price": "19.00 EUR"},
    "sandbox_portal.html": {
        "session": _SANDBOX,
        "subscriptions": [(_SUBSCRIPTION, "19.00 EUR"), (_SUBSCRIPTION, "9.00 EUR")],
        "actions": [(SimpleNamespace(value="renew"), "Renew"), (SimpleNamespace(value="cancel"), "Cancel")],
    },
    "saml_agreement.html": {
        **_FORM,
        "wanted": SimpleNamespace(
            service_name=NAME, organization_name=NAME, email=EMAIL, attributes=("email", "id", "name", "role", "groups")
        ),
        "action": "/saml/royal/harbour/authenticate",
        "saml_state": "state",
        "relay_state": NAME,
    },
    "saml_denied.html": {"message": _SAML_MESSAGE, "place": NAME, "heading": NAME, "text": EMAIL},
    "saml_post.html": {"message": _SAML_MESSAGE, "place": NAME, "submits_itself": False},
    "saml_redirect.html": {"url": "https://harbour.example/slo?SAMLRequest=fZA"},
    "second_factor.html": {**_WAY, "problem": PROBLEM, "stay": "on", "trust": "on"},
    "second_factor_code.html": {**_WAY, "problem": PROBLEM, "secret": SECRET.replace(" ", ""), "picture": QR_CODE},
    "second_factor_setup.html": _WAY,
    "setup.html": {
        **_SETUP,
        "parts": [(NAME, "/app/setup/parts/saml"), ("Your own domain", "/app/setup/parts/domain")],
    },
    "setup_connection.html": {
        **_SETUP,
        "connection": SimpleNamespace(
            id="0191d3c1-0000-7000-8000-00000000000f", name=NAME, is_saml=True, enabled=True, metadata_url=None
        ),
        "provider": SimpleNamespace(
            entity_id="https://id.example.com/auth/upstream/id/metadata",
            acs_url="https://id.example.com/auth/upstream/id/acs",
        ),
        "callback": "https://id.example.com/auth/upstream/callback",
        "claimed": [
            SimpleNamespace(
                id="0191d3c1-0000-7000-8000-00000000000f",
                domain=EMAIL.partition("@")[2],
                status="verified",
                txt_name="_gatehouse." + EMAIL.partition("@")[2],
                txt_value="gatehouse-verification=sR8uJ0bX3mWq6yTz1kLhVn5cPd2eAf9gZi7oQ4jBxMw",
            )
        ],
        "problem": PROBLEM,
        "outcome": None,
    },
    "setup_domain.html": {
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
    "setup_link.html": {**_SETUP, "secret": "secret", "titles": ["Your own domain", NAME]},
    "setup_saml.html": {
        **_SETUP,
        "shown": SimpleNamespace(
            service=SimpleNamespace(name=NAME),
            configuration=SimpleNamespace(enabled=True),
            certificate=SimpleNamespace(public_key=f"-----BEGIN CERTIFICATE-----\n{'M' * 64}", valid_until=NOW),
            contact=SimpleNamespace(last_request_at=NOW, last_error=NAME, last_error_at=NOW),
        ),
        "typed": SimpleNamespace(
            metadata=NAME,
            entity_id="https://harbour.example/metadata",
            acs_url="https://harbour.example/acs",
            name_id_format="",
            email_attribute="",
        ),
        "problems": dict.fromkeys(("metadata", "entity_id", "acs_url", "name_id_format", "attribute_mapping"), PROBLEM),
        "names": [("a", "Email address"), ("b", "Persistent id")],
        "entra": ENTRA,
        "entity_id": "https://id.example.com/saml/royal/harbour",
    },
    "setup_scim.html": {
        **_SETUP,
        "shown": SimpleNamespace(
            tokens=[SimpleNamespace(**_ROW, prefix="scim_live_67CA25")],
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
        "token": Secret("scim_live_67CA25_" + "M" * 43),
        "scim_url": "https://id.example.com/scim/v2",
    },
    "setup_siem.html": {
        **_SETUP,
        "stream": SimpleNamespace(last_error=NAME, last_success_at=NOW, lag=12, has_token=True),
        "typed": SimpleNamespace(siem_provider="splunk", endpoint="https://splunk.example", index="main"),
        "problems": {"provider": PROBLEM, "endpoint": PROBLEM, "token": PROBLEM, "options": PROBLEM},
        "providers": [("splunk", "Splunk"), ("datadog", "Datadog")],
        "was_tested": True,
        "tested": NAME,
    },
    "sign_in.html": {**_WAY, "proposed_email": EMAIL, "providers": ["codehost"], "is_invalid": True},
    "sign_in_again.html": {**_WAY, "problem": PROBLEM, "has_code": True},
    "setup_upstream.html": {
        **_SETUP,
        "connections": [
            SimpleNamespace(id="0191d3c1-0000-7000-8000-00000000000f", name=NAME, type="saml", issuer=None)
        ],
        "problem": PROBLEM,
        "problems": {"oidc-issuer": PROBLEM},
        "typed": SimpleNamespace(name=NAME, issuer="", client_id=""),
        "callback": "https://id.example.com/auth/upstream/callback",
    },
    "sign_in_methods.html": {
        **_WAY,
        "problem": PROBLEM,
        "stay": "on",
        "connection": SimpleNamespace(provider_name=NAME, connection_id="0191d3c1-0000-7000-8000-00000000000f"),
    },
    "sign_in_over.html": _WAY,
    "sign_out.html": {**_FORM, "sign_in": "/app/sign-in"},
    "undo_email_change.html": {"token": "token", "changed_at": NOW},
}

samples = Routes("samples", "Every page with sample values.")


@samples.get("/samples/:name")
@public
async def sample(call: Call, name: str) -> Page:
    """Show a page with sample values."""
    response = page(call, name, **SAMPLES[name])
    response.headers["Content-Security-Policy"] += "; connect-src 'self'"
    return response
