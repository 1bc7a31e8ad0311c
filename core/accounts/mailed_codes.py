"""Mailed codes: the six digits that a sign-in mail has beside its link, for the client that asked for the mail.

Code and link are one secret, the token of the link (`one_time_tokens.py`): whichever is used first uses both up. A code
is short, so it counts only together with the id of its challenge, which the request for the mail has answered; one that
was asked for on a page counts in that browser alone. What is stored of it is a hash under the key of the installation.

Guesses are limited in three ways: five wrong codes end a challenge, 30 within an hour stop a network, whatever the
addresses, and after 100 since its last sign-in an account gets links alone. A network and an account are locked before
the comparison, so that concurrent guesses count one by one. An answer never says whether the mail was sent, whether the
account gets codes, or whether the link was used: an attacker who guesses learns nothing about the address.
"""

from __future__ import annotations

import hmac
import re
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import requesting_browsers
from core.accounts.one_time_tokens import NewCode, OneTimeToken
from core.accounts.users import User
from core.errors import RateLimitExceeded
from core.lazy_dataclasses import dataclass
from core.networks import throttled_network
from core.secrets import Secret

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

CODE_LIFETIME: Final = timedelta(minutes=10)
CODE_TRIES_MAX: Final = 5
WRONG_FROM_NETWORK_MAX: Final = 30
CODE_WINDOW: Final = timedelta(hours=1)
WRONG_IN_A_ROW_MAX: Final = 100
CODE_DIGITS: Final = 6
_CODE: Final = re.compile(rf"[0-9]{{{CODE_DIGITS}}}")
# Compared with a code where a mail has none.
_NO_HASH: Final = bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A code that was compared with a challenge's own; the challenge's account, if there is one, is locked."""

    challenge_id: UUID
    token: OneTimeToken
    is_right: bool


def make_code(uow: UnitOfWork, user: User | None) -> NewCode:
    """Return a new code for a mail to an account; without an account the same work is done for no mail."""
    challenge_id = uow.randomness.challenge_id()
    code = uow.randomness.choice("0123456789", CODE_DIGITS)
    code_hash = _hash(uow, challenge_id, code)
    if user is not None and _gets_links_alone(user):
        return NewCode(challenge_id=challenge_id, code=Secret(""), code_hash=None)
    return NewCode(challenge_id=challenge_id, code=Secret(code), code_hash=code_hash)


def typed_code(typed: str) -> str | None:
    """Return the digits of a code as a person types or pastes it; None for anything else."""
    digits = "".join(typed.split())
    return digits if _CODE.fullmatch(digits) else None


def guess_code(uow: UnitOfWork, challenge_id: UUID, code: str, *, binding: str | None) -> Guess | None:
    """Compare a code with a challenge's own, and count a wrong one; None when the challenge no longer takes a code.

    Then nothing was compared, and the caller raises, so that nothing is counted. `binding` binds the browser on whose
    page the code was typed, empty when it has none; None for a program. Raise `RateLimitExceeded`, before anything is
    compared, when the network has sent too many wrong codes.
    """
    network = count_code_for_network(uow)
    named = uow.one_time_tokens.by_challenge(challenge_id)
    if named is None:
        return None
    # The account before its links, as everything that ends or changes it does.
    user_id = named.user_id or uow.randomness.new_account_id()
    locked = uow.users.defer_lock(user_id)
    token = uow.one_time_tokens.lock_challenge(challenge_id)
    user = locked()
    if token is None or not _takes_codes(uow, token, binding):
        return None
    is_code = _is_code(uow, token, challenge_id, code)
    if is_code and user is not None and not _gets_links_alone(user):
        if network is not None:
            uow.mail_counts.take_back(network)
        return Guess(challenge_id=challenge_id, token=token, is_right=True)
    uow.one_time_tokens.count_wrong_code(challenge_id)
    uow.users.count_wrong_mailed_code(user_id, WRONG_IN_A_ROW_MAX)
    return Guess(challenge_id=challenge_id, token=token, is_right=False)


def forget_wrong_codes(uow: UnitOfWork, user: User) -> None:
    """Forget the wrong codes of an account that has signed in; hardly any has one, and the others take no statement.

    A sign-in by a connection does not count as the account's: its organization could make as many as it likes, and
    guess on after each, until a code opens what the connection does not.
    """
    if user.wrong_mailed_codes:
        uow.users.forget_wrong_mailed_codes(user.id)


def _takes_codes(uow: UnitOfWork, token: OneTimeToken, binding: str | None) -> bool:
    browser = requesting_browsers.recall_browser(token.data)
    is_asker = browser is None if binding is None else browser is not None and browser.is_bound_to(binding)
    return is_asker and token.created_at + CODE_LIFETIME > uow.now and token.wrong_codes < CODE_TRIES_MAX


def _is_code(uow: UnitOfWork, token: OneTimeToken, challenge_id: UUID, code: str) -> bool:
    return hmac.compare_digest(token.code_hash or _NO_HASH, _hash(uow, challenge_id, code))


def _gets_links_alone(user: User) -> bool:
    return user.wrong_mailed_codes >= WRONG_IN_A_ROW_MAX


def _hash(uow: UnitOfWork, challenge_id: UUID, code: str) -> bytes:
    return uow.pepper.mark("mailed code", challenge_id.bytes, code.encode())


def count_code_for_network(uow: UnitOfWork) -> bytes | None:
    """Count a wrong code, before it is known to be one, and return what it is counted under; None without limits."""
    if not uow.has_rate_limits:
        return None
    key = uow.pepper.mark("wrong mailed codes", throttled_network(uow.origin.ip_address).encode())
    free_at = uow.mail_counts.add(key, WRONG_FROM_NETWORK_MAX, CODE_WINDOW, at=uow.now)
    if free_at is not None:
        seconds = (free_at - uow.now).total_seconds()
        raise RateLimitExceeded(
            "Too many wrong codes from your network. Open the link in the mail instead, or try again later.",
            retry_after_seconds=max(1, ceil(seconds)),
        ).of("mailed_codes", counts="failures")
    return key
