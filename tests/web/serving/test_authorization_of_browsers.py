"""The authorization matrix of the pages: every kind of caller opens every page of a browser session."""

from __future__ import annotations

import re
from itertools import product
from urllib.parse import urlencode

import pytest

from core.errors import ErrorCode
from core.organizations.access import Capability, Operation
from core.organizations.organizations import OrganizationStatus
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.admission.impersonating import STOP
from entrypoints.web.serving.routes import Route
from tests.application import Answer
from tests.sampling import drawn, drawn_of_each
from tests.web.serving.test_authorization import (
    ROUTES,
    SIGNED_IN,
    SLUGS,
    UNKNOWN_ID,
    call,
    code_of,
    is_authorized,
    may,
)
from tests.world.callers import ACME, ROLES, Caller, Callers, insert_callers
from tests.world.world import World

FOR_BROWSERS = [route for route in ROUTES if route.who.kind is CredentialKind.BROWSER_SESSION]
# The pages of an organization's console, and of the platform's.
# Leaving comes last, because it ends what opens the others.
IN_CONSOLE = sorted(
    (route for route in FOR_BROWSERS if route.who.operation is not None),
    key=lambda route: route.who.operation is Operation.ORGANIZATION_LEAVE,
)
ON_SERVICE = [route for route in IN_CONSOLE if route.who.is_on_service]
OF_PLATFORM = [route for route in FOR_BROWSERS if route.who.governs_platform]
FORMS = [route for route in ROUTES if route.who.has_protected_forms and route.method != "GET"]
# Steps that lead on to a page with the button that signs out, and what pages show as a part of them.
STEPS = ("/app/invitations/joined/", "/app/passkey", "/app/password-notice", "/app/second-factor/")
PARTS = ("/audit/feed", "/branding/preview", "/search/options")


@pytest.fixture
def callers(world: World) -> Callers:
    """Two organizations and every kind of caller."""
    return insert_callers(world)


async def call_in_browser(callers: Callers, route: Route, caller: Caller, /, **named: str) -> Answer:
    """Call a route of the console from the browser of a caller, whose forms are ours; refusals are read as JSON."""
    names = dict.fromkeys(SLUGS, ACME) | named
    path = re.sub(r":([a-z_]+)", lambda part: names.get(part[1], str(UNKNOWN_ID)), route.path)
    headers = callers.cookie(caller) | {"Accept": "application/json"}
    if route.form is None:
        return await callers.world.client.request(route.method, path, headers=headers)
    # Every page of a browser has the token; this one shows the same to each caller, after the button that stops acting.
    home = await callers.world.client.request("GET", "/app/organizations", headers=headers)
    sent = {"form_token": re.findall('name="form_token" value="([^"]+)"', home.text)[-1]}
    return await callers.world.client.request(
        route.method,
        path,
        headers=headers | {"Content-Type": "application/x-www-form-urlencoded"},
        data=urlencode(sent).encode(),
    )


def code_of_page(answer: Answer) -> str | None:
    """Return the error code of what a page answers to a program; None for a page."""
    return code_of(answer) if answer.headers["Content-Type"].startswith("application/json") else None


async def test_the_cookie_of_a_browser_opens_no_interface(callers: Callers, subtests: pytest.Subtests) -> None:
    for route in SIGNED_IN:
        with subtests.test(route=route.name):
            answer = await call(callers, route, Caller.OWNER, callers.cookie(Caller.OWNER))

            if route.who.takes_browser:
                assert is_authorized(answer), answer.text
            else:
                assert (answer.status, code_of(answer)) == (401, ErrorCode.UNAUTHORIZED.name)


