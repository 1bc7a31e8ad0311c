"""A person can do by page what the interface can do: each operation, with the routes by which a browser does it.

A new operation of a person has to be entered here: with its pages, or with why only programs use it.
"""

from __future__ import annotations

from typing import Final

import pytest

from entrypoints import capabilities
from entrypoints.web.serving.admission.access_policies import CredentialKind

ROUTES = {route.name: route for route in capabilities.routes(is_development=False)}
ORGANIZATION: Final = "/app/organizations/:org_slug"
SERVICE: Final = f"{ORGANIZATION}/services/:service_slug"
PLATFORM: Final = "/app/platform"
ACCOUNT: Final = "/app/account"

# By the path of the interface, with the part that all paths of a group begin with left out: what a browser opens to
# read, and the form that it sends to change something.
_OF_ORGANIZATION: Final = {
    "GET ": "/settings",
    "PATCH ": "/settings",
    "DELETE ": "/settings/delete",
    "GET /analytics/login-trends": "/analytics",
    "GET /analytics/logins-by-provider": "/analytics",
    "GET /analytics/logins-by-service": "/analytics",
    "GET /analytics/recent-logins": "/analytics/sign-ins",
    "GET /audit-log": "/audit",
    "GET /audit-log/event-types": "/audit",
    "GET /audit-log/export": "/audit/export.jsonl",
    "GET /audit-log/proof": "/audit/proof.json",
    "GET /sign-in-rules": "/sign-in/second-factors",
    "PATCH /sign-in-rules": "/sign-in/second-factors",
    "GET /branding": "/branding",
    "PATCH /branding": "/branding",
    "GET /domain": "/domain",
    "PUT /domain": "/domain",
    "DELETE /domain": "/domain/delete",
    "POST /domain/verify": ("/domain", "/domain/verify"),
    "GET /domain-routes": "/sign-in/mail-domains",
    "POST /domain-routes": "/sign-in/mail-domains",
    "PATCH /domain-routes/:route_id": "/sign-in/mail-domains/:route_id",
    "DELETE /domain-routes/:route_id": "/sign-in/mail-domains/:route_id/remove",
    "POST /domain-routes/:route_id/verify": (
        "/sign-in/mail-domains/:route_id",
        "/sign-in/mail-domains/:route_id/check",
    ),
    "GET /invitations": "/people/invited",
    "POST /invitations": "/people/invited",
    "POST /invitations/:invitation_id": ("/people/invited", "/people/invited/:invitation_id/withdraw"),
    "POST /invitations/:invitation_id/accept": "/people/invited/:invitation_id/accept",
    "GET /keys": "/keys",
    "POST /keys": "/keys",
    "DELETE /keys/:key_id": "/keys/:key_id/delete",
    "GET /keys/:key_id/made": "/keys/:key_id/delete",
    "GET /keys/:key_id/workloads": "/keys/:key_id/workloads",
    "POST /keys/:key_id/workloads": "/keys/:key_id/workloads/new",
    "DELETE /keys/:key_id/workloads/:workload_id": "/keys/:key_id/workloads/:workload_id/delete",
    "POST /leave": "/settings/leave",
    "GET /members": "/people",
    "PATCH /members/:user_id": "/people/:user_id",
    "POST /members/:user_id": "/people/:user_id/remove",
    "GET /oauth-credentials/:provider": "/sign-in/oauth-credentials/:provider",
    "PUT /oauth-credentials/:provider": "/sign-in/oauth-credentials/:provider",
    "DELETE /oauth-credentials/:provider": (
        "/sign-in/oauth-credentials/:provider",
        "/sign-in/oauth-credentials/:provider/delete",
    ),
    "GET /roles": "/roles",
    "POST /roles": "/roles",
    "GET /roles/:role_slug": "/roles/:role_slug",
    "PATCH /roles/:role_slug": "/roles/:role_slug",
    "DELETE /roles/:role_slug": "/roles/:role_slug/delete",
    "GET /groups": "/people/groups",
    "GET /groups/:group_id/members": "/people/groups/:group_id",
    "GET /group-rules": "/people/groups/rules",
    "PUT /group-rules": ("/people/groups/rules", "/people/groups/rules/check"),
    "GET /products": "/products",
    "POST /products": "/products",
    "GET /products/:client_id": "/products/:client_id",
    "PATCH /products/:client_id": "/products/:client_id",
    "DELETE /products/:client_id": "/products/:client_id/end",
    "GET /made-for-us": "/made-for-us",
    "POST /made-for-us/:thing_id/adopt": "/made-for-us/:thing_id/adopt",
    "DELETE /made-for-us/:thing_id": "/made-for-us/:thing_id/remove",
    "GET /scim-log": "/provisioning/calls",
    "GET /scim-tokens": "/provisioning",
    "POST /scim-tokens": "/provisioning",
    "DELETE /scim-tokens/:token_id": "/provisioning/:token_id/revoke",
    "GET /services": "/services",
    "POST /services": "/services/new",
    "GET /setup-links": "/setup-links",
    "POST /setup-links": "/setup-links",
    "DELETE /setup-links/:link_id": "/setup-links/:link_id/revoke",
    "GET /siem": "/siem",
    "POST /siem": "/siem",
    "DELETE /siem": "/siem/delete",
    "POST /siem/restart": "/siem/restart",
    "POST /siem/test": ("/siem", "/siem/test"),
    "GET /smtp": "/mail",
    "PUT /smtp": "/mail",
    "DELETE /smtp": "/mail/removal",
    "POST /smtp/test": ("/mail", "/mail/test"),
    "POST /transfer-ownership": "/settings/ownership",
    "GET /upstream-providers": "/sign-in",
    "POST /upstream-providers": "/sign-in/connections/new",
    "GET /upstream-providers/:provider_id": "/sign-in/connections/:connection_id",
    "PATCH /upstream-providers/:provider_id": "/sign-in/connections/:connection_id",
    "DELETE /upstream-providers/:provider_id": "/sign-in/connections/:connection_id/delete",
    "POST /upstream-providers/:provider_id/rotate-key-pair": (
        "/sign-in/connections/:connection_id",
        "/sign-in/connections/:connection_id/rotate-key-pair",
    ),
    "POST /upstream-providers/:provider_id/test": (
        "/sign-in/connections/:connection_id",
        "/sign-in/connections/:connection_id/ask",
    ),
    "GET /users": "/people/end-users",
    "GET /users/:user_id": "/people/end-users/:user_id",
    "GET /users/:user_id/sign-ins": "/people/end-users/:user_id",
    "DELETE /users/:user_id/sessions": "/people/end-users/:user_id/end",
    "POST /users/:user_id/lock": "/people/lock/:user_id",
    "GET /webhooks": "/webhooks",
    "POST /webhooks": "/webhooks/new",
    "GET /webhooks/event-types": "/webhooks/new",
    "GET /webhooks/:webhook_id": "/webhooks/:webhook_id",
    "PATCH /webhooks/:webhook_id": "/webhooks/:webhook_id/change",
    "DELETE /webhooks/:webhook_id": "/webhooks/:webhook_id/delete",
    "GET /webhooks/:webhook_id/deliveries": "/webhooks/:webhook_id/deliveries",
    "POST /webhooks/:webhook_id/deliveries/:delivery_id/redeliver": (
        "/webhooks/:webhook_id/deliveries/:delivery_id",
        "/webhooks/:webhook_id/deliveries/:delivery_id/redeliver",
    ),
    "POST /webhooks/:webhook_id/redeliver-failed": "/webhooks/:webhook_id/deliveries/failed",
    "POST /webhooks/:webhook_id/rotate-secret": "/webhooks/:webhook_id/secret",
    "POST /webhooks/:webhook_id/test": ("/webhooks/:webhook_id", "/webhooks/:webhook_id/test"),
    "GET /why": "/why",
}
_OF_SERVICE: Final = {
    "GET ": "/options",
    "PATCH ": "/options",
    "DELETE ": "/deletion",
    "GET /api-keys": "/api-keys",
    "POST /api-keys": "/api-keys/new",
    "GET /api-keys/:api_key_id": "/api-keys/:api_key_id",
    "DELETE /api-keys/:api_key_id": "/api-keys/:api_key_id/revoke",
    "GET /problems": "/problems",
    "GET /workloads": "/workloads",
    "POST /workloads": "/workloads/new",
    "DELETE /workloads/:workload_id": "/workloads/:workload_id/delete",
    "GET /customers": "/customers",
    "POST /customers": "/customers",
    "GET /customers/:customer_id": "/customers/:customer_id",
    "PATCH /customers/:customer_id": "/customers/:customer_id",
    "DELETE /customers/:customer_id": "/customers/:customer_id/end",
    "POST /customers/:customer_id/owner": ("/customers/:customer_id", "/customers/:customer_id/owner"),
    "POST /customers/:customer_id/restore": ("/customers/:customer_id", "/customers/:customer_id/restore"),
    "GET /customers/:customer_id/usage": "/customers/:customer_id",
    "GET /customers/:customer_id/connections": "/customers/:customer_id/connections",
    "POST /customers/:customer_id/connections": "/customers/:customer_id/connections/new",
    "GET /customers/:customer_id/connections/:provider_id": "/customers/:customer_id/connections/:provider_id",
    "PATCH /customers/:customer_id/connections/:provider_id": "/customers/:customer_id/connections/:provider_id",
    "DELETE /customers/:customer_id/connections/:provider_id": (
        "/customers/:customer_id/connections/:provider_id",
        "/customers/:customer_id/connections/:provider_id/remove",
    ),
    "GET /customers/:customer_id/mail-domains": "/customers/:customer_id/mail-domains",
    "POST /customers/:customer_id/mail-domains": "/customers/:customer_id/mail-domains",
    "GET /customers/:customer_id/mail-domains/:domain_id": "/customers/:customer_id/mail-domains",
    "DELETE /customers/:customer_id/mail-domains/:domain_id": (
        "/customers/:customer_id/mail-domains",
        "/customers/:customer_id/mail-domains/:domain_id/remove",
    ),
    "POST /customers/:customer_id/mail-domains/:domain_id/verify": (
        "/customers/:customer_id/mail-domains",
        "/customers/:customer_id/mail-domains/:domain_id/verify",
    ),
    "GET /customers/:customer_id/scim-tokens": "/customers/:customer_id/scim-tokens",
    "POST /customers/:customer_id/scim-tokens": "/customers/:customer_id/scim-tokens",
    "DELETE /customers/:customer_id/scim-tokens/:token_id": "/customers/:customer_id/scim-tokens/:token_id/revoke",
    "GET /customers/:customer_id/group-rules": "/customers/:customer_id/group-rules",
    "POST /customers/:customer_id/group-rules": "/customers/:customer_id/group-rules",
    "GET /customers/:customer_id/group-rules/:rule_id": "/customers/:customer_id/group-rules",
    # A rule whose roles are to be others is removed, and made again.
    "PATCH /customers/:customer_id/group-rules/:rule_id": "/customers/:customer_id/group-rules",
    "DELETE /customers/:customer_id/group-rules/:rule_id": (
        "/customers/:customer_id/group-rules",
        "/customers/:customer_id/group-rules/:rule_id/remove",
    ),
    "GET /customers/:customer_id/setup-links": "/customers/:customer_id/setup-links",
    "POST /customers/:customer_id/setup-links": "/customers/:customer_id/setup-links",
    "DELETE /customers/:customer_id/setup-links/:link_id": (
        "/customers/:customer_id/setup-links",
        "/customers/:customer_id/setup-links/:link_id/revoke",
    ),
    "GET /claims/preview": "/claims",
    "POST /claims/preview": "/claims",
    "POST /checkout": "/plans/:plan_id/buy",
    "GET /grants": "/grants",
    "PUT /grants/:user_id": "/grants/:user_id",
    "DELETE /grants/:user_id": ("/grants/:user_id", "/grants/:user_id/revoke"),
    "GET /plans": "/plans",
    "POST /plans": "/plans/new",
    "PATCH /plans/:plan_id": "/plans/:plan_id",
    "DELETE /plans/:plan_id": "/plans/:plan_id/delete",
    "GET /saml": "/single-sign-on",
    "POST /saml": "/single-sign-on",
    "DELETE /saml": "/single-sign-on/delete",
    "GET /saml/certificate": "/single-sign-on/certificate.pem",
    "POST /saml/certificate": "/single-sign-on/certificate",
    "POST /saml/metadata": "/single-sign-on",
    "POST /secret/rotate": "/secret",
    "PATCH /users/:user_id": "/users/:user_id",
}
_OF_PLATFORM: Final = {
    "GET /audit-log": "/audit",
    "POST /impersonate/:user_id": "/users/:user_id/impersonation",
    "POST /limits/lift": ("/why", "/why/lift"),
    "GET /mails": "/mail",
    "POST /mails/:mail_id/retry": "/mail",
    "GET /mfa/metrics": "",
    "GET /mfa/suspicious": "",
    "GET /organizations": "/organizations",
    "DELETE /organizations/:id": "/organizations/:organization_id/deletion",
    **{
        f"POST /organizations/:id/{action}": (
            "/organizations/:organization_id",
            f"/organizations/:organization_id/{action}",
        )
        for action in ("activate", "approve", "reject")
    },
    "GET /organizations/:id/members": "/organizations/:organization_id/members",
    "POST /organizations/:id/suspend": "/organizations/:organization_id/suspension",
    "PATCH /organizations/:id/tier": (
        "/organizations/:organization_id",
        "/organizations/:organization_id/tier-and-limits",
    ),
    "GET /owners": "/owners",
    "POST /owners": "/owners",
    "DELETE /owners/:user_id": "/owners/:user_id/demote",
    "GET /support": "/owners",
    "POST /support": ("/owners", "/owners/support"),
    "DELETE /support/:user_id": "/owners/support/:user_id/demote",
    "GET /tiers": "/tiers",
    "POST /tiers": "/tiers",
    "PATCH /tiers/:id": "/tiers/:tier_id",
    "DELETE /tiers/:id": "/tiers/:tier_id/delete",
    "GET /users/:user_id": "/users/:user_id",
    "DELETE /users/:user_id/limits": ("/users/:user_id", "/users/:user_id/lift-limits"),
    "GET /users/:user_id/mfa/status": "/users/:user_id",
    "DELETE /users/:user_id/mfa": "/users/:user_id/mfa",
    "POST /users/:user_id/resend-verification": ("/users/:user_id", "/users/:user_id/verify"),
    "DELETE /users/:user_id/sessions": "/users/:user_id/end-sessions",
    "POST /users/:user_id/lock": "/users/:user_id/lock",
    "POST /users/:user_id/unlock": ("/users/:user_id/lock", "/users/:user_id/unlock"),
    "GET /users/:user_id/sign-ins": "/users/:user_id/sign-ins",
    "GET /users/search": "/users",
    "GET /why": "/why",
}
_OF_ACCOUNT: Final = {
    "GET ": "",
    "PATCH ": "/name",
    "DELETE ": "/closing",
    "POST /lock": "/lock",
    "POST /change-password": "/password",
    "POST /set-password": "/password",
    "GET /devices": "/devices",
    "GET /devices/:id": "/devices",
    "PATCH /devices/:id": ("/devices", "/devices/:device_id/rename"),
    "DELETE /devices/:id": ("/devices", "/devices/:device_id/remove"),
    "GET /identities": "/identities",
    "POST /identities/:provider/link": ("/identities", "/identities/link"),
    "DELETE /identities/:provider": ("/identities", "/identities/unlink"),
    "GET /mfa/status": "/second-factor",
    "POST /mfa/setup": ("/second-factor", "/second-factor/setup"),
    "POST /mfa/verify": ("/second-factor", "/second-factor/enable"),
    "DELETE /mfa": ("/second-factor", "/second-factor/disable"),
    "POST /mfa/backup-codes/regenerate": ("/second-factor", "/second-factor/backup-codes"),
    "GET /sessions": "/sessions",
    "DELETE /sessions": ("/sessions", "/sessions/end-others"),
    "DELETE /sessions/:id": ("/sessions", "/sessions/:session_id/end"),
}
_OTHERS: Final = {
    "GET /api/organizations": "/app/organizations",
    "POST /api/organizations": "/app/organizations",
    "POST /api/organizations/:slug/select": "/app/choose-organization",
    "GET /api/subscription": f"{ACCOUNT}/subscriptions",
    "GET /api/privacy/export/:user_id": (
        f"{ORGANIZATION}/people/personal-data/:user_id",
        f"{ORGANIZATION}/people/personal-data/:user_id/download",
    ),
    "DELETE /api/privacy/forget/:user_id": f"{ORGANIZATION}/people/personal-data/:user_id/remove",
    "GET /api/invitations": f"{ACCOUNT}/organizations",
    "POST /api/invitations/accept": "/app/invitations/accept",
    "POST /api/invitations/decline": ("/app/invitations/accept", "/app/invitations/decline"),
    "POST /api/auth/register": "/app/register",
    "POST /api/auth/resend-verification": "/app/register/send-again",
    "POST /api/auth/lookup-email": "/app/sign-in",
    "POST /api/auth/login": "/app/sign-in/password",
    "POST /api/auth/mfa/passkey": "/app/second-factor",
    "POST /api/auth/mfa/verify": "/app/second-factor",
    "POST /api/auth/magic-link/request": "/app/sign-in/link",
    "POST /api/auth/magic-link/verify": "/auth/magic-link",
    "POST /api/auth/forgot-password": "/app/forgot-password",
    "POST /api/auth/reset-password": "/auth/reset-password",
    "POST /api/auth/logout": "/app/sign-out",
    "POST /api/auth/passkeys/authenticate/start": "/app/sign-in/passkey",
    "POST /api/auth/passkeys/authenticate/finish": "/app/sign-in/passkey",
    "POST /api/auth/passkeys/register/start": f"{ACCOUNT}/passkeys/new",
    "POST /api/auth/passkeys/register/finish": f"{ACCOUNT}/passkeys/new",
    "GET /api/auth/passkeys": f"{ACCOUNT}/passkeys",
    "PATCH /api/auth/passkeys/:id": (f"{ACCOUNT}/passkeys", f"{ACCOUNT}/passkeys/:passkey_id/rename"),
    "DELETE /api/auth/passkeys/:id": (f"{ACCOUNT}/passkeys", f"{ACCOUNT}/passkeys/:passkey_id/remove"),
    # A page of its own.
    "GET /api/organizations/:org_slug/services/:service_slug/saml/login": (
        "/api/organizations/:org_slug/services/:service_slug/saml/login"
    ),
}
FOR_PROGRAMS: Final = {
    "GET /api/organizations/:slug/branding/public": "what the pages of an application show before a sign-in",
    "GET /api/organizations/:slug/events": "the feed that a program reads in place of a webhook",
    "GET /api/provider-token/:provider": "the token with which a program calls the interface of another provider",
    "GET /api/user/customers": "what an application lets its user switch among",
    "POST /api/auth/customer": "what a program sends after it has asked for which customer its user comes",
    "POST /api/auth/refresh": "how a program keeps a session",
    "POST /api/organizations/:slug/billing/portal": "the address of a page of the payment provider",
}


