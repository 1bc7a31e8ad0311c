"""The authorization matrix: every kind of caller calls every route.

The expected result is derived from the declaration of the route, so a new route is covered automatically. Routes share
a world where their calls leave it as it was; each of them is a subtest, so that all failures are reported.

It cannot know what statements select. Each names the organization in its WHERE, and matches a child together with its
parent (ops/decisions/0012-authorization.md); `tests/adapters/statements/` reads them.
"""

import re
from itertools import product
from uuid import UUID

import pytest

from core.errors import ErrorCode
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.organizations import OrganizationStatus
from entrypoints import capabilities
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route
from tests.application import Answer
from tests.sampling import drawn_of_each
from tests.world.callers import ACME, GLOBEX, ROLES, UNKNOWN, Caller, Callers, insert_callers
from tests.world.world import World

ROUTES = sorted(capabilities.routes(is_development=True), key=lambda route: route.name)
UNKNOWN_ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
SLUGS = ("org_slug", "slug")
# What everybody sees of an active organization.
WITHOUT_CREDENTIAL = {"/api/organizations/:slug/branding/public"}
# Their secrets are no credentials of an organization: an invitation, a session, and the payment provider's page.
WITHOUT_CREDENTIALS = {
    "/api/organizations/:org_slug/invitations",
    # Previews of tokens, none of which is signed.
    "/api/organizations/:org_slug/services/:service_slug/claims/preview",
    "/api/organizations/:slug/select",
    "/api/organizations/:slug/billing/portal",
}


def changes_nothing(route: Route) -> bool:
    """Return whether a call by these tests never changes anything."""
    return route.method == "GET" or route.body is not None


def in_one_world(routes: list[Route]) -> pytest.MarkDecorator:
    """Parametrize a test with routes that share one world: those that change nothing; each other one is alone."""
    unchanging, changing = ([route for route in routes if changes_nothing(route) is so] for so in (True, False))
    alone = [pytest.param([route], id=route.name) for route in changing]
    together = [pytest.param(unchanging, id="all that change nothing")] if unchanging else []
    return pytest.mark.parametrize("routes", together + alone)


IN_ORGANIZATION = [
    route
    for route in ROUTES
    if route.who.operation is not None and route.who.kind is not CredentialKind.BROWSER_SESSION
]
ON_SERVICE = [route for route in IN_ORGANIZATION if route.who.is_on_service]
OF_PLATFORM = (Caller.PLATFORM_OWNER, Caller.SUPPORT)
NON_MEMBERS = (Caller.STRANGER, Caller.OTHER_OWNER, *OF_PLATFORM)
SIGNED_IN = [route for route in ROUTES if route.who.kind is CredentialKind.ACCESS_TOKEN]
GOVERNING_PLATFORM = [route for route in SIGNED_IN if route.who.governs_platform]
HELPING_USERS = [route for route in GOVERNING_PLATFORM if route.who.helps_users]


@pytest.fixture
def callers(world: World) -> Callers:
    """Two organizations and every kind of caller."""
    return insert_callers(world)


async def call(
    callers: Callers, route: Route, caller: Caller, credentials: dict[str, str] | None = None, /, **named: str
) -> Answer:
    """Call a route as a caller, with a body that no route accepts, if the route takes one."""
    names = dict.fromkeys(SLUGS, ACME) | named
    path = re.sub(r":([a-z_]+)", lambda part: names.get(part[1], str(UNKNOWN_ID)), route.path)
    return await callers.world.client.request(
        route.method,
        path,
        headers=credentials or callers.credentials(caller),
        data=b"[]" if route.body is not None else None,
    )


async def with_a_service(callers: Callers, caller: Caller) -> dict[str, str]:
    """Sign a caller in to a service of the other tenant, and return the credential headers."""
    email = f"{caller.name.lower()}@example.com"
    tokens = await callers.world.sign_in(email, org_slug=GLOBEX, service_slug=callers.foreign["service_slug"])
    return {"Authorization": f"Bearer {tokens.access_token}"}


