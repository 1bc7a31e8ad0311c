"""The authorization matrix: every route of the house is tried by every kind of caller (issue 4).

What is expected follows from what the routes declare, so a new route is covered as soon as it is there.
"""

import re
from uuid import UUID

import pytest

from core.errors import ErrorCode
from core.organizations.access import Capability, Operation, Standing
from core.organizations.organizations import OrganizationStatus
from entrypoints import capabilities
from entrypoints.web.credentials import CredentialKind
from entrypoints.web.routes import Route
from tests.application import Answer
from tests.world.callers import ACME, GLOBEX, ROLES, UNKNOWN, Caller, Callers, insert_callers
from tests.world.world import World

ROUTES = sorted(capabilities.routes(is_development=True), key=lambda route: route.name)
NOT_THERE = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
SLUGS = ("org_slug", "slug")

in_organization = pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.who.operation is not None], ids=lambda route: route.name
)
signed_in = pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.who.kind is CredentialKind.ACCESS_TOKEN], ids=lambda route: route.name
)

governs_platform = pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.who.governs_platform], ids=lambda route: route.name
)


@pytest.fixture
def callers(world: World) -> Callers:
    """Two organizations and all who may call."""
    return insert_callers(world)


async def call(
    callers: Callers, route: Route, caller: Caller, shown: dict[str, str] | None = None, /, **named: str
) -> Answer:
    """Try a route as somebody, with input that no route takes where it takes any."""
    names = dict.fromkeys(SLUGS, ACME) | named
    path = re.sub(r":([a-z_]+)", lambda part: names.get(part[1], str(NOT_THERE)), route.path)
    return await callers.world.client.request(
        route.method, path, headers=shown or callers.credentials(caller), data=b"[]" if route.body is not None else None
    )


async def with_a_service(callers: Callers, caller: Caller) -> dict[str, str]:
    """Let somebody sign in with a service of the other tenant, and give what that one can show then."""
    email = f"{caller.name.lower()}@example.com"
    tokens = await callers.world.sign_in(email, org_slug=GLOBEX, service_slug=callers.foreign["service_slug"])
    return {"Authorization": f"Bearer {tokens.access_token}"}


def code_of(answer: Answer) -> str | None:
    """Give the error code of an answer, if it is a refusal."""
    return answer.json["error_code"] if answer.status >= 400 else None


def is_let_in(answer: Answer) -> bool:
    """Say whether somebody got past all questions of who they are and what they may do."""
    return answer.status not in {401, 403} and answer.status < 500


def changes_nothing(route: Route) -> bool:
    """Say whether a call of ours leaves everything as it was, whoever makes it."""
    return route.method == "GET" or route.body is not None


def may(caller: Caller, operation: Operation, callers: Callers) -> bool:
    """Derive from the declaration whether a member may do something."""
    match operation.takes:
        case Standing.MEMBER:
            return True
        case Standing.OWNER:
            return caller is Caller.OWNER
        case Capability() as capability:
            return capability in callers.capabilities(caller)


@signed_in
async def test_without_a_live_access_token_nobody_is_let_in(callers: Callers, route: Route) -> None:
    for caller in sorted(UNKNOWN):
        answer = await call(callers, route, caller)

        expected = {
            Caller.EXPIRED: ErrorCode.TOKEN_EXPIRED,
            Caller.SCIM_TOKEN: ErrorCode.JWT_ERROR,
            Caller.PRE_AUTH: ErrorCode.JWT_ERROR,
        }.get(caller, ErrorCode.UNAUTHORIZED)
        assert (answer.status, code_of(answer)) == (401, expected.name), caller


@in_organization
async def test_who_is_no_member_is_refused_and_what_is_not_there_is_not_found(callers: Callers, route: Route) -> None:
    for caller in (Caller.STRANGER, Caller.OTHER_OWNER, Caller.PLATFORM_OWNER):
        refused = await call(callers, route, caller)
        not_found = await call(callers, route, caller, **dict.fromkeys(SLUGS, "nowhere"))

        assert (refused.status, code_of(refused)) == (403, ErrorCode.FORBIDDEN.name), caller
        assert (not_found.status, code_of(not_found)) == (404, ErrorCode.NOT_FOUND.name), caller


