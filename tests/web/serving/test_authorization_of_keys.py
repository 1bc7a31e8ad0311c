"""The authorization matrix of the keys of organizations: every kind of key calls every route.

A token of a workload stands for a key, so both call every route.

What a key opens is stated here once more, by the capability of each route and the operations that are excluded, so that
a change of `core/organizations/key_callers.py` has to be made here as well.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from core.errors import ErrorCode
from core.organizations.access import Capability, Operation, implied_by
from core.organizations.organizations import OrganizationStatus
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route
from tests.web.serving.test_authorization import (
    IN_ORGANIZATION,
    ROUTES,
    SLUGS,
    call,
    changes_nothing,
    code_of,
    in_one_world,
    is_authorized,
)
from tests.world.callers import GLOBEX, Caller, Callers, insert_callers
from tests.world.world import World

# What every member reads, a key reads with the capability to change it.
READ_BY = {
    Operation.ORGANIZATION_READ: Capability.ORG_SETTINGS_MANAGE,
    Operation.ROLES_READ: Capability.ORG_ROLES_MANAGE,
    Operation.PRODUCTS_READ: Capability.PRODUCTS_MANAGE,
}
# What owners do, a key of an owner does with the capability to change the same thing.
OF_OWNERS = {Operation.SERVICE_DELETE: Capability.SERVICES_MANAGE}

WITH_BOTH = pytest.mark.parametrize("by_workload", [False, True], ids=["key", "workload"])


@pytest.fixture
def callers(world: World) -> Callers:
    """Two organizations and every kind of caller."""
    return insert_callers(world)


def required(route: Route) -> frozenset[Capability] | None:
    """Return the capabilities with which a key opens a route; None when no key does."""
    operation = route.who.operation
    assert operation is not None
    instead = (READ_BY | OF_OWNERS).get(operation)
    if instead is not None:
        return frozenset({instead})
    if not isinstance(operation.takes, Capability):
        return None
    return operation.capabilities


OPEN = [route for route in IN_ORGANIZATION if required(route) is not None]
CLOSED = [route for route in IN_ORGANIZATION if required(route) is None]


def test_the_declarations_say_which_routes_a_key_opens() -> None:
    assert {route.name for route in ROUTES if route.who.takes_key} == {route.name for route in OPEN}
    assert all("a key" in route.who.label for route in OPEN)


@WITH_BOTH
@in_one_world(OPEN)
async def test_a_key_opens_what_it_has_the_capabilities_for_and_its_maker_too(
    callers: Callers, routes: list[Route], by_workload: bool, subtests: pytest.Subtests
) -> None:
    key_of = partial(callers.key_of, by_workload=by_workload)
    everything = key_of(Caller.OWNER)
    of_each = {capability: key_of(Caller.ADMIN, permissions=[capability]) for capability in sorted(Capability)}
    without_each = {
        capability: key_of(Caller.OWNER, permissions=[one for one in Capability if capability not in implied_by([one])])
        for capability in sorted(Capability)
    }
    of_member = key_of(Caller.MEMBER)

    for route in routes:
        with subtests.test(route=route.name):
            needed = required(route)
            assert needed is not None
            enough = [headers for capability, headers in of_each.items() if needed <= implied_by([capability])]
            if route.who.operation in OF_OWNERS:
                # These keys are an admin's.
                enough = []
            refused = [
                *(headers for headers in of_each.values() if headers not in enough),
                *(without_each[capability] for capability in needed),
                *([] if needed <= callers.capabilities(Caller.MEMBER) else [of_member]),
            ]
            for headers in refused:
                answer = await call(callers, route, Caller.OWNER, headers)
                assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)
            allowed = [
                everything,
                *enough,
                *([of_member] if needed <= callers.capabilities(Caller.MEMBER) else []),
            ]
            for headers in allowed if changes_nothing(route) else allowed[:1]:
                answer = await call(callers, route, Caller.OWNER, headers)
                assert is_authorized(answer), answer.text


@WITH_BOTH
async def test_no_key_opens_ownership_or_keys_of_its_kind(
    callers: Callers, by_workload: bool, subtests: pytest.Subtests
) -> None:
    everything = callers.key_of(Caller.OWNER, by_workload=by_workload)
    before = callers.everything_of_acme()

    for route in CLOSED:
        with subtests.test(route=route.name):
            answer = await call(callers, route, Caller.OWNER, everything)

            assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)
            assert callers.everything_of_acme() == before


@WITH_BOTH
async def test_no_key_opens_an_account_or_the_platform(
    callers: Callers, by_workload: bool, subtests: pytest.Subtests
) -> None:
    everything = callers.key_of(Caller.OWNER, by_workload=by_workload)
    kinds = {
        CredentialKind.ACCESS_TOKEN,
        CredentialKind.BROWSER_SESSION,
        CredentialKind.API_KEY,
        CredentialKind.SCIM_TOKEN,
    }
    guarded = [route for route in ROUTES if route.who.operation is None and route.who.kind in kinds]

    for route in guarded:
        with subtests.test(route=route.name):
            answer = await call(callers, route, Caller.OWNER, everything)

            assert answer.status in {401, 303}, answer.text


@WITH_BOTH
async def test_a_key_of_another_organization_finds_none(
    callers: Callers, by_workload: bool, subtests: pytest.Subtests
) -> None:
    foreign = callers.key_of(Caller.OTHER_OWNER, organization_id=callers.globex_id, by_workload=by_workload)
    own = callers.key_of(Caller.OWNER, by_workload=by_workload)

    for route in IN_ORGANIZATION:
        with subtests.test(route=route.name):
            for headers, slug in ((foreign, "acme"), (own, GLOBEX), (own, "nowhere")):
                answer = await call(callers, route, Caller.OWNER, headers, **dict.fromkeys(SLUGS, slug))
                assert (answer.status, code_of(answer)) == (404, ErrorCode.NOT_FOUND.name)


async def test_a_key_that_has_ended_is_unknown(callers: Callers, subtests: pytest.Subtests) -> None:
    world = callers.world
    expired = callers.key_of(Caller.OWNER, expires_at=world.clock() - timedelta(seconds=1))
    deleted = callers.key_of(Caller.OWNER)
    world.connection.execute("DELETE FROM organization_keys WHERE prefix = %s", (deleted["X-Api-Key"][:9],))
    of_former_member = callers.key_of(Caller.MEMBER)
    world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (callers.people[Caller.MEMBER],))
    of_closed_account = callers.key_of(Caller.ADMIN)
    world.connection.execute("UPDATE users SET deactivated_at = now() WHERE id = %s", (callers.people[Caller.ADMIN],))
    valid = callers.key_of(Caller.OWNER)["X-Api-Key"]
    wrong = {"X-Api-Key": f"{valid[:-1]}x"}

    for route in IN_ORGANIZATION:
        with subtests.test(route=route.name):
            for headers in (expired, deleted, of_former_member, of_closed_account, wrong):
                answer = await call(callers, route, Caller.OWNER, headers)
                assert (answer.status, code_of(answer)) == (401, ErrorCode.UNAUTHORIZED.name)


async def test_a_key_opens_nothing_while_its_organization_is_not_active(
    callers: Callers, subtests: pytest.Subtests
) -> None:
    everything = callers.key_of(Caller.OWNER)

    for status in (OrganizationStatus.SUSPENDED, OrganizationStatus.REJECTED, OrganizationStatus.PENDING):
        callers.set_status(status)
        for route in IN_ORGANIZATION:
            with subtests.test(route=route.name, status=status):
                answer = await call(callers, route, Caller.OWNER, everything)
                assert (answer.status, code_of(answer)) == (403, ErrorCode.ORGANIZATION_NOT_ACTIVE.name)


async def test_a_key_opens_nothing_while_its_maker_has_no_access(callers: Callers, subtests: pytest.Subtests) -> None:
    everything, maker = callers.key_of(Caller.ADMIN), callers.people[Caller.ADMIN]

    for change in ("suspended_at = now()", "suspended_at = NULL, confirmed_at = NULL"):
        callers.world.connection.execute(f"UPDATE memberships SET {change} WHERE user_id = %s".encode(), (maker,))
        for route in IN_ORGANIZATION:
            with subtests.test(route=route.name, change=change):
                answer = await call(callers, route, Caller.OWNER, everything)
                assert (answer.status, code_of(answer)) == (403, ErrorCode.FORBIDDEN.name)


@in_one_world(OPEN)
async def test_another_tenant_s_objects_are_neither_found_nor_changed_by_a_key(
    callers: Callers, routes: list[Route], subtests: pytest.Subtests
) -> None:
    everything = callers.key_of(Caller.OWNER)
    before = callers.everything_of_globex()

    for route in routes:
        with subtests.test(route=route.name):
            answer = await call(callers, route, Caller.OWNER, everything, **callers.foreign)

            assert answer.status in {200, 204, 400, 404}, answer.text
            assert answer.status in {400, 404} or not set(callers.foreign) & set(route.path_parameters), answer.text
            assert callers.everything_of_globex() == before