@pytest.mark.matrix
async def test_a_page_of_users_leads_every_caller_without_a_live_browser_session_to_the_sign_in(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    ended = callers.cookie(Caller.REVOKED)

    for route in FOR_BROWSERS:
        # A token of the interface never stands in for the cookie.
        kinds = [*((caller, None) for caller in Caller), (Caller.REVOKED, ended)]
        for caller, credentials in drawn(kinds, route.method, route.path):
            with subtests.test(route=route.name, caller=caller, by_cookie=credentials is not None):
                answer = await call(callers, route, caller, credentials)
                assert (answer.status, answer.headers["Location"].partition("?")[0]) == (303, "/app/sign-in")


@pytest.mark.matrix
async def test_a_page_of_the_console_knows_organizations_as_the_interface_does(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    outsiders = (Caller.STRANGER, Caller.OTHER_OWNER, Caller.PLATFORM_OWNER)
    for route, caller in drawn_of_each(IN_CONSOLE, outsiders):
        with subtests.test(route=route.name, caller=caller):
            refused = await call_in_browser(callers, route, caller)
            not_found = await call_in_browser(callers, route, caller, **dict.fromkeys(SLUGS, "nowhere"))

            assert (refused.status, code_of_page(refused)) == (403, ErrorCode.FORBIDDEN.name)
            assert (not_found.status, code_of_page(not_found)) == (404, ErrorCode.NOT_FOUND.name)


@pytest.mark.matrix
async def test_a_page_of_the_console_opens_to_the_roles_that_its_operation_declares(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    for route, caller in drawn_of_each(IN_CONSOLE, sorted(ROLES)):
        with subtests.test(route=route.name, caller=caller):
            assert route.who.operation is not None
            answer = await call_in_browser(callers, route, caller)

            # An impersonator cannot leave in the name of the user.
            leaves = route.who.operation is Operation.ORGANIZATION_LEAVE and route.method == "POST"
            if may(caller, route.who.operation, callers) and not (leaves and caller is Caller.IMPERSONATED):
                assert is_authorized(answer), answer.text
            else:
                assert (answer.status, code_of_page(answer)) == (403, ErrorCode.FORBIDDEN.name)


@pytest.mark.matrix
async def test_a_grant_opens_the_pages_of_its_own_service_alone(callers: Callers, subtests: pytest.Subtests) -> None:
    world, intern = callers.world, callers.people[Caller.INTERN]
    blog = world.service(callers.acme_id, "blog")
    world.grant(callers.acme_id, blog.id, intern, "manager")

    for route, relation in drawn_of_each(ON_SERVICE, ("viewer", "manager")):
        with subtests.test(route=route.name, relation=relation):
            operation = route.who.operation
            assert operation is not None
            # Anew for each, because a form may delete it.
            world.connection.execute("DELETE FROM services WHERE slug = 'shop'")
            shop = world.service(callers.acme_id, "shop")
            world.grant(callers.acme_id, shop.id, intern, relation)

            answer = await call_in_browser(callers, route, Caller.INTERN, service_slug="shop")

            is_open = operation.takes is Capability.SERVICES_VIEW or (
                operation.takes is Capability.SERVICES_MANAGE and relation == "manager"
            )
            # A grant gives no capability in the organization that the operation requires besides.
            if is_open and operation.capabilities == {operation.takes}:
                assert is_authorized(answer), answer.text
            else:
                assert (answer.status, code_of_page(answer)) == (403, ErrorCode.FORBIDDEN.name)
            for slug in ("till", "nowhere"):
                refused = await call_in_browser(callers, route, Caller.INTERN, service_slug=slug)
                assert (refused.status, code_of_page(refused)) == (403, ErrorCode.FORBIDDEN.name), slug


@pytest.mark.matrix
async def test_a_page_of_an_inactive_organization_opens_only_where_its_operation_declares_the_status(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    inactive = sorted(set(OrganizationStatus) - {OrganizationStatus.ACTIVE})
    for status, route in drawn(product(inactive, IN_CONSOLE)):
        with subtests.test(route=route.name, status=status):
            callers.set_status(status)
            assert route.who.operation is not None

            answer = await call_in_browser(callers, route, Caller.OWNER)

            if status is OrganizationStatus.DELETING:
                assert (answer.status, code_of_page(answer)) == (404, ErrorCode.NOT_FOUND.name)
            elif status in route.who.operation.statuses:
                assert is_authorized(answer), answer.text
            else:
                assert (answer.status, code_of_page(answer)) == (403, ErrorCode.ORGANIZATION_NOT_ACTIVE.name)


@pytest.mark.matrix
async def test_where_mfa_is_required_one_factor_opens_of_the_console_what_it_opens_of_the_interface(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    callers.world.connection.execute("UPDATE organizations SET mfa_required = true")
    with_one_factor = {
        Operation.ORGANIZATION_READ,
        Operation.ORGANIZATION_UPDATE,
        Operation.ORGANIZATION_LEAVE,
    }

    for route in drawn(IN_CONSOLE):
        with subtests.test(route=route.name):
            answer = await call_in_browser(callers, route, Caller.OWNER)

            # The page that shows this form again takes a second factor.
            if route.who.operation in with_one_factor and not route.path.endswith("/sign-in"):
                assert is_authorized(answer), answer.text
            else:
                assert (answer.status, code_of_page(answer)) == (403, ErrorCode.FORBIDDEN.name)


@pytest.mark.matrix
async def test_another_tenant_s_objects_are_neither_shown_nor_changed_in_the_console(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    before = callers.everything_of_globex()

    for route in drawn(IN_CONSOLE):
        with subtests.test(route=route.name):
            answer = await call_in_browser(callers, route, Caller.OWNER, **callers.foreign)

            assert answer.status in {200, 303, 400, 404}, answer.text
            assert answer.status in {400, 404} or not set(callers.foreign) & set(route.path_parameters), answer.text
            assert "other_owner@example.com" not in answer.text
            assert callers.everything_of_globex() == before


@pytest.mark.matrix
async def test_a_page_of_users_is_open_to_a_browser_session(callers: Callers, subtests: pytest.Subtests) -> None:
    for route in drawn(FOR_BROWSERS):
        with subtests.test(route=route.name):
            caller = Caller.PLATFORM_OWNER if route.who.governs_platform else Caller.OWNER
            answer = await call(callers, route, caller, callers.cookie(caller))

            if route.method == "GET":
                assert is_authorized(answer), answer.text
                assert not answer.headers.get("Location", "").startswith("/app/sign-in?")
                if not route.path.startswith(STEPS) and not route.path.endswith(PARTS):
                    is_page = answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
                    assert not is_page or '"/app/sign-out"' in answer.text
            else:
                # The form lacks its token.
                assert answer.status == 403, answer.text


@pytest.mark.matrix
async def test_a_form_without_its_token_or_of_another_site_is_refused_as_a_page(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    cookie = callers.cookie(Caller.OWNER)
    before = callers.everything_of_globex()

    for route in drawn(FORMS):
        with subtests.test(route=route.name):
            for headers in (
                cookie,
                cookie | {"Sec-Fetch-Site": "cross-site"},
                cookie | {"Origin": "https://evil.example"},
            ):
                answer = await call(callers, route, Caller.OWNER, headers)
                assert answer.status == 403, answer.text
                assert answer.headers["Content-Type"].startswith("text/html")
                assert "This form is no longer valid" in answer.text
            assert callers.everything_of_globex() == before


@pytest.mark.matrix
async def test_a_page_of_the_platform_opens_to_its_owners_and_to_support_where_that_is_declared(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    for route in drawn(OF_PLATFORM):
        with subtests.test(route=route.name):
            helping = (Caller.SUPPORT,) if route.who.helps_users else ()
            without_power = (Caller.SUPPORT_WITH_ONE_FACTOR, Caller.SUPPORT_WITHOUT_FACTOR)
            refused = {Caller.STRANGER, Caller.OWNER, Caller.SUPPORT, *without_power} - {*helping}
            for caller in sorted(refused):
                answer = await call_in_browser(callers, route, caller)
                assert (answer.status, code_of_page(answer)) == (403, ErrorCode.FORBIDDEN.name), caller
            for caller in (Caller.PLATFORM_OWNER, *helping):
                assert is_authorized(await call_in_browser(callers, route, caller)), caller


@pytest.mark.matrix
async def test_a_platform_owner_who_acts_as_another_user_opens_no_page_that_is_for_themselves(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    for route in drawn(ROUTES):
        if route.who.has_protected_forms and route.who.operation is None and route.path != STOP:
            with subtests.test(route=route.name):
                answer = await call_in_browser(callers, route, Caller.IMPERSONATED)

                if route.who.is_for_oneself:
                    assert (answer.status, code_of_page(answer)) == (403, ErrorCode.FORBIDDEN.name), answer.text
                else:
                    assert answer.status in {200, 303, 400, 403, 404}, answer.text
                    assert not answer.headers.get("Location", "").startswith("/app/sign-in"), answer.text


@pytest.mark.matrix
async def test_where_an_impersonation_has_ended_no_page_opens_before_its_end_is_seen(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    cookie = callers.cookie(Caller.IMPERSONATED)
    callers.world.connection.execute(
        "UPDATE sessions SET revoked_at = now() WHERE id = %s", (callers.sessions[Caller.IMPERSONATED],)
    )

    for route in drawn(ROUTES):
        if (route.who.has_protected_forms or route.who.takes_browser) and route.path != STOP:
            with subtests.test(route=route.name):
                answer = await call(callers, route, Caller.PLATFORM_OWNER, cookie | {"Accept": "text/html"})

                assert answer.status == 403, answer.text
                assert "You no longer act as another person" in answer.text


async def test_support_opens_no_page_of_a_platform_owner(callers: Callers, subtests: pytest.Subtests) -> None:
    owner_id = str(callers.people[Caller.PLATFORM_OWNER])

    for route in OF_PLATFORM:
        if route.who.helps_users:
            with subtests.test(route=route.name):
                answer = await call_in_browser(callers, route, Caller.SUPPORT, user_id=owner_id)

                if "user_id" in route.path_parameters:
                    assert (answer.status, code_of_page(answer)) == (404, ErrorCode.NOT_FOUND.name)
                else:
                    assert owner_id not in answer.text
                    assert "platform_owner@example.com" not in answer.text
