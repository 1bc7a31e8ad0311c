"""The conclusion of a sign-in during concurrent changes to the same account."""

from __future__ import annotations

from functools import partial
from typing import Any, LiteralString
from uuid import UUID, uuid4

import pytest
import trio

from core.accounts.sign_in_methods import Provider
from core.sessions import sessions
from core.sessions.callers import Caller
from core.sessions.token_additions import TokenSubject
from core.sessions.tokens import TokenGrant, token_grant
from core.sign_in import conclusion
from core.sign_in.mfa_challenges import SignInCompleted
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.reasons import SignInInterrupted, SignInRefused
from entrypoints.installation import Installation
from ports.unit_of_work import UnitOfWork
from tests.concurrency import at_once, statuses_of
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World

ROUNDS = 50
PARALLEL = 6


def by_password(user_id: UUID) -> IdentityProof:
    return IdentityProof(user_id=user_id, provider=Provider.PASSWORD, amr=("pwd",))


async def test_a_concurrently_deactivated_account_keeps_no_session(world: World, installation: Installation) -> None:
    def deactivate(uow: UnitOfWork, user_id: UUID, email: str) -> None:
        # In the order that a deactivation requires: first the account, then its sessions.
        set_deactivated(uow, user_id)
        sessions.end_all(uow, user_id, email)

    def set_deactivated(uow: Any, user_id: UUID) -> None:
        uow._transaction.connection.execute("UPDATE users SET deactivated_at = now() WHERE id = %s", (user_id,))

    refusals: list[type[SignInRefused]] = []

    async def sign_in(user_id: UUID) -> None:
        # The sign-in either completes or is refused like one to a deactivated account; anything else fails the test.
        try:
            await installation.database.transact(conclusion.conclude, by_password(user_id), Destination())
        except SignInRefused as refusal:
            refusals.append(type(refusal))

    async def deactivate_account(user_id: UUID, email: str) -> None:
        await installation.database.transact(deactivate, user_id, email)

    for number in range(ROUNDS):
        email = f"ada+{number}@example.com"
        user_id = world.user(email)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sign_in, user_id)
            nursery.start_soon(deactivate_account, user_id, email)

    assert set(refusals) <= {SignInRefused}
    assert world.value("SELECT count(*) FROM sessions WHERE revoked_at IS NULL") == 0


async def test_an_account_deactivated_during_the_conclusion_leaves_nothing_but_the_reason(
    world: World, installation: Installation
) -> None:
    class NoCallers:
        def subject(self, session_id: UUID, *, is_limited: bool) -> None:
            return None

    def conclude(uow: Any) -> None:
        uow.callers = NoCallers()
        conclusion.conclude(uow, by_password(user_id), Destination(organization_slug="acme"))

    user_id = world.user()
    world.member(world.organization("acme"), user_id)

    with pytest.raises(SignInInterrupted) as interrupted:
        await installation.database.transact(conclude)

    # The message must fit every method of signing in.
    assert "password" not in interrupted.value.message

    assert world.value("SELECT count(*) FROM sessions") == 0
    assert world.rows("SELECT success, reason FROM login_events") == [(False, "deactivated")]


@pytest.mark.parametrize(
    "values",
    [
        "email_verified_at = NULL",
        "is_platform_owner = true",
        "is_platform_support = true",
        "is_platform_support = true, mfa_enabled_at = now()",
        "is_platform_support = true, mfa_enabled_at = now(), disowned_at = now()",
        "changed_by_service_at = now()",
    ],
)
async def test_the_tokens_of_a_new_session_say_what_they_say_after_a_refresh(
    world: World, installation: Installation, values: LiteralString
) -> None:
    proof = IdentityProof(user_id=world.user(), provider=Provider.MAGIC_LINK, amr=("pwd", "mfa"), proves_address=True)
    world.connection.execute(f"UPDATE users SET {values}")

    def conclude(uow: UnitOfWork) -> tuple[TokenGrant, Caller | None]:
        outcome = conclusion.conclude(uow, proof, Destination())
        assert isinstance(outcome, SignInCompleted)
        return outcome.grant, uow.callers.of_session(outcome.grant.session_id)

    granted, caller = await installation.database.transact(conclude)

    assert caller is not None
    assert granted == token_grant(
        TokenSubject(caller=caller),
        granted.refresh_token,
        session_expires_at=granted.session_expires_at,
        device_token=granted.device_token,
    )


async def test_an_account_deleted_before_the_conclusion_is_refused(world: World, installation: Installation) -> None:
    with pytest.raises(SignInRefused):
        await installation.database.transact(conclusion.conclude, by_password(uuid4()), Destination())

    assert [data["reason"] for _, _, data in world.events("user.login.failed")] == ["deactivated"]


async def test_concurrent_right_and_wrong_passwords_for_one_account_do_not_interfere(world: World) -> None:
    world.user()
    right, wrong = partial(world.log_in, password=PASSWORD), partial(world.log_in, password="wrong")

    answers = await at_once(*[right, wrong] * PARALLEL)

    assert statuses_of(answers) == [200] * PARALLEL + [401] * PARALLEL
    assert len(world.events("user.login.success")) == PARALLEL
    assert {email for _, email, _ in world.events("user.login.failed")} == {EMAIL}
