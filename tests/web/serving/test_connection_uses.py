"""The use for which each route takes connections: sign-ins, and nothing else, have reserved ones."""

from __future__ import annotations

import pytest

from core.rate_limits import RateLimit
from entrypoints import capabilities
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route

ROUTES = capabilities.routes(is_development=True)
# What draws from these is an attempt to sign in, or a step of one.
OF_SIGN_INS = {
    RateLimit.LOGIN,
    RateLimit.PASSKEY_SIGN_IN,
    RateLimit.MAGIC_LINK_REQUEST,
    RateLimit.DEVICE_FLOW,
    RateLimit.SAML,
}
OF_ORGANIZATIONS = {CredentialKind.API_KEY, CredentialKind.SCIM_TOKEN}


def is_of_organization(route: Route) -> bool:
    """Return whether what calls the route belongs to an organization, and does not sign in there."""
    return (
        route.who.operation is not None or route.who.kind in OF_ORGANIZATIONS
    ) and RateLimit.SAML not in route.limits


def test_every_route_that_signs_in_has_reserved_connections(subtests: pytest.Subtests) -> None:
    found = 0
    for route in ROUTES:
        signs_in = OF_SIGN_INS & {*route.limits} or route.who.kind is CredentialKind.PRE_AUTH_TOKEN
        if signs_in:
            found += 1
            with subtests.test(route=route.name):
                assert route.use.is_sign_in
    assert found


@pytest.mark.parametrize(
    "name",
    [
        "POST /api/auth/login",
        "POST /api/auth/mfa/passkey",
        "POST /api/auth/mfa/verify",
        "POST /api/auth/refresh",
        "GET /auth/authorize",
        "POST /auth/token",
        "POST /auth/introspect",
        "GET /auth/userinfo",
        "GET /auth/upstream",
        "GET /app/sign-in",
        "POST /app/second-factor",
        "GET /saml/:org_slug/:service_slug/sso",
        "GET /api/organizations/:org_slug/services/:service_slug/saml/login",
    ],
)
def test_sign_ins_and_checks_of_tokens_have_reserved_connections(name: str) -> None:
    [route] = [route for route in ROUTES if route.name == name]

    assert route.use.is_sign_in


def test_what_organizations_and_the_platform_do_has_none(subtests: pytest.Subtests) -> None:
    for route in ROUTES:
        if is_of_organization(route) or route.who.governs_platform:
            with subtests.test(route=route.name):
                assert not route.use.is_sign_in


def test_all_that_is_not_a_read_in_an_organization_may_change_it(subtests: pytest.Subtests) -> None:
    for route in ROUTES:
        with subtests.test(route=route.name):
            assert route.use.changes_organization == (is_of_organization(route) and route.method != "GET")


def test_the_use_names_the_organization_of_the_path(subtests: pytest.Subtests) -> None:
    for route in ROUTES:
        if route.who.operation is not None:
            with subtests.test(route=route.name):
                path = dict.fromkeys(route.path_parameters, "acme")
                assert route.use_of(path).organization_slug == "acme"
                assert route.use_of(path).is_sign_in == route.use.is_sign_in
