"""Comparing a password between the two transactions of a sign-in."""

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import trio

from core.errors import ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from core.sign_in import login
from core.sign_in.login import LoginAttempt
from core.sign_in.mfa_challenges import Outcome, SecondFactorPending, SignInCompleted
from core.sign_in.proofs import Destination
from entrypoints.shared.accounts.passwords import is_breached
from entrypoints.shared.sessions.token_answers import (
    transact_counted,
)
from entrypoints.web.serving.calls import Call, shielded
from ports.accounts.passwords import PasswordVerdict

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class Finish(Protocol):
    """The second transaction of a sign-in by password: `login.finish`, or a use case that includes it."""

    def __call__(
        self,
        uow: "UnitOfWork",
        attempt: LoginAttempt,
        destination: Destination,
        *,
        is_right: bool,
        upgraded_hash: str | None = None,
    ) -> Outcome:
        """Conclude the sign-in after the comparison."""
        ...


async def authenticate(
    call: Call, email: str, password: str, wanted: Destination, *, finish: Finish = login.finish
) -> SignInCompleted | SecondFactorPending:
    """Sign in by password, or raise the refusal: find the hash, compare on the hasher's threads, conclude."""
    attempt = await call.transact(login.begin, email, call.throttled_network, wanted)
    verdict = await _compare(call, password, attempt)
    outcome = await _conclude(call, password, attempt, wanted, verdict, finish)
    # After the success, so that it delays no refusal, not even of a right password. A continued session gets no notice:
    # its user got one when it began.
    if wanted.continued_session_id is None and await is_breached(call.installation, password, is_hurried=True):
        return replace(outcome, has_breached_password=True)
    return outcome


async def _compare(call: Call, password: str, attempt: LoginAttempt) -> PasswordVerdict:
    # No account has a longer password. Comparing with none takes the same time as a comparison.
    encoded = attempt.password_hash if len(password) <= PASSWORD_CHARACTERS_MAX else None
    try:
        return await call.installation.passwords.verify(password[:PASSWORD_CHARACTERS_MAX], encoded, attempt.decoys)
    except (ServiceUnavailable, trio.Cancelled):
        # Cancelled while it waited, because a comparison that has begun is finished.
        with shielded():
            await call.transact(login.give_up, attempt)
        raise


async def _conclude(
    call: Call, password: str, attempt: LoginAttempt, wanted: Destination, verdict: PasswordVerdict, finish: Finish
) -> SignInCompleted | SecondFactorPending:
    if not verdict.is_right:
        # Recorded also when the client has hung up, because a password was compared.
        with shielded():
            return await transact_counted(call, finish, attempt, wanted, is_right=False)
    try:
        upgraded = await _rehash(call, password) if verdict.needs_upgrade else None
        return await transact_counted(call, finish, attempt, wanted, is_right=True, upgraded_hash=upgraded)
    except trio.Cancelled:
        # No session begins without a client, and the right password is no failure.
        with shielded():
            await call.transact(login.give_up, attempt)
        raise


async def _rehash(call: Call, password: str) -> str | None:
    try:
        return await call.installation.passwords.hash(password)
    except ServiceUnavailable:
        # Keep the old hash until a later sign-in.
        return None