def code_of(answer: Answer) -> str | None:
    """Return the error code of an answer, or None if it is no refusal."""
    return answer.json["error_code"] if answer.status >= 400 else None


def is_authorized(answer: Answer) -> bool:
    """Return whether the caller passed authentication and authorization."""
    return answer.status not in {401, 403} and answer.status < 500


def may(caller: Caller, operation: Operation, callers: Callers) -> bool:
    """Return whether a member is allowed the operation, according to its declaration."""
    if operation.is_closed_while_impersonating and caller is Caller.IMPERSONATED:
        return False
    match operation.takes:
        case RequiredStanding.MEMBER:
            return True
        case RequiredStanding.ADMIN:
            return ROLES[caller] in {"owner", "admin"}
        case RequiredStanding.OWNER:
            return caller is Caller.OWNER
        case RequiredStanding.IN_PERSON:
            return caller is not Caller.IMPERSONATED
        case Capability():
            return operation.capabilities <= callers.capabilities(caller)


@pytest.mark.matrix
async def test_a_caller_without_a_valid_access_token_is_refused(callers: Callers, subtests: pytest.Subtests) -> None:
    for route, caller in drawn_of_each(SIGNED_IN, sorted(UNKNOWN)):
        with subtests.test(route=route.name, caller=caller):
            answer = await call(callers, route, caller)

            expected = {
                Caller.EXPIRED: ErrorCode.TOKEN_EXPIRED,
                Caller.SCIM_TOKEN: ErrorCode.JWT_ERROR,
                Caller.PRE_AUTH: ErrorCode.JWT_ERROR,
            }.get(caller, ErrorCode.UNAUTHORIZED)
            assert (answer.status, code_of(answer)) == (401, expected.name)


@pytest.mark.matrix
async def test_a_non_member_is_refused_and_an_unknown_organization_is_not_found(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    for route, caller in drawn_of_each(IN_ORGANIZATION, NON_MEMBERS):
        with subtests.test(route=route.name, caller=caller):
            refused = await call(callers, route, caller)
            not_found = await call(callers, route, caller, **dict.fromkeys(SLUGS, "nowhere"))

            if route.who.is_read_by_support and caller in OF_PLATFORM:
                assert is_authorized(refused), refused.text
            else:
                assert (refused.status, code_of(refused)) == (403, ErrorCode.FORBIDDEN.name)
            assert (not_found.status, code_of(not_found)) == (404, ErrorCode.NOT_FOUND.name)


@in_one_world(IN_ORGANIZATION)
async def test_a_member_may_do_what_the_role_allows_and_nothing_else(
    callers: Callers, routes: list[Route], subtests: pytest.Subtests
) -> None:
    for route in routes:
        with subtests.test(route=route.name):
            assert route.who.operation is not None
            allowed = [caller for caller in ROLES if may(caller, route.who.operation, callers)]

            for caller in ROLES.keys() - set(allowed):
                answer = await call(callers, route, caller)
                assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name), caller
            # Where a call changes something, only the first caller makes it, because the state is then different.
            for caller in allowed if changes_nothing(route) else allowed[:1]:
                answer = await call(callers, route, caller)
                assert is_authorized(answer), f"{caller}: {answer.text}"


def test_what_stores_a_secret_or_answers_with_a_new_one_makes_a_credential() -> None:
    undeclared = {
        route.path
        for route in IN_ORGANIZATION
        if any(isinstance(shape, type) and issubclass(shape, SecretBody) for shape in (route.body, route.answer))
        and route.who.operation is not None
        and not route.who.operation.makes_credential
    }

    assert undeclared == WITHOUT_CREDENTIALS


