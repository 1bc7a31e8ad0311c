"""How many mails one address gets, and one organization sends: no caller fills a mailbox through Gatehouse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from core.invitations.invitations import WAITING_MAX
from core.mail.limits import MailLimit
from core.mail.mail import MailTemplate
from entrypoints.installation import Installation
from tests.application import Answer, Client, serving, with_mail_limits
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.statements import recorded_statements
from tests.world.builder import PASSWORD
from tests.world.inviter import GUEST, INVITER
from tests.world.world import World, assert_refused

VICTIM = "victim@example.com"
UNKNOWN = "nobody@example.com"
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
PUBLIC = ("/api/auth/forgot-password", "/api/auth/magic-link/request", "/api/auth/resend-verification")


@pytest.fixture
def client(installation: Installation) -> Client:
    """A client with the limits on mails, and without those on requests."""
    return serving(with_mail_limits(installation))


def mails_to(world: World, address: str = VICTIM) -> Counter[str]:
    """Return how many mails were sent to an address, by template."""
    rows = world.rows("SELECT template FROM mails WHERE recipient = %s AND state <> 'discarded'", address)
    return Counter(template for (template,) in rows)


def organizations(world: World, number: int) -> list[str]:
    """Insert organizations of one owner; return the paths of their invitations."""
    owner = world.user(INVITER)
    slugs = [f"acme-{index}" for index in range(number)]
    for slug in slugs:
        world.member(world.organization(slug), owner, "owner")
    return [f"/api/organizations/{slug}/invitations" for slug in slugs]


async def invite_and_revoke(client: Client, path: str, token: str, email: str = VICTIM) -> Answer:
    """Invite an address and, so that it can be invited again, revoke the invitation; return the first answer."""
    answer = await client.post(path, body={"email": email, "role": "member"}, token=token)
    if answer.status == 200:
        await client.post(f"{path}/{answer.json['invitation']['id']}", token=token)
    return answer


@pytest.mark.parametrize("path", PUBLIC)
async def test_an_address_gets_five_mails_of_a_kind_within_any_hour(
    world: World, client: Client, clock: SettableClock, path: str
) -> None:
    world.user(VICTIM, is_verified="resend" not in path)
    numbers: list[int] = []

    for minutes in (0, 30, 29, 1):
        clock.advance(timedelta(minutes=minutes))
        for _ in range(3):
            answer = await client.post(path, body={"email": VICTIM}, address=next(world.addresses))
            assert answer.status == 200
        numbers.append(mails_to(world).total())

    # The three of the beginning leave the hour after 60 minutes.
    assert numbers == [3, 5, 5, 8]


@pytest.mark.parametrize("path", PUBLIC)
async def test_above_the_limit_the_answer_and_the_work_are_the_same_for_every_address(
    world: World, client: Client, path: str
) -> None:
    world.user(VICTIM, is_verified="resend" not in path)
    contents: list[list[tuple[str, ...]]] = []
    statements: list[list[list[str]]] = []

    for email in (VICTIM, UNKNOWN):
        for received in (contents, statements):
            received.append([])
        for _ in range(7):
            with recorded_statements() as executed:
                answer = await client.post(path, body={"email": email.upper()})
            # A mail to sign in has an id of its own, which tells nothing.
            contents[-1].append((answer.json["message"], *sorted(answer.json)))
            statements[-1].append(executed)

    assert contents[0] == contents[1] == [contents[0][0]] * 7
    assert statements[0] == statements[1]


@pytest.mark.parametrize("path", PUBLIC)
async def test_concurrent_requests_send_no_more_than_the_limit(world: World, client: Client, path: str) -> None:
    world.user(VICTIM, is_verified="resend" not in path)

    await at_once(
        *[partial(client.post, path, body={"email": VICTIM}, address=next(world.addresses)) for _ in range(12)]
    )

    assert mails_to(world).total() == MailLimit.TO_ADDRESS.mails_max


async def test_one_network_causes_two_mails_of_registrations_to_an_address_within_any_hour(
    world: World, client: Client, clock: SettableClock
) -> None:
    world.user(VICTIM, is_verified=False)
    resend = partial(client.post, "/api/auth/resend-verification", body={"email": VICTIM})
    numbers: list[int] = []

    for addresses in (
        ("192.0.2.1", "192.0.2.99"),
        ("192.0.2.1", "2001:db8::1", "2001:db8::2"),
        ("2001:db8:0:1::1",) * 2,
    ):
        for address in addresses * 3:
            assert (await resend(address=address)).status == 200
        numbers.append(mails_to(world).total())

    # What a network sends in vain uses up nothing of the five that the address gets.
    assert numbers == [2, 4, 5]
    clock.advance(HOUR)
    assert (await resend(address="192.0.2.1")).status == 200
    assert mails_to(world).total() == 6


async def test_a_registration_that_is_not_mailed_is_not_kept(world: World, client: Client) -> None:
    register = partial(client.post, "/api/auth/register")
    passwords = [f"password number {number}" for number in range(4)]

    answers = [
        await register(body={"email": VICTIM, "password": password}, address=address)
        for password, address in zip(passwords, (*["192.0.2.1"] * 3, "198.51.100.1"), strict=True)
    ]

    assert [answer.status for answer in answers] == [200, 409, 409, 409]
    assert mails_to(world) == {"verify_email": 3}
    assert world.value("SELECT count(*) FROM open_registrations") == 3
    errors = [(await world.log_in(VICTIM, password)).json["error"] for password in passwords]
    assert ["Verify your email address" in error for error in errors] == [False, False, False, True]


async def test_a_first_registration_above_the_limit_creates_an_account_without_a_password(
    world: World, client: Client
) -> None:
    for _ in range(2):
        await client.post("/api/auth/resend-verification", body={"email": VICTIM})

    answer = await client.post("/api/auth/register", body={"email": VICTIM, "password": PASSWORD})

    assert answer.status == 200
    assert world.rows("SELECT email, password_hash FROM users") == [(VICTIM, None)]
    assert world.value("SELECT count(*) FROM open_registrations") == 0
    assert mails_to(world).total() == 0


async def test_a_discarded_mail_names_no_address(world: World, client: Client) -> None:
    world.user(VICTIM)

    for _ in range(6):
        await client.post("/api/auth/forgot-password", body={"email": VICTIM})

    assert world.rows("SELECT recipient, count(*) FROM mails GROUP BY recipient ORDER BY recipient") == [
        ("", 1),
        (VICTIM, 5),
    ]


@pytest.mark.long
async def test_no_mixture_of_requests_fills_a_stranger_s_mailbox(world: World, client: Client) -> None:
    world.user(VICTIM)
    world.user("attacker@example.com")
    invitations = organizations(world, 30)
    owner = (await world.sign_in(INVITER)).access_token
    attacker = (await world.sign_in("attacker@example.com")).access_token

    async def wish_for_the_address() -> None:
        for email in (VICTIM, "attacker@example.com"):
            await client.patch("/api/user", body={"email": email}, token=attacker)

    async def invite_and_accept_on_behalf(path: str) -> None:
        answer = await client.post(path, body={"email": VICTIM, "role": "member"}, token=owner)
        if answer.status == 200:
            await client.post(f"{path}/{answer.json['invitation']['id']}/accept", token=owner)

    sends: list[Callable[[], Awaitable[Any]]] = [
        *[partial(client.post, path, body={"email": VICTIM}) for path in PUBLIC],
        partial(client.post, "/api/auth/register", body={"email": VICTIM, "password": PASSWORD}),
        partial(world.log_in, VICTIM, "wrong"),
        partial(world.log_in, VICTIM),
        wish_for_the_address,
        partial(invite_and_revoke, client, invitations[0], owner),
        partial(invite_and_revoke, client, invitations[1], owner),
    ]
    for _ in range(20):
        for send in sends:
            await send()
    for path in invitations:
        await invite_and_revoke(client, path, owner)
        await invite_and_accept_on_behalf(path)

    received = mails_to(world)
    assert received.pop(MailTemplate.INVITATION) == MailLimit.INVITATIONS_TO_ADDRESS.mails_max
    assert received.pop(MailTemplate.MEMBERSHIP_ADDED, 0) <= MailLimit.MEMBERSHIPS_TO_ADDRESS.mails_max
    assert {MailTemplate.RESET_PASSWORD, MailTemplate.MAGIC_LINK} <= received.keys()
    assert max(received.values()) == MailLimit.TO_ADDRESS.mails_max


async def test_an_organization_sends_a_hundred_invitations_an_hour(
    world: World, client: Client, clock: SettableClock
) -> None:
    [path] = organizations(world, 1)
    token = (await world.sign_in(INVITER)).access_token

    async def invite(number: int) -> Answer:
        return await client.post(path, body={"email": f"guest{number}@example.com", "role": "member"}, token=token)

    statuses = {(await invite(number)).status for number in range(100)}
    clock.advance(timedelta(minutes=10))
    refused = await invite(100)
    clock.advance(timedelta(minutes=50))
    token = (await world.sign_in(INVITER)).access_token

    assert statuses == {200}
    assert_refused(refused, 429, "RATE_LIMIT_EXCEEDED")
    assert refused.headers["Retry-After"] == "3000"
    assert (await invite(100)).status == 200


async def test_an_organization_invites_an_address_five_times_a_day(
    world: World, client: Client, clock: SettableClock
) -> None:
    path, other = organizations(world, 2)
    token = (await world.sign_in(INVITER)).access_token

    statuses = [(await invite_and_revoke(client, path, token)).status for _ in range(5)]
    refused = await invite_and_revoke(client, path, token, VICTIM.upper())

    assert statuses == [200] * 5
    assert_refused(refused, 429, "RATE_LIMIT_EXCEEDED")
    assert refused.headers["Retry-After"] == "86400"
    assert world.value("SELECT count(*) FROM invitations") == 5
    for allowed in (await invite_and_revoke(client, path, token, GUEST), await invite_and_revoke(client, other, token)):
        assert allowed.status == 200
    clock.advance(DAY)
    assert (await invite_and_revoke(client, path, (await world.sign_in(INVITER)).access_token)).status == 200


async def test_all_organizations_together_invite_an_address_twenty_times_a_day(world: World, client: Client) -> None:
    paths = organizations(world, 21)
    token = (await world.sign_in(INVITER)).access_token

    answers = await at_once(
        *[partial(client.post, path, body={"email": VICTIM, "role": "member"}, token=token) for path in paths]
    )

    assert statuses_of(answers) == [200] * 20 + [429]
    assert mails_to(world).total() == 20


async def test_deleting_the_organization_does_not_reset_the_limit_of_an_address(world: World, client: Client) -> None:
    paths = organizations(world, 21)
    token = (await world.sign_in(INVITER)).access_token

    answers: list[Answer] = []
    for path in paths:
        answers.append(await client.post(path, body={"email": VICTIM, "role": "member"}, token=token))
        await client.delete(path.removesuffix("/invitations"), token=token)

    assert statuses_of(answers) == [200] * 20 + [429]


async def test_a_thousand_invitations_may_wait_for_an_answer(
    world: World, client: Client, clock: SettableClock
) -> None:
    [path] = organizations(world, 1)
    organization_id = world.value("SELECT id FROM organizations")
    world.connection.execute(
        """
        INSERT INTO invitations (id, organization_id, email, role, status, token_hash, proof_hash, created_at,
                                 expires_at)
        SELECT gen_random_uuid(), %s, n || '@example.org', 'member', 'pending', sha256(n::text::bytea), '',
               %s, %s::timestamptz + n * interval '1 s'
        FROM   generate_series(1, %s) AS n
        """,
        (organization_id, clock(), clock() + HOUR, WAITING_MAX - 1),
    )
    token = (await world.sign_in(INVITER)).access_token

    statuses = [
        (await client.post(path, body={"email": email, "role": "member"}, token=token)).status
        for email in ("one@example.com", "two@example.com")
    ]
    refused = await client.post(path, body={"email": "two@example.com", "role": "member"}, token=token)
    clock.advance(HOUR + SECOND)
    token = (await world.sign_in(INVITER)).access_token

    assert statuses == [200, 429]
    assert_refused(refused, 429, "RATE_LIMIT_EXCEEDED")
    assert refused.headers["Retry-After"] == "3601"
    assert (await client.post(path, body={"email": "two@example.com", "role": "member"}, token=token)).status == 200


async def test_the_setting_turns_the_limits_on_mails_off(world: World, installation: Installation) -> None:
    world.user(VICTIM)
    unlimited = serving(installation)

    for _ in range(7):
        await unlimited.post("/api/auth/forgot-password", body={"email": VICTIM})

    assert mails_to(world).total() == 7
    assert world.value("SELECT count(*) FROM mail_counts") == 0
