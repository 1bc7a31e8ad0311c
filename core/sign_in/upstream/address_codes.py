"""The code that a person types once, at their first sign-in by a connection that a vendor has made for a customer.

Such a connection may assert any address, so its word proves none. The code is mailed to the address, whether an account
has it or not, and is taken in the browser that came from the provider, so that no one learns who has an account. It
links the identity in the context of that customer alone: it opens nothing else of an account, and counts as a proof of
the address only for an account that had none.
"""

from __future__ import annotations

import hmac
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from core.accounts import links
from core.errors import BadRequest, Refusal
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import Secret, hash_token
from core.sign_in.identities import ProvenIdentity
from core.sign_in.upstream import flows
from core.sign_in.upstream.flows import SignInOver, UpstreamSignIn

if TYPE_CHECKING:
    from core.organizations.organizations import InternalPlace
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(minutes=10)


class WrongAddressCode(BadRequest):
    """The code is not the one in the mail."""

    default_message = "This code is wrong. Type the six digits of the newest mail."


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressCodeDue:
    """A code was mailed to the address that a connection asserts; its sign-in goes on with it under this id."""

    continue_id: Secret
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedSignIn:
    """A sign-in by a connection, with the identity whose address its person has confirmed."""

    sign_in: UpstreamSignIn
    proven: ProvenIdentity


def ask(
    uow: UnitOfWork,
    sign_in: UpstreamSignIn,
    proven: ProvenIdentity,
    made_for: InternalPlace,
    email: str,
    *,
    browser: str,
) -> AddressCodeDue:
    """Mail a code to an address, and keep the sign-in until it is typed in this browser.

    Above a limit of the address no mail leaves, and no code counts; the answer is the same.
    """
    code = uow.randomness.choice("0123456789", links.CODE_DIGITS)
    continue_id = flows.keep_proven(uow, sign_in, proven, None, browser=browser)
    state_hash = hash_token(continue_id.reveal())
    is_sent = mail.send(uow, email, MailTemplate.ADDRESS_CODE, place=made_for.service_name, code=code)
    # The limits on mails to an address limit guesses, too: what was not mailed cannot be typed.
    right = code if is_sent else uow.randomness.token().reveal()
    uow.upstream_sign_ins.set_code(state_hash, _hash(uow, state_hash, right), expires_at=uow.now + LIFETIME)
    return AddressCodeDue(continue_id=continue_id, email=email)


def use(uow: UnitOfWork, continue_id: str, typed: str, *, browser: str | None) -> ConfirmedSignIn | Refusal:
    """Use up a sign-in whose code was typed in its browser, or count a wrong one.

    Raise `SignInOver` after its time, and after too many wrong codes, and `RateLimitExceeded` when the network has sent
    too many.
    """
    code = links.typed_code(typed)
    if browser is None or code is None:
        raise SignInOver().because("no_cookie") if browser is None else WrongAddressCode()
    network = links.count_code_for_network(uow)
    state_hash, browser_hash = hash_token(continue_id), hash_token(browser)
    stored = uow.upstream_sign_ins.lock_code(state_hash, browser_hash=browser_hash, tries_max=links.CODE_TRIES_MAX)
    if stored is None:
        raise SignInOver().because("unknown_continuation")
    if not hmac.compare_digest(stored, _hash(uow, state_hash, code)):
        uow.upstream_sign_ins.count_wrong_code(state_hash)
        return WrongAddressCode()
    if network is not None:
        uow.mail_counts.take_back(network)
    sign_in, proven = flows.use_proven(uow, continue_id, browser=browser)
    return ConfirmedSignIn(sign_in=sign_in, proven=proven)


def _hash(uow: UnitOfWork, state_hash: bytes, code: str) -> bytes:
    return uow.pepper.mark("address code", state_hash, code.encode())