@in_one_world(ON_SERVICE)
async def test_a_grant_allows_what_its_relation_implies_on_its_own_service_alone(
    callers: Callers, routes: list[Route], subtests: pytest.Subtests
) -> None:
    world, intern = callers.world, callers.people[Caller.INTERN]
    shop, blog = (world.service(callers.acme_id, slug) for slug in ("shop", "blog"))
    world.grant(callers.acme_id, blog.id, intern, "manager")

    for route in routes:
        with subtests.test(route=route.name):
            assert route.who.operation is not None
            for relation in ("viewer", "manager"):
                world.connection.execute("DELETE FROM service_grants WHERE service_id = %s", (shop.id,))
                world.grant(callers.acme_id, shop.id, intern, relation)
                answer = await call(callers, route, Caller.INTERN, service_slug="shop")

                operation = route.who.operation
                # A grant on a service opens none of its people.
                is_of_people = operation.capabilities & {Capability.END_USERS_VIEW, Capability.END_USERS_MANAGE}
                if not is_of_people and (relation == "manager" or operation.takes is Capability.SERVICES_VIEW):
                    assert is_authorized(answer), answer.text
                else:
                    assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)
            world.connection.execute("DELETE FROM service_grants WHERE service_id = %s", (shop.id,))
            for slug in ("shop", "till", "nowhere"):
                refused = await call(callers, route, Caller.INTERN, service_slug=slug)
                assert (refused.status, code_of(refused)) == (403, ErrorCode.FORBIDDEN.name), slug


@in_one_world(IN_ORGANIZATION)
async def test_an_inactive_organization_allows_only_the_operations_declared_for_its_status(
    callers: Callers, routes: list[Route], subtests: pytest.Subtests
) -> None:
    # An operation in a pending organization may delete it, so that status comes last.
    inactive = (OrganizationStatus.SUSPENDED, OrganizationStatus.REJECTED, OrganizationStatus.PENDING)
    for route in routes:
        assert route.who.operation is not None
        for status in inactive:
            with subtests.test(route=route.name, status=status):
                callers.set_status(status)

                answer = await call(callers, route, Caller.OWNER)

                if status not in route.who.operation.statuses:
                    assert (answer.status, code_of(answer)) == (403, ErrorCode.ORGANIZATION_NOT_ACTIVE.name)
                    continue
                assert is_authorized(answer), answer.text
                if not changes_nothing(route):
                    break


@in_one_world(IN_ORGANIZATION)
async def test_an_organization_that_its_owner_has_deleted_is_found_by_no_operation(
    callers: Callers, routes: list[Route], subtests: pytest.Subtests
) -> None:
    callers.set_status(OrganizationStatus.DELETING)

    for route in routes:
        with subtests.test(route=route.name):
            answer = await call(callers, route, Caller.OWNER)

            assert (answer.status, code_of(answer)) == (404, ErrorCode.NOT_FOUND.name)


@in_one_world(IN_ORGANIZATION)
async def test_where_mfa_is_required_one_factor_only_opens_the_settings_and_the_way_out(
    callers: Callers, routes: list[Route], subtests: pytest.Subtests
) -> None:
    callers.world.connection.execute("UPDATE organizations SET mfa_required = true")

    for route in routes:
        with subtests.test(route=route.name):
            answer = await call(callers, route, Caller.OWNER)

            with_one_factor = {
                Operation.ORGANIZATION_READ,
                Operation.ORGANIZATION_UPDATE,
                Operation.ORGANIZATION_LEAVE,
            }
            if route.who.operation in with_one_factor:
                assert is_authorized(answer), answer.text
            else:
                assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)


@in_one_world(IN_ORGANIZATION)
async def test_another_tenant_s_objects_are_neither_found_nor_changed(
    callers: Callers, routes: list[Route], subtests: pytest.Subtests
) -> None:
    before = callers.everything_of_globex()

    for route in routes:
        with subtests.test(route=route.name):
            answer = await call(callers, route, Caller.OWNER, **callers.foreign)

            assert answer.status in {200, 204, 400, 404}, answer.text
            assert answer.status in {400, 404} or not set(callers.foreign) & set(route.path_parameters), answer.text
            assert callers.everything_of_globex() == before


