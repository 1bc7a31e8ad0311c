"""Accepting and declining (operations 3 and 4.7, decisions 3.13 and 5.6)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest
import trio

from core.invitations import invitations
from core.mail.mail import MailTemplate
from core.rate_limits import RateLimit
from entrypoints.settings import Settings
from tests.invitations import ACME, GUEST, OWNER, hosts
from tests.sign_ins import PASSWORD, assert_refused, door

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from adapters.postgres.driver.connection import Connection
    from tests.application import Answer
    from tests.clock import SettableClock
    from tests.invitations import Hosts

__all__ = ["door", "hosts"]

ACCEPT = "/api/invitations/accept"
DECLINE = "/api/invitations/decline"
NEW_PASSWORD = "quite another horse"
WEEK = timedelta(days=7)
SECOND = timedelta(seconds=1)


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> Settings:
    """Without rate limits, unless they are what a test is about."""
    return Settings(dev=True, rate_limits=request.node.get_closest_marker("usefixtures") is not None)


@pytest.fixture
def limited() -> None:
    """Turns the rate limits on."""


async def at_once(*calls: Callable[[], Awaitable[Answer]]) -> list[int]:
    """Send several requests at once; give their statuses in order of size."""
    statuses: list[int] = []

    async def send(call: Callable[[], Awaitable[Answer]]) -> None:
        statuses.append((await call()).status)

    async with trio.open_nursery() as nursery:
        for call in calls:
            nursery.start_soon(send, call)
    return sorted(statuses)


async def test_accepting_makes_the_account_of_the_address_a_member_with_the_role(hosts: Hosts) -> None:
    guest_id = hosts.door.account(GUEST)
    invitation = await hosts.invite(role="admin")

    answer = await hosts.accept(invitation)

    assert (answer.status, answer.json) == (200, {})
    assert hosts.role_of() == "admin"
    assert hosts.status(invitation) == "accepted"
    assert await hosts.messages() == []
    assert (await hosts.door.enter(GUEST, org_slug="acme")).claims["role"] == "admin"
    data = {"invitation_id": str(invitation.id), "user_id": str(guest_id), "role": "admin"}
    for name, target in (("invitation.accepted", invitation.id), ("user.joined", guest_id)):
        assert hosts.audited(name) == [(str(target), guest_id, {"role": "admin"}, "127.0.0.1")]
        assert hosts.door.events(name) == [(hosts.organization_id, GUEST, data)]
    assert hosts.door.events("user.signup.success") == []


async def test_without_proof_a_new_account_has_no_password_and_gets_the_ordinary_verification(hosts: Hosts) -> None:
    invitation = await hosts.invite()

    assert (await hosts.accept(invitation)).status == 200

    [user] = hosts.door.rows("SELECT password_hash, email_verified_at FROM users WHERE email = %s", GUEST)
    assert user == (None, None)
    assert hosts.role_of() == "member"
    [message] = await hosts.messages()
    assert (message.to, message.template, message.values["place"]) == (GUEST, MailTemplate.VERIFY_EMAIL, "Acme")
    assert (await hosts.door.client.get(f"/auth/verify-email?token={message.values['token']}")).status == 200
    [(organization_id, email, data)] = hosts.door.events("user.signup.success")
    assert (organization_id, email, data["provider"]) == (hosts.organization_id, GUEST, "invitation")


async def test_with_proof_a_new_account_is_verified_and_gets_a_letter_to_choose_a_password(hosts: Hosts) -> None:
    invitation = await hosts.invite()

    assert (await hosts.accept(invitation, is_proved=True)).status == 200

    [message] = await hosts.messages()
    assert (message.to, message.template) == (GUEST, MailTemplate.INVITATION_ACCEPTED)
    assert "You are a member of Acme" in hosts.installation.mail_renderer.render(message).subject
    reset = await hosts.door.client.post(
        "/api/auth/reset-password", body={"token": message.values["token"], "new_password": NEW_PASSWORD}
    )
    assert reset.status == 200
    assert (await hosts.door.knock(GUEST, NEW_PASSWORD, org_slug="acme")).status == 200


async def test_with_proof_what_was_prepared_in_an_unverified_account_goes(hosts: Hosts, clock: SettableClock) -> None:
    thief = await entered_unverified(hosts)
    invitation = await hosts.invite()

    assert (await hosts.accept(invitation, is_proved=True)).status == 200

    assert (await hosts.door.client.get("/api/user", token=thief)).status == 401
    assert (await hosts.door.knock(GUEST)).status == 401
    assert hosts.door.value("SELECT email_verified_at FROM users WHERE email = %s", GUEST) == clock()
    [message] = await hosts.messages()
    assert message.template is MailTemplate.INVITATION_ACCEPTED


async def test_without_proof_nobody_gets_in_by_an_account_whose_address_was_never_proved(hosts: Hosts) -> None:
    thief = await entered_unverified(hosts)
    invitation = await hosts.invite()

    assert (await hosts.accept(invitation)).status == 200

    assert hosts.role_of() == "member"
    assert (await hosts.door.client.get("/api/user", token=thief)).status == 401
    assert (await hosts.door.knock(GUEST)).status == 401
    assert await hosts.messages() == []


async def entered_unverified(hosts: Hosts) -> str:
    """Give the access token of somebody who has changed an account to the address that will be invited."""
    hosts.door.account("thief@example.com")
    thief = (await hosts.door.enter("thief@example.com")).access_token
    answer = await hosts.door.client.patch("/api/user", body={"email": GUEST}, token=thief)
    assert answer.status == 200
    await hosts.messages()
    return thief


async def test_with_proof_a_verified_account_stays_as_it_is(hosts: Hosts) -> None:
    hosts.door.account(GUEST)
    guest = await hosts.door.enter(GUEST)

    assert (await hosts.accept(await hosts.invite(), is_proved=True)).status == 200

    assert (await hosts.door.ask(guest)).status == 200
    assert (await hosts.door.knock(GUEST, PASSWORD)).status == 200
    assert await hosts.messages() == []


async def test_a_proof_that_is_none_is_no_better_than_an_unknown_token(hosts: Hosts) -> None:
    invitation, unknown = await hosts.invite(), str(uuid4())

    answers = [
        await hosts.door.client.post(ACCEPT, body=body)
        for body in (
            {"token": invitation.token, "proof": str(uuid4())},
            {"token": invitation.token, "proof": invitation.token},
            {"token": unknown, "proof": invitation.proof},
            {"token": invitation.proof},
            {"token": unknown},
        )
    ]

    for answer in answers:
        assert_refused(answer, 400, "BAD_REQUEST")
    assert len({answer.json["error"] for answer in answers}) == 1
    assert hosts.status(invitation) == "pending"


@pytest.mark.parametrize("path", [ACCEPT, DECLINE])
@pytest.mark.parametrize("body", [{}, {"token": ""}, {"token": "nonsense"}, {"token": None}, {"token": 1}])
async def test_a_token_is_a_uuid(hosts: Hosts, path: str, body: dict[str, Any]) -> None:
    assert_refused(await hosts.door.client.post(path, body=body), 400, "BAD_REQUEST")


async def test_a_token_may_be_written_in_capitals(hosts: Hosts) -> None:
    invitation = await hosts.invite()

    answer = await hosts.door.client.post(ACCEPT, body={"token": invitation.token.upper()})

    assert answer.status == 200


async def test_a_token_is_used_once(hosts: Hosts) -> None:
    accepted, declined = await hosts.invite(), await hosts.invite("other@example.com")
    await hosts.accept(accepted)
    await hosts.decline(declined)

    for invitation in (accepted, declined):
        for again in (hosts.accept, hosts.decline):
            answer = await again(invitation)
            assert_refused(answer, 400, "BAD_REQUEST")
            assert "already answered" in answer.json["error"]
        assert_refused(await hosts.accept_on_behalf(invitation), 404, "NOT_FOUND")
    assert (hosts.status(accepted), hosts.status(declined)) == ("accepted", "rejected")


async def test_declining_makes_no_member_and_is_told(hosts: Hosts) -> None:
    hosts.door.account(GUEST)
    invitation = await hosts.invite()

    answer = await hosts.decline(invitation)

    assert (answer.status, answer.json) == (200, {})
    assert (hosts.status(invitation), hosts.role_of()) == ("rejected", None)
    assert hosts.audited("invitation.declined") == [(str(invitation.id), None, {}, "127.0.0.1")]
    assert hosts.door.events("invitation.declined") == [
        (hosts.organization_id, None, {"invitation_id": str(invitation.id)})
    ]


async def test_the_sealed_token_is_erased_however_an_invitation_ends(hosts: Hosts, clock: SettableClock) -> None:
    first, second, third, fourth = [await hosts.invite(f"guest{n}@example.com") for n in range(4)]
    await hosts.accept(first)
    await hosts.decline(second)
    await hosts.revoke(third)
    clock.advance(WEEK)
    await hosts.accept(fourth)

    rows = hosts.door.rows("SELECT status, token_sealed, answered_at IS NULL FROM invitations ORDER BY id")

    assert rows == [
        ("accepted", None, False),
        ("rejected", None, False),
        ("cancelled", None, False),
        ("expired", None, True),
    ]


async def test_an_invitation_can_be_accepted_for_seven_days(hosts: Hosts, clock: SettableClock) -> None:
    invitation = await hosts.invite()

    clock.advance(WEEK - SECOND)

    assert (await hosts.accept(invitation)).status == 200


async def test_an_invitation_that_has_run_out_is_expired_when_it_is_met(hosts: Hosts, clock: SettableClock) -> None:
    invitation = await hosts.invite()
    clock.advance(WEEK)

    answers = [await hosts.accept(invitation, is_proved=is_proved) for is_proved in (False, True)]

    for answer in answers:
        assert_refused(answer, 400, "INVITATION_EXPIRED")
    assert (hosts.status(invitation), hosts.role_of()) == ("expired", None)
    assert hosts.audited("invitation.expired") == [(str(invitation.id), None, {}, "127.0.0.1")]
    assert hosts.door.events("invitation.expired") == [
        (hosts.organization_id, None, {"invitation_id": str(invitation.id)})
    ]


async def test_an_expired_invitation_can_still_be_declined(
    hosts: Hosts, clock: SettableClock, transact: Callable[..., Any]
) -> None:
    unswept = await hosts.invite()
    clock.advance(WEEK)
    assert (await hosts.decline(unswept)).status == 200
    await hosts.later(SECOND)
    swept = await hosts.invite()
    clock.advance(WEEK)
    transact(invitations.sweep, None, 10)
    assert hosts.status(swept) == "expired"

    assert (await hosts.decline(swept)).status == 200

    assert (hosts.status(unswept), hosts.status(swept)) == ("rejected", "rejected")
    assert [target for target, *_ in hosts.audited("invitation.declined")] == [str(unswept.id), str(swept.id)]


async def test_a_manager_accepts_in_the_place_of_the_invited(hosts: Hosts) -> None:
    invitation = await hosts.invite()

    answer = await hosts.accept_on_behalf(invitation)

    assert (answer.status, answer.json) == (200, {})
    assert (hosts.status(invitation), hosts.role_of()) == ("accepted", "member")
    [message] = await hosts.messages()
    assert (message.to, message.template) == (GUEST, MailTemplate.VERIFY_EMAIL)
    for name in ("invitation.accepted", "user.joined"):
        assert [actor for _, actor, _, _ in hosts.audited(name)] == [hosts.owner_id]
        assert [actor for _, actor, _ in hosts.door.events(name)] == [OWNER]
    assert [actor for _, actor, _ in hosts.door.events("user.signup.success")] == [GUEST]


async def test_a_manager_cannot_accept_what_has_run_out_or_was_withdrawn(hosts: Hosts) -> None:
    withdrawn, late = await hosts.invite("other@example.com"), await hosts.invite()
    await hosts.revoke(withdrawn)
    await hosts.later(WEEK)

    assert_refused(await hosts.accept_on_behalf(withdrawn), 404, "NOT_FOUND")
    for _ in range(2):
        assert_refused(await hosts.accept_on_behalf(late), 400, "INVITATION_EXPIRED")
    assert hosts.status(late) == "expired"
    assert len(hosts.audited("invitation.expired")) == 1


@pytest.mark.parametrize("is_on_behalf", [False, True])
async def test_the_limit_of_members_is_checked_at_acceptance(hosts: Hosts, is_on_behalf: bool) -> None:
    hosts.door.rows("UPDATE organizations SET max_users = 1 RETURNING id")
    invitation = await hosts.invite()

    refused = await (hosts.accept_on_behalf(invitation) if is_on_behalf else hosts.accept(invitation))

    assert_refused(refused, 400, "TEAM_LIMIT_EXCEEDED")
    assert (hosts.status(invitation), hosts.role_of()) == ("pending", None)
    assert hosts.door.rows("SELECT FROM users WHERE email = %s", GUEST) == []
    hosts.door.rows("UPDATE organizations SET max_users = 2 RETURNING id")
    assert (await hosts.accept(invitation)).status == 200


async def test_the_limit_is_the_tiers_where_the_organization_has_none(hosts: Hosts) -> None:
    hosts.door.rows("UPDATE tiers SET default_max_users = 1 RETURNING id")
    invitation = await hosts.invite()

    refused = await hosts.accept(invitation)
    hosts.door.rows("UPDATE tiers SET default_max_users = NULL RETURNING id")

    assert_refused(refused, 400, "TEAM_LIMIT_EXCEEDED")
    assert (await hosts.accept(invitation)).status == 200


async def test_the_last_seat_is_given_once_to_two_who_accept_at_once(hosts: Hosts) -> None:
    for seats in range(2, 8):
        hosts.door.rows("UPDATE organizations SET max_users = %s RETURNING id", seats)
        pair = [await hosts.invite(f"{name}{seats}@example.com") for name in ("anna", "bert")]

        statuses = await at_once(*(lambda one=one: hosts.accept(one) for one in pair))

        assert statuses == [200, 400]
        assert hosts.door.value("SELECT count(*) FROM memberships") == seats


async def test_an_invitation_that_is_accepted_several_times_at_once_makes_one_member(hosts: Hosts) -> None:
    invitation = await hosts.invite()

    statuses = await at_once(
        lambda: hosts.accept(invitation),
        lambda: hosts.accept(invitation, is_proved=True),
        lambda: hosts.accept_on_behalf(invitation),
        lambda: hosts.accept(invitation),
    )

    assert statuses.count(200) == 1
    assert hosts.door.value("SELECT count(*) FROM memberships") == 2
    assert len(hosts.audited("user.joined")) == 1


async def test_of_an_acceptance_and_other_ends_at_once_one_wins(hosts: Hosts) -> None:
    for number in range(5):
        invitation = await hosts.invite(f"guest{number}@example.com")

        statuses = await at_once(
            lambda one=invitation: hosts.accept(one),
            lambda one=invitation: hosts.decline(one),
            lambda one=invitation: hosts.revoke(one),
        )

        assert statuses.count(200) == 1
        is_member = hosts.role_of(f"guest{number}@example.com") is not None
        assert is_member == (hosts.status(invitation) == "accepted")


async def test_whoever_registers_while_the_invitation_is_accepted_has_one_account(hosts: Hosts) -> None:
    for number in range(5):
        email = f"guest{number}@example.com"
        invitation = await hosts.invite(email)
        body = {"email": email, "password": PASSWORD}

        statuses = await at_once(
            lambda one=invitation: hosts.accept(one),
            lambda sent=body: hosts.door.client.post("/api/auth/register", body=sent),
        )

        assert statuses in ([200, 200], [200, 409])
        assert hosts.role_of(email) == "member"
        await hosts.messages()


async def test_whoever_became_a_member_otherwise_cannot_accept(hosts: Hosts) -> None:
    invitation = await hosts.invite(role="admin")
    hosts.door.member(hosts.organization_id, hosts.door.account(GUEST))

    answer = await hosts.accept(invitation)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert "already a member of the organization" in answer.json["error"]
    assert (hosts.status(invitation), hosts.role_of()) == ("pending", "member")


async def test_a_role_that_is_gone_is_refused_and_the_invitation_stays(hosts: Hosts) -> None:
    hosts.custom_role("auditor", "audit_logs.view")
    invitation = await hosts.invite(role="auditor")
    hosts.door.rows("DELETE FROM organization_roles RETURNING slug")

    answer = await hosts.accept(invitation)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert "role" in answer.json["error"]
    assert (hosts.status(invitation), hosts.role_of()) == ("pending", None)


async def test_a_custom_role_is_given(hosts: Hosts) -> None:
    hosts.custom_role("auditor", "audit_logs.view")

    await hosts.accept(await hosts.invite(role="auditor"))

    assert hosts.role_of() == "auditor"


async def test_an_address_that_an_account_may_take_back_gets_no_new_account(hosts: Hosts) -> None:
    hosts.door.account(GUEST)
    guest = await hosts.door.enter(GUEST)
    await hosts.door.client.patch("/api/user", body={"email": "new@example.com"}, token=guest.access_token)
    invitation = await hosts.invite()

    answer = await hosts.accept(invitation, is_proved=True)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert hosts.door.rows("SELECT FROM users WHERE email = %s", GUEST) == []
    assert hosts.status(invitation) == "pending"


@pytest.mark.parametrize("status", ["pending", "suspended", "rejected"])
async def test_an_organization_that_is_not_active_refuses_every_answer(
    hosts: Hosts, status: str, clock: SettableClock
) -> None:
    invitation = await hosts.invite()
    hosts.set_status(status)

    for wait in (timedelta(), WEEK):
        clock.advance(wait)
        for answer in (await hosts.accept(invitation, is_proved=True), await hosts.decline(invitation)):
            assert_refused(answer, 403, "ORGANIZATION_NOT_ACTIVE")
    assert (hosts.status(invitation), hosts.role_of()) == ("pending", None)


async def test_registration_accepts_no_invitation(hosts: Hosts) -> None:
    invitation = await hosts.invite()

    await hosts.door.client.post("/api/auth/register", body={"email": GUEST, "password": PASSWORD})
    [message] = await hosts.messages()
    await hosts.door.client.get(f"/auth/verify-email?token={message.values['token']}")
    await hosts.door.enter(GUEST)

    assert (hosts.status(invitation), hosts.role_of()) == ("pending", None)


async def test_the_invited_see_their_invitations_with_the_token_after_signing_in(
    hosts: Hosts, clock: SettableClock
) -> None:
    hosts.door.account(GUEST)
    invitation = await hosts.invite(role="admin")
    await hosts.invite("other@example.com")
    guest = await hosts.door.enter(GUEST)

    answer = await hosts.door.client.get("/api/invitations", token=guest.access_token)

    assert answer.json == [
        {
            "id": str(invitation.id),
            "email": GUEST,
            "role": "admin",
            "token": invitation.token,
            "expires_at": "2026-02-10T04:05:06Z",
            "created_at": "2026-02-03T04:05:06Z",
            "organization": {"slug": "acme", "name": "Acme"},
        }
    ]
    assert answer.headers["Cache-Control"] == "no-store"


async def test_only_what_can_be_answered_is_listed_the_newest_first(hosts: Hosts, clock: SettableClock) -> None:
    hosts.door.account(GUEST)
    for slug in ("one", "two", "three", "four"):
        organization_id = hosts.door.organization(slug)
        hosts.door.member(organization_id, hosts.owner_id, "owner")
        clock.advance(SECOND)
        path = f"/api/organizations/{slug}/invitations"
        await hosts.door.client.post(path, body={"email": GUEST, "role": "member"}, token=hosts.owner.access_token)
    await hosts.messages()
    await hosts.decline(await hosts.invite())
    hosts.door.rows("UPDATE organizations SET status = 'suspended' WHERE slug = 'two' RETURNING id")
    hosts.door.rows(
        "UPDATE invitations SET expires_at = %s FROM organizations o"
        " WHERE o.id = organization_id AND slug = 'three' RETURNING o.id",
        clock(),
    )
    guest = await hosts.door.enter(GUEST)

    answer = await hosts.door.client.get("/api/invitations", token=guest.access_token)

    assert [one["organization"]["slug"] for one in answer.json] == ["four", "one"]


async def test_who_has_not_proved_the_address_sees_no_invitations(hosts: Hosts) -> None:
    await hosts.invite()
    thief = await entered_unverified(hosts)

    assert_refused(await hosts.door.client.get("/api/invitations", token=thief), 403, "FORBIDDEN")


async def test_who_acts_as_somebody_sees_no_tokens_of_theirs(hosts: Hosts, connection: Connection) -> None:
    hosts.door.account(GUEST)
    await hosts.invite()
    guest = await hosts.door.enter(GUEST)
    connection.execute("UPDATE users SET is_platform_owner = true WHERE id = %s", (hosts.owner_id,))
    connection.execute("UPDATE sessions SET impersonator_id = %s WHERE id = %s", (hosts.owner_id, guest.session_id))

    assert_refused(await hosts.door.client.get("/api/invitations", token=guest.access_token), 403, "FORBIDDEN")


async def test_nobody_sees_invitations_without_signing_in(hosts: Hosts) -> None:
    assert (await hosts.door.client.get("/api/invitations")).status == 401
    assert (await hosts.door.client.get(ACME)).status == 401


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("path", [ACCEPT, DECLINE])
async def test_whoever_guesses_is_slowed_down(hosts: Hosts, path: str) -> None:
    statuses = [
        (await hosts.door.client.post(path, body={"token": str(UUID(int=n))})).status
        for n in range(RateLimit.INVITATION_ANSWER.burst + 1)
    ]

    assert statuses == [400] * RateLimit.INVITATION_ANSWER.burst + [429]
