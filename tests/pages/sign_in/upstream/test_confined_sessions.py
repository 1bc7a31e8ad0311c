"""A session by a connection's word alone opens the role with which people join."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from tests.world.builder import PASSWORD_HASH
from tests.world.openid_acme import Acme, command_line_token
from tests.world.signing_in import SignedInUser
from tests.world.visitor import Visitor

ADA = "ada@acme.example"
OWN_ADDRESS = "http://localhost:8000"


async def by_word_alone(acme: Acme) -> UUID:
    """Sign Ada in by the connection, whose people join as members; return the user's id."""
    await acme.change(joins_as="member")
    await acme.sign_in()
    return acme.world.user_id(ADA)


async def by_password(acme: Acme, user_id: UUID) -> SignedInUser:
    """Sign Ada in by a password of her own."""
    acme.world.connection.execute("UPDATE users SET password_hash = %s WHERE id = %s", (PASSWORD_HASH, user_id))
    return await acme.world.sign_in_as(user_id, ADA)


async def test_it_opens_its_own_organization_whose_sign_in_is_enforced(acme: Acme) -> None:
    await by_word_alone(acme)
    headers = {"Authorization": f"Bearer {(await command_line_token(acme))['access_token']}"}
    await acme.enforce()
    paths = (
        ("GET", "/api/organizations/acme"),
        ("GET", "/api/organizations/acme/members"),
        ("POST", "/api/organizations/acme/select"),
        ("POST", "/api/organizations/acme/leave"),
    )

    answers = [await acme.world.client.request(method, path, headers=headers) for method, path in paths]

    assert [answer.status // 100 for answer in answers] == [2, 2, 2, 2]


async def test_people_who_join_with_another_role_sign_in_again(acme: Acme) -> None:
    acme.world.custom_role(acme.organization_id, "deputy", "audit_logs.view")
    await acme.change(joins_as="deputy")
    await acme.sign_in()
    assert acme.live_sessions == 1

    await acme.change(joins_as="")

    assert acme.live_sessions == 0


async def test_unlinking_ends_it(acme: Acme) -> None:
    own = await by_password(acme, await by_word_alone(acme))

    gone = await own.delete("/api/user/identities/upstream")

    assert (gone.status, acme.identities, acme.live_sessions) == (204, 0, 0)


async def test_it_does_not_confirm_the_identity_that_it_began_with(acme: Acme) -> None:
    own = await by_password(acme, await by_word_alone(acme))
    assert (await own.delete("/api/user/identities/upstream")).status == 204
    asked = await acme.visitor.send("GET", acme.provider.sign_in(await acme.depart()))
    [return_id] = parse_qs(urlsplit(asked.headers["Location"]).query)["return_id"]
    second = Visitor(acme.world.client)
    acme.provider.claims = {"sub": "ghost", "email": "ghost@acme.example"}
    gone = await second.send("GET", f"/auth/upstream?connection_id={acme.connection_id}&return_id={return_id}")
    last = await second.send("GET", acme.provider.sign_in(gone.headers["Location"]))

    await acme.visitor.open(last.headers["Location"].removeprefix(OWN_ADDRESS))

    assert acme.world.value("SELECT count(*) FROM identities WHERE confirmed_at IS NOT NULL") == 0