async def test_a_service_cannot_manage_an_organization_with_the_tokens_of_its_users(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    credentials = await with_a_service(callers, Caller.OWNER)

    for route in IN_ORGANIZATION:
        with subtests.test(route=route.name):
            answer = await call(callers, route, Caller.OWNER, credentials)

            assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)


async def test_a_service_cannot_govern_the_platform_with_the_tokens_of_its_users(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    of_owner = await with_a_service(callers, Caller.PLATFORM_OWNER)
    of_support = await with_a_service(callers, Caller.SUPPORT_WITHOUT_FACTOR)
    callers.world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE is_platform_support")
    callers.world.connection.execute("UPDATE sessions SET amr = '{pwd,otp,mfa}'")

    for route, credentials in product(GOVERNING_PLATFORM, (of_owner, of_support)):
        with subtests.test(route=route.name, is_owner=credentials is of_owner):
            answer = await call(callers, route, Caller.PLATFORM_OWNER, credentials)

            assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)


@in_one_world(GOVERNING_PLATFORM)
async def test_only_a_platform_owner_governs_the_platform_and_support_where_that_is_declared(
    callers: Callers, routes: list[Route], subtests: pytest.Subtests
) -> None:
    without_power = (Caller.SUPPORT_WITH_ONE_FACTOR, Caller.SUPPORT_WITHOUT_FACTOR)
    for route in routes:
        with subtests.test(route=route.name):
            others = () if route.who.helps_users else (Caller.SUPPORT,)
            for caller in (Caller.STRANGER, Caller.OWNER, Caller.IMPERSONATED, *without_power, *others):
                answer = await call(callers, route, caller)
                assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name), caller

            if route.who.helps_users:
                assert is_authorized(await call(callers, route, Caller.SUPPORT))
            assert is_authorized(await call(callers, route, Caller.PLATFORM_OWNER))


async def test_support_finds_no_account_of_a_platform_owner(callers: Callers, subtests: pytest.Subtests) -> None:
    owner_id = str(callers.people[Caller.PLATFORM_OWNER])
    of_owner = ("users", "sessions", "mails", "login_events", "one_time_tokens")
    before = [callers.world.rows(f"SELECT t::text FROM {table} AS t ORDER BY 1") for table in of_owner]

    for route in HELPING_USERS:
        with subtests.test(route=route.name):
            answer = await call(callers, route, Caller.SUPPORT, user_id=owner_id)

            if "user_id" in route.path_parameters:
                assert (answer.status, code_of(answer)) == (404, ErrorCode.NOT_FOUND.name)
            else:
                assert owner_id not in answer.text
                assert "platform_owner@example.com" not in answer.text
    assert [callers.world.rows(f"SELECT t::text FROM {table} AS t ORDER BY 1") for table in of_owner] == before


async def test_what_support_opens_of_a_person_is_recorded(callers: Callers, subtests: pytest.Subtests) -> None:
    stranger_id = str(callers.people[Caller.STRANGER])

    for route in HELPING_USERS:
        if "user_id" in route.path_parameters and route.method == "GET":
            with subtests.test(route=route.name):
                callers.world.connection.execute("DELETE FROM platform_audit_entries")
                assert (await call(callers, route, Caller.SUPPORT, user_id=stranger_id)).status == 200

                [(actor_id, target_id, _)] = callers.world.platform_audit_entries("user.opened")
                assert (actor_id, target_id) == (callers.people[Caller.SUPPORT], stranger_id)


def test_every_path_below_an_organization_or_the_platform_declares_its_authorization() -> None:
    undeclared = [
        route.name
        for route in ROUTES
        if route.path.startswith(("/api/organizations/:", "/api/platform/", "/app/organizations/:", "/app/platform/"))
        and route.who.operation is None
        and not route.who.governs_platform
        and route.path not in WITHOUT_CREDENTIAL
    ]

    assert undeclared == []


def test_a_route_is_never_declared_for_an_organization_that_its_path_does_not_name() -> None:
    assert all(set(SLUGS) & set(route.path_parameters) for route in ROUTES if route.who.operation is not None)
