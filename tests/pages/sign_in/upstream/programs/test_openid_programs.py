"""Independent OpenID providers work unchanged as an organization's connection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

import pytest

from tests.identity_programs.connected import ConnectedProgram
from tests.identity_programs.django_peers import running_allauth, running_oauth_toolkit
from tests.identity_programs.glewlwyd import Glewlwyd, running_glewlwyd
from tests.identity_programs.lemonldap import running_lemonldap_openid
from tests.identity_programs.program import CLIENT_SECRET
from tests.upstream_provider import Request, serving
from tests.waiting import eventually
from tests.world.visitor import FORM

pytestmark = pytest.mark.long

PROGRAMS = {
    "django-allauth": running_allauth,
    "django-oauth-toolkit": running_oauth_toolkit,
    "glewlwyd": running_glewlwyd,
    "lemonldap": running_lemonldap_openid,
}


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
        glewlwyd = acme.program
        assert isinstance(glewlwyd, Glewlwyd)
        glewlwyd.tell_of_logouts(listening)
        glewlwyd.sign_out(acme.browsers["ada"])
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
