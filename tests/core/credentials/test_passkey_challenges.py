"""Passkey challenges: who may answer one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from core.credentials import passkey_challenges
from core.credentials.passkey_challenges import ANY_ACCOUNT, Purpose, StoredPasskeyChallenge, subject_of
from ports.unit_of_work import UnitOfWork

ADA, GRACE = subject_of(UUID(int=1)), subject_of(UUID(int=2))


def subjects_of(uow: UnitOfWork, challenge: StoredPasskeyChallenge) -> set[bytes]:
    """Return the subjects that may answer the challenge."""
    return {subject for subject in (ANY_ACCOUNT, ADA, GRACE) if passkey_challenges.is_for(uow, challenge, subject)}


def test_only_the_subject_of_a_challenge_may_answer_it(transact: Callable[..., Any]) -> None:
    for subject in (ANY_ACCOUNT, ADA, GRACE):
        challenge = transact(passkey_challenges.begin_sign_in, subject)

        assert transact(subjects_of, challenge) == {subject}


def test_challenges_share_no_bytes_and_do_not_reveal_their_subject(transact: Callable[..., Any]) -> None:
    made = [transact(passkey_challenges.begin_sign_in, subject).challenge for subject in (ANY_ACCOUNT, ADA, ADA)]

    assert len({challenge[part : part + 8] for challenge in made for part in range(0, 64, 8)}) == 24
    assert [len(challenge) for challenge in made] == [64] * 3
    assert not any(ADA in challenge for challenge in made)


def test_a_challenge_is_used_once_for_its_purpose_by_its_account(transact: Callable[..., Any]) -> None:
    begun = transact(passkey_challenges.begin_sign_in, ANY_ACCOUNT)

    def use(uow: UnitOfWork, purpose: Purpose, user_id: Any) -> StoredPasskeyChallenge | None:
        return uow.passkey_challenges.use(begun.id, purpose, user_id=user_id, answered_by=begun.id, at=uow.now)

    assert transact(use, Purpose.REGISTER, None) is None
    assert transact(use, Purpose.AUTHENTICATE, uuid4()) is None
    assert transact(use, Purpose.AUTHENTICATE, None) == begun
    assert transact(use, Purpose.AUTHENTICATE, None) is None
