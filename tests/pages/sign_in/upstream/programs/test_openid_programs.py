"""OpenID providers that others have written work unchanged as an organization's connection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.identity_programs.connected import ConnectedProgram, connected_program, is_ahead
from tests.identity_programs.django_peers import running_allauth, running_oauth_toolkit
from tests.identity_programs.glewlwyd import running_glewlwyd
from tests.identity_programs.lemonldap import running_lemonldap_openid
from tests.identity_programs.program import CLIENT_SECRET, Program
from tests.upstream_provider import Request, serving
from tests.waiting import eventually
from tests.world.visitor import FORM, Visitor
from tests.world.world import World

pytestmark = pytest.mark.long

PROGRAMS = {
    "django-allauth": running_allauth,
    "django-oauth-toolkit": running_oauth_toolkit,
    "glewlwyd": running_glewlwyd,
    "lemonldap": running_lemonldap_openid,
}


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Program]:
    """The provider."""
    with PROGRAMS[request.param](tmp_path) as running:
        yield running


@pytest.fixture
async def acme(world: World, visitor: Visitor, program: Program) -> ConnectedProgram:
    """Acme, which is connected with the provider."""
    return await connected_program(world, visitor, program)


async def test_people_sign_in_and_are_found_again_also_after_they_were_removed(acme: ConnectedProgram) -> None:
    for person in ("ada", "grace"):
        page = await acme.sign_in(person)
        assert (page.status, acme.visitor.has_session) == (200, True), page.text
    ada, grace = acme.user_id("ada"), acme.user_id("grace")
    await acme.sign_in("ada")
    await acme.remove("ada")
    assert acme.linked == ["grace@acme.example"]

    page = await acme.sign_in("ada")

    assert (page.status, acme.visitor.has_session) == (200, True), page.text
    assert acme.linked == ["ada@acme.example", "grace@acme.example"]
    assert (acme.user_id("ada"), acme.user_id("grace")) == (ada, grace)
    assert acme.role("ada") == "member"


async def test_groups_at_the_provider_give_roles(acme: ConnectedProgram) -> None:
    acme.world.custom_role(acme.organization_id, "sales", "services.view")
    await acme.set_rules(("Sales", "sales"))
    # A claim that is absent says nothing.
    of_none = "member" if acme.program.names_no_groups else "sales"
    for groups, role in ((("Sales", "Staff"), "sales"), (("Staff",), "member"), (("Sales",), "sales"), ((), of_none)):
        acme.program.set_groups("ada", *groups)
        acme.browsers.clear()

        await acme.sign_in("ada")

        assert acme.role("ada") == role, groups


async def test_sign_ins_go_on_with_another_key(acme: ConnectedProgram) -> None:
    async def is_signed_in() -> bool:
        # Keys that have just been read are not read again at once.
        return (await acme.sign_in("ada")).status == 200

    await acme.sign_in("ada")
    for keeps_old in (True, False) if acme.program.keeps_old_keys else (False,):
        acme.program.rotate(keeps_old=keeps_old)
        await eventually(is_signed_in)

    assert acme.linked == ["ada@acme.example"]


async def test_a_wrong_client_secret_is_named_by_the_check_and_to_members(acme: ConnectedProgram) -> None:
    assert (await acme.test())["success"] is True
    await acme.change(client_secret="mistyped")

    tested = await acme.test()
    page = await acme.sign_in("ada")

    assert tested["success"] is False
    assert "client secret" in tested["message"]
    assert page.status == 502
    assert not acme.visitor.has_session
    assert acme.failure in {"wrong_secret", "unknown_client"}
    await acme.change(client_secret=CLIENT_SECRET)
    assert (await acme.sign_in("ada")).status == 200


async def test_a_clock_may_be_off_by_150_seconds_and_one_that_is_off_by_300_is_named(acme: ConnectedProgram) -> None:
    is_ahead(acme.world, 150)
    assert (await acme.sign_in("ada")).status == 200
    is_ahead(acme.world, 300)

    page = await acme.sign_in("ada")
    tested = await acme.tried("ada")

    assert page.status == 502
    assert (acme.visitor.has_session, acme.failure) == (False, "clocks")
    assert "Check the clock of the provider" in tested.text


async def test_the_session_at_the_provider_outlives_that_at_gatehouse(acme: ConnectedProgram) -> None:
    await acme.sign_in("ada")

    await acme.sign_out("ada")

    assert acme.live_sessions == 0
    assert (await acme.sign_in("ada")).status == 200
    assert acme.browsers["ada"].sign_ins == 1


async def test_who_signs_out_here_is_signed_out_there_where_the_connection_says_so(acme: ConnectedProgram) -> None:
    await acme.change(signs_out_at_provider=True)
    await acme.sign_in("ada")

    page = await acme.sign_out("ada")

    assert acme.live_sessions == 0
    assert "You are signed out" in page.text
    assert (await acme.sign_in("ada")).status == 200
    assert acme.browsers["ada"].sign_ins == 2


@pytest.mark.parametrize("program", ["glewlwyd"], indirect=True)
async def test_a_logout_at_the_provider_ends_the_session_here(acme: ConnectedProgram) -> None:
    told: list[bytes] = []

    def answer(request: Request, _path: str, _authorization: str) -> tuple[int, str, bytes]:
        told.append(urlencode(request.form).encode())
        return 200, "text/plain", b""

    await acme.sign_in("ada")
    await acme.sign_in("grace")
    with serving(answer) as listening:
        acme.program.tell_of_logouts(listening)
        acme.program.sign_out(acme.browsers["ada"])
        await eventually(heard(told))

    path = f"/auth/upstream/{acme.connection_id}/backchannel-logout"
    # A token counts once.
    answers = [
        await acme.world.client.request("POST", path, data=told[0], headers={"Content-Type": FORM}) for _ in range(2)
    ]
    assert [answer.status for answer in answers] == [204, 400]
    assert acme.live_sessions == 1


def heard(told: list[bytes]) -> Callable[[], Awaitable[bool]]:
    """Return whether the provider has told of a logout."""

    async def is_heard() -> bool:
        return bool(told)

    return is_heard