def _shapes(name: str) -> tuple[str, str]:
    """Return the two names that the organization has in paths of the interface."""
    return name.replace(":org_slug", ":slug"), name.replace(":slug", ":org_slug")


def pages() -> dict[str, tuple[str, str]]:
    """Return the path of the page and the path of its form, by the name of the operation."""
    groups = (
        ("/api/organizations/:org_slug", ORGANIZATION, _OF_ORGANIZATION),
        ("/api/organizations/:org_slug/services/:service_slug", SERVICE, _OF_SERVICE),
        ("/api/platform", PLATFORM, _OF_PLATFORM),
        ("/api/user", ACCOUNT, _OF_ACCOUNT),
        ("", "", _OTHERS),
    )
    found: dict[str, tuple[str, str]] = {}
    for api, page, operations in groups:
        for operation, paths in operations.items():
            method, _, path = operation.partition(" ")
            name = f"{method} {api}{path}"
            if name not in ROUTES:
                name = next((one for one in _shapes(name) if one in ROUTES), name)
            shown, sent = paths if isinstance(paths, tuple) else (paths, paths)
            found[name] = (page + shown, page + sent)
    return found


PAGES = pages()


def test_each_operation_of_a_person_has_a_page_or_is_for_programs() -> None:
    kinds = {CredentialKind.ACCESS_TOKEN, CredentialKind.PRE_AUTH_TOKEN, CredentialKind.NONE}
    operations = {name for name, route in ROUTES.items() if route.path.startswith("/api/") and route.who.kind in kinds}

    assert operations == PAGES.keys() | FOR_PROGRAMS.keys()
    assert not PAGES.keys() & FOR_PROGRAMS.keys()


@pytest.mark.parametrize(("operation", "paths"), PAGES.items(), ids=PAGES)
def test_a_browser_opens_the_page_and_sends_its_form(operation: str, paths: tuple[str, str]) -> None:
    shown, sent = paths

    assert f"GET {shown}" in ROUTES
    if not operation.startswith("GET ") or sent != shown:
        form = ROUTES[f"POST {sent}"]
        # The page of a mailed link asks for nothing but the link.
        assert form.who.kind in {CredentialKind.BROWSER_SESSION, CredentialKind.NONE}
        assert form.form is not None


def test_a_form_takes_what_the_operation_takes(subtests: pytest.Subtests) -> None:
    for operation, (_, sent) in PAGES.items():
        of_api = ROUTES[operation].who
        if operation.startswith("GET ") or not (of_api.operation or of_api.governs_platform):
            continue
        of_form = ROUTES[f"POST {sent}"].who
        with subtests.test(operation=operation):
            assert of_form.governs_platform is of_api.governs_platform
            assert of_form.helps_users is of_api.helps_users
            assert of_form.is_on_service or not of_api.is_on_service
            if of_api.operation and of_form.operation:
                assert of_form.operation.takes == of_api.operation.takes
