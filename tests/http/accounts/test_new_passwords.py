"""Which passwords can be set, on every path that sets one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

import entrypoints
from adapters.password_lists.files import BreachedPasswordFile
from tests.application import Answer, serving
from tests.breached import breached_file
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

LEAKED = "a password that has leaked"
Setting = Callable[[World, str], Awaitable[Answer]]


async def register(world: World, password: str) -> Answer:
    """Register an address, on the way to a service."""
    world.service(world.organization("acme"), "harbour")
    body = {"email": "ada@engines.example", "password": password, "org_slug": "acme", "service_slug": "harbour"}
    return await world.client.post("/api/auth/register", body=body)


async def reset(world: World, password: str) -> Answer:
    """Set a password with a mailed link."""
    member(world)
    await world.client.post("/api/auth/forgot-password", body={"email": "ada@engines.example"})
    token = (await world.mail()).values["token"]
    answer = await world.client.post("/api/auth/reset-password", body={"token": token, "new_password": password})
    # A refusal does not use up the link.
    again = await world.client.post("/api/auth/reset-password", body={"token": token, "new_password": "fine " * 5})
    assert (again.status == 200) is (answer.status != 200)
    return answer


async def change(world: World, password: str) -> Answer:
    """Change a password."""
    member(world)
    token = (await world.sign_in("ada@engines.example")).access_token
    body = {"current_password": PASSWORD, "new_password": password}
    return await world.client.post("/api/user/change-password", token=token, body=body)


async def set_first(world: World, password: str) -> Answer:
    """Set the first password of an account."""
    member(world)
    token = (await world.sign_in("ada@engines.example")).access_token
    world.remove_password("ada@engines.example")
    return await world.client.post("/api/user/set-password", token=token, body={"new_password": password})


PATHS: Final = (register, reset, change, set_first)


def member(world: World) -> None:
    """Insert an account that is a member of Acme."""
    world.member(world.organization("acme", name="Harbour Lights"), world.user("ada@engines.example"))


@pytest.fixture
def world(world: World, tmp_path: Path) -> World:
    """The world, which has a file of breached passwords."""
    installation = replace(world.installation, breached_passwords=BreachedPasswordFile(breached_file(tmp_path, LEAKED)))
    return replace(world, installation=installation, client=serving(installation))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("password", "code", "why"),
    [
        ("short", "BAD_REQUEST", "at least 8 characters"),
        ("Iloveyou2", "PASSWORD_TOO_COMMON", "one of the commonest"),
        ("Ada-Engines-2026", "PASSWORD_TOO_COMMON", "nothing but words of your address"),
        ("gatehouse acme", "PASSWORD_TOO_COMMON", "nothing but words of your address"),
        ("harbour!harbour", "PASSWORD_TOO_COMMON", "nothing but words of your address"),
        (LEAKED, "PASSWORD_BREACHED", "known from a data breach"),
    ],
)
async def test_a_password_that_attackers_try_cannot_be_set(
    world: World, path: Setting, password: str, code: str, why: str
) -> None:
    if path is not register and "harbour" in password:
        password = "harbour!lights"

    answer = await path(world, password)

    assert (answer.status, answer.json["error_code"]) == (400, code)
    [problem] = answer.json["details"]
    assert problem["field"] == ("password" if path is register else "new_password")
    assert why in problem["message"]


@pytest.mark.parametrize("path", PATHS)
async def test_another_one_can(world: World, path: Setting) -> None:
    assert (await path(world, "several unrelated words")).status == 200


async def test_all_that_is_wrong_is_named_at_once(world: World) -> None:
    body = {"email": "nobody", "password": "password", "name": "https://evil.example"}

    answer = await world.client.post("/api/auth/register", body=body)

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")
    assert [problem["field"] for problem in answer.json["details"]] == ["email", "password", "name"]


async def test_a_refused_new_password_counts_as_no_wrong_one(world: World) -> None:
    token = (await world.register_and_sign_in()).access_token
    body = {"current_password": PASSWORD, "new_password": LEAKED}

    refused = [await world.client.post("/api/user/change-password", token=token, body=body) for _ in range(12)]

    assert {answer.json["error_code"] for answer in refused} == {"PASSWORD_BREACHED"}
    assert (await world.log_in()).status == 200


async def test_checks_are_counted(world: World) -> None:
    for password in (LEAKED, "several unrelated words", "password"):
        await world.client.post("/api/auth/register", body={"email": EMAIL, "password": password})

    exposed = world.installation.metrics.exposition().decode()

    assert re.findall(r'sso_password_checks_total\{outcome="(\w+)"\} (\d)', exposed) == [
        ("clean", "1"),
        ("breached", "1"),
        ("failed", "0"),
    ]


async def test_a_check_that_fails_refuses_nothing_and_is_counted(world: World, tmp_path: Path) -> None:
    (tmp_path / "no list").write_text("0" * 40 + "\n" + "x" * 1000)
    installation = replace(world.installation, breached_passwords=BreachedPasswordFile(tmp_path / "no list"))
    client = serving(installation)

    answer = await client.post("/api/auth/register", body={"email": EMAIL, "password": LEAKED})

    assert answer.status == 200
    assert 'sso_password_checks_total{outcome="failed"} 1' in world.installation.metrics.exposition().decode()


async def test_an_installation_asks_for_more_characters_and_says_so_in_its_description(world: World) -> None:
    rules = replace(world.installation.password_rules, characters_min=15)
    client = serving(replace(world.installation, password_rules=rules))

    answers = [
        await client.post("/api/auth/register", body={"email": EMAIL, "password": password})
        for password in ("correct horse", "correct horse battery")
    ]
    schemas = (await client.get("/openapi.json")).json["components"]["schemas"]

    assert [answer.status for answer in answers] == [400, 200]
    assert "at least 15 characters" in answers[0].json["error"]
    assert schemas["Registration"]["properties"]["password"]["minLength"] == 15
    assert "minLength" not in schemas["Login"]["properties"]["password"]


def test_nothing_else_hashes_a_password_that_is_set() -> None:
    folder = Path(entrypoints.__file__).parent
    hashing = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if re.search(r"\bpasswords\.hash\(", path.read_text())
    }

    # The second one hashes the right password of a sign-in anew, where its hash is of an older kind.
    assert hashing == {"shared/accounts/passwords.py", "shared/sign_in/login.py"}
