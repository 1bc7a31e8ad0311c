"""Who may answer what an authenticator is asked to sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from core.credentials import passkey_challenges
from core.credentials.passkey_challenges import ANYBODY, Purpose, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.credentials.passkey_challenges import StoredPasskeyChallenge
    from ports.unit_of_work import UnitOfWork

ADA, GRACE = subject_of(uuid4()), subject_of(uuid4())


def answerable(uow: UnitOfWork, challenge: StoredPasskeyChallenge) -> set[bytes]:
    """Say who may answer."""
    return {subject for subject in (ANYBODY, ADA, GRACE) if passkey_challenges.is_for(uow, challenge, subject)}


def test_a_challenge_is_for_the_one_it_was_made_for(transact: Callable[..., Any]) -> None:
    for subject in (ANYBODY, ADA, GRACE):
        challenge = transact(passkey_challenges.begin_sign_in, subject)

        assert transact(answerable, challenge) == {subject}


def test_no_two_challenges_are_alike_and_none_tells_whom_it_is_for(transact: Callable[..., Any]) -> None:
    made = [transact(passkey_challenges.begin_sign_in, subject).challenge for subject in (ANYBODY, ADA, ADA)]

    assert len({challenge[part : part + 8] for challenge in made for part in range(0, 64, 8)}) == 24
    assert [len(challenge) for challenge in made] == [64] * 3
    assert not any(ADA in challenge for challenge in made)


def test_a_challenge_is_used_once_for_its_purpose_by_its_account(transact: Callable[..., Any]) -> None:
    begun = transact(passkey_challenges.begin_sign_in, ANYBODY)

    def use(uow: UnitOfWork, purpose: Purpose, user_id: Any) -> StoredPasskeyChallenge | None:
        return uow.passkey_challenges.use(begun.id, purpose, user_id=user_id, at=uow.now)

    assert transact(use, Purpose.REGISTER, None) is None
    assert transact(use, Purpose.AUTHENTICATE, uuid4()) is None
    assert transact(use, Purpose.AUTHENTICATE, None) == begun
    assert transact(use, Purpose.AUTHENTICATE, None) is None
