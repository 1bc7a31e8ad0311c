"""One credential of every kind, issued by a running server, and whether each is still good at another one.

Everything goes through the interface, so that a released version can have issued them.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from pyotp.totp import TOTP

from tests.authenticators import Authenticator
from tests.entrypoints.site import BASE_URL, Site, location_of
from tests.processes import Service
from tests.service_provider import NAMESPACES, ServiceProvider, is_signed, posted_form
from tests.world.visitor import FORM, forms_in

OWNER: Final = "root@example.com"
PASSWORD: Final = "correct horse battery"
# Accounts with a second factor, each for one check: a code is used once.
WITH_CODES: Final = ("codes-1@example.com", "codes-2@example.com", "codes-3@example.com")
ACME: Final = "/api/organizations/acme"
SHOP: Final = f"{ACME}/services/shop"
REDIRECT_URI: Final = "https://shop.example/callback"
VERIFIER: Final = "correct-horse-battery-staple-correct-horse-battery"
SAML_PATH: Final = "/saml/acme/shop"
STEP_SECONDS: Final = 30


@dataclass
class SecondFactor:
    """An authenticator app with its backup codes."""

    secret: str
    codes: list[str]
    last_step: int

    def code(self) -> str:
        """Return a code that was not used yet: of this moment, or of the next one."""
        step = max(int(time.time()) // STEP_SECONDS, self.last_step + 1)
        self.last_step = step
        return TOTP(self.secret).at(step * STEP_SECONDS)


@dataclass
class OldCredentials:
    """What was issued. Checking uses up codes and exchanges tokens, so each check of one moment takes a copy."""

    access_token: str = ""
    refresh_token: str = ""
    cookies: dict[str, str] = field(default_factory=dict[str, str])
    api_key: str = ""
    organization_credential: str = ""
    scim_token: str = ""
    client: tuple[str, str] = ("", "")
    grant: dict[str, Any] = field(default_factory=dict[str, Any])
    passkey: Authenticator = field(default_factory=Authenticator)
    second_factors: dict[str, SecondFactor] = field(default_factory=dict[str, SecondFactor])
    certificate: str = ""


def issue(service: Service) -> OldCredentials:
    """Let a server that has the owner and the accounts issue one of each kind."""
    site, made = Site(service), OldCredentials()
    first = site.ask("POST", "/api/auth/login", {"email": OWNER, "password": PASSWORD})
    made.access_token, made.refresh_token = first["access_token"], first["refresh_token"]
    site.ask("POST", "/api/organizations", {"name": "Acme", "slug": "acme"}, token=made.access_token)
    shop = site.ask(
        "POST",
        f"{ACME}/services",
        {"slug": "shop", "name": "Shop", "service_type": "web", "redirect_uris": [REDIRECT_URI]},
        token=made.access_token,
    )
    made.client = shop["service"]["client_id"], shop["client_secret"]
    key = {"name": "backend", "permissions": ["read:users"]}
    made.api_key = site.ask("POST", f"{SHOP}/api-keys", key, token=made.access_token)["key"]
    made.scim_token = site.ask("POST", f"{ACME}/scim-tokens", {"name": "directory"}, token=made.access_token)["token"]
    _configure_saml(site, made)
    _register_passkey(site, made)
    for email in WITH_CODES:
        made.second_factors[email] = _second_factor(site, email)
    site.sign_in(OWNER, PASSWORD)
    made.grant = _granted(site, made.client)
    made.cookies = dict(site.cookies)
    return made


def issue_organization_key(service: Service, made: OldCredentials) -> None:
    """Let a server issue what the last release did not have."""
    body = {"name": "program", "permissions": ["services.view"]}
    made.organization_credential = Site(service).ask("POST", f"{ACME}/keys", body, token=made.access_token)["secret"]


def require_good(service: Service, old: OldCredentials, with_code: str) -> None:
    """Fail unless every credential is good at this server; each kind is tried, and all failures are named."""
    failures: dict[str, str] = {}
    for kind, check in CHECKS.items():
        try:
            check(Site(service, dict(old.cookies)), old, with_code)
        except AssertionError as failure:
            failures[kind] = str(failure)
    assert failures == {}


def _password(site: Site, _old: OldCredentials, _with_code: str) -> None:
    site.ask("POST", "/api/auth/login", {"email": OWNER, "password": PASSWORD})


def _access_token(site: Site, old: OldCredentials, _with_code: str) -> None:
    assert site.ask("GET", "/api/user", token=old.access_token)["email"] == OWNER


def _refresh_token(site: Site, old: OldCredentials, _with_code: str) -> None:
    fresh = site.ask("POST", "/api/auth/refresh", {"refresh_token": old.refresh_token})
    old.access_token, old.refresh_token = fresh["access_token"], fresh["refresh_token"]
    assert site.ask("GET", "/api/user", token=old.access_token)["email"] == OWNER


def _cookie(site: Site, _old: OldCredentials, _with_code: str) -> None:
    page = site.open("/app/account", until="/app/sign-in")
    assert page.status == 200, location_of(page)
    assert OWNER in page.content.decode()


def _api_key(site: Site, old: OldCredentials, _with_code: str) -> None:
    site.ask("GET", "/api/service/users", headers={"X-Api-Key": old.api_key})


def _organization_key(site: Site, old: OldCredentials, _with_code: str) -> None:
    if old.organization_credential:
        site.ask("GET", f"{ACME}/services", headers={"X-Api-Key": old.organization_credential})


def _scim_token(site: Site, old: OldCredentials, _with_code: str) -> None:
    assert site.ask("GET", "/scim/v2/Users", token=old.scim_token)["totalResults"] >= 1


def _oauth_grant(site: Site, old: OldCredentials, _with_code: str) -> None:
    assert site.ask("GET", "/auth/userinfo", token=old.grant["access_token"])["email"] == OWNER
    old.grant = _token(site, old.client, grant_type="refresh_token", refresh_token=old.grant["refresh_token"])
    assert site.ask("GET", "/auth/userinfo", token=old.grant["access_token"])["email"] == OWNER


def _passkey(site: Site, old: OldCredentials, _with_code: str) -> None:
    challenge = site.ask("POST", "/api/auth/passkeys/authenticate/start", {"email": OWNER})
    signed = old.passkey.get(challenge["options"])
    body = {"challenge_id": challenge["challenge_id"], "credential": signed}
    tokens = site.ask("POST", "/api/auth/passkeys/authenticate/finish", body)
    assert site.ask("GET", "/api/user", token=tokens["access_token"])["email"] == OWNER


def _authenticator_app(site: Site, old: OldCredentials, with_code: str) -> None:
    _sign_in_with_code(site, with_code, old.second_factors[with_code].code())


def _backup_code(site: Site, old: OldCredentials, with_code: str) -> None:
    _sign_in_with_code(site, with_code, old.second_factors[with_code].codes.pop())


def _saml(site: Site, old: OldCredentials, _with_code: str) -> None:
    provider = _service_provider()
    page = site.open(f"{SAML_PATH}/sso?{provider.query(provider.authn_request())}")
    # Version 0.1.0 asks in between whether to sign in there.
    forms = [form.action for form in forms_in(page.content.decode())]
    if f"{SAML_PATH}/authenticate" in [urlsplit(action).path for action in forms]:
        page = site.submit(page, f"{SAML_PATH}/authenticate")
    form = posted_form(page.content.decode())
    assert form.statuses == ["Success"]
    [assertion] = form.root.xpath("//saml:Assertion", namespaces=NAMESPACES)
    assert is_signed(assertion, old.certificate), "the certificate is another one"


CHECKS: Final[dict[str, Callable[[Site, OldCredentials, str], None]]] = {
    "password": _password,
    "access token": _access_token,
    "refresh token": _refresh_token,
    "session cookie": _cookie,
    "API key": _api_key,
    "key of an organization": _organization_key,
    "SCIM token": _scim_token,
    "OAuth grant": _oauth_grant,
    "passkey": _passkey,
    "authenticator app": _authenticator_app,
    "backup code": _backup_code,
    "SAML": _saml,
}


def _sign_in_with_code(site: Site, email: str, code: str) -> None:
    asked = site.ask("POST", "/api/auth/login", {"email": email, "password": PASSWORD})
    body = {"preauth_token": asked["preauth_token"], "code": code}
    tokens = site.ask("POST", "/api/auth/mfa/verify", body)
    assert site.ask("GET", "/api/user", token=tokens["access_token"])["email"] == email


def _second_factor(site: Site, email: str) -> SecondFactor:
    token = site.ask("POST", "/api/auth/login", {"email": email, "password": PASSWORD})["access_token"]
    factor = SecondFactor(site.ask("POST", "/api/user/mfa/setup", token=token)["secret"], [], 0)
    factor.codes = site.ask("POST", "/api/user/mfa/verify", {"code": factor.code()}, token=token)["backup_codes"]
    return factor


def _register_passkey(site: Site, made: OldCredentials) -> None:
    challenge = site.ask("POST", "/api/auth/passkeys/register/start", token=made.access_token)
    body = {"challenge_id": challenge["challenge_id"], "credential": made.passkey.create(challenge["options"])}
    site.ask("POST", "/api/auth/passkeys/register/finish", body, token=made.access_token)


def _service_provider() -> ServiceProvider:
    return ServiceProvider(now=lambda: datetime.now(UTC), idp=f"{BASE_URL}{SAML_PATH}")


def _configure_saml(site: Site, made: OldCredentials) -> None:
    site.ask("POST", f"{SHOP}/saml", _service_provider().configuration, token=made.access_token)
    made.certificate = site.ask("POST", f"{SHOP}/saml/certificate", token=made.access_token)["public_key"]


def _granted(site: Site, client: tuple[str, str]) -> dict[str, Any]:
    """Let the browser, which is signed in, grant a service access, and return its tokens."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    asked = {
        "client_id": client[0],
        "response_type": "code",
        "redirect_uri": REDIRECT_URI,
        "scope": "openid email offline_access",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    answer = site.open(f"/auth/authorize?{urlencode(asked)}", until=REDIRECT_URI)
    if not location_of(answer):
        answer = site.submit(answer, "/auth/authorize/allow", until=REDIRECT_URI)
    [code] = parse_qs(urlsplit(location_of(answer)).query)["code"]
    return _token(
        site, client, grant_type="authorization_code", code=code, redirect_uri=REDIRECT_URI, code_verifier=VERIFIER
    )


def _token(site: Site, client: tuple[str, str], **fields: str) -> dict[str, Any]:
    basic = base64.b64encode(":".join(client).encode()).decode()
    headers = {"Authorization": f"Basic {basic}", "Content-Type": FORM}
    return site.ask("POST", "/auth/token", urlencode(fields).encode(), headers=headers)