@in_organization
async def test_a_member_may_do_what_the_role_allows_and_nothing_else(callers: Callers, route: Route) -> None:
    assert route.who.operation is not None
    allowed = [caller for caller in ROLES if may(caller, route.who.operation, callers)]

    for caller in ROLES.keys() - set(allowed):
        answer = await call(callers, route, caller)
        assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name), caller
    # Where nothing is wrong with the input the first of them does it, and the world is another one.
    for caller in allowed if changes_nothing(route) else allowed[:1]:
        answer = await call(callers, route, caller)
        assert is_let_in(answer), f"{caller}: {answer.text}"


@in_organization
async def test_in_an_organization_that_is_not_active_only_what_is_named_can_be_done(
    callers: Callers, route: Route
) -> None:
    assert route.who.operation is not None
    # What may be done in a pending one may be its end, so that comes last.
    for status in (OrganizationStatus.SUSPENDED, OrganizationStatus.REJECTED, OrganizationStatus.PENDING):
        callers.set_status(status)

        answer = await call(callers, route, Caller.OWNER)

        if status in route.who.operation.statuses:
            assert is_let_in(answer), answer.text
            if not changes_nothing(route):
                return
        else:
            assert (answer.status, code_of(answer)) == (403, ErrorCode.ORGANIZATION_NOT_ACTIVE.name)


@in_organization
async def test_where_two_factors_are_asked_for_one_opens_nothing_but_the_question_itself(
    callers: Callers, route: Route
) -> None:
    callers.world.connection.execute("UPDATE organizations SET mfa_required = true")

    answer = await call(callers, route, Caller.OWNER)

    if route.who.operation in {Operation.ORGANIZATION_READ, Operation.ORGANIZATION_UPDATE}:
        assert is_let_in(answer), answer.text
    else:
        assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)


@in_organization
async def test_what_belongs_to_another_tenant_is_neither_found_nor_touched(callers: Callers, route: Route) -> None:
    before = callers.everything_of_globex()

    answer = await call(callers, route, Caller.OWNER, **callers.foreign)

    assert answer.status in {200, 204, 400, 404}, answer.text
    assert answer.status in {400, 404} or not set(callers.foreign) & set(route.path_parameters), answer.text
    assert callers.everything_of_globex() == before


@in_organization
async def test_a_service_manages_nothing_with_the_tokens_of_its_users(callers: Callers, route: Route) -> None:
    shown = await with_a_service(callers, Caller.OWNER)

    answer = await call(callers, route, Caller.OWNER, shown)

    assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)


@governs_platform
async def test_a_service_governs_nothing_with_the_tokens_of_its_users(callers: Callers, route: Route) -> None:
    shown = await with_a_service(callers, Caller.PLATFORM_OWNER)

    answer = await call(callers, route, Caller.PLATFORM_OWNER, shown)

    assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)


@governs_platform
async def test_only_a_platform_owner_governs(callers: Callers, route: Route) -> None:
    for caller in (Caller.STRANGER, Caller.OWNER, Caller.IMPERSONATED):
        answer = await call(callers, route, caller)
        assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name), caller

    assert is_let_in(await call(callers, route, Caller.PLATFORM_OWNER))


def test_every_path_below_an_organization_says_what_it_takes() -> None:
    silent = [
        route.name
        for route in ROUTES
        if route.path.startswith(("/api/organizations/:", "/api/platform/"))
        and route.who.operation is None
        and not route.who.governs_platform
    ]

    assert silent == []


def test_a_route_is_never_declared_for_an_organization_that_its_path_does_not_name() -> None:
    assert all(set(SLUGS) & set(route.path_parameters) for route in ROUTES if route.who.operation is not None)
