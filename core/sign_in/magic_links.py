"""Magic links: signing in without a password, by a link or a code that is mailed to the account's address.

A link is valid once and for 15 minutes. It leads to a page with a button, because mail scanners open every link. An
application that receives the link's token itself, because it opens such links, signs in with the token directly.

The page cannot hand tokens to an application: it runs no script, and tokens do not travel in URLs to other sites. So
its button exchanges the link for a one-time code, which the user enters where they wanted to sign in. The session
begins there, so that the page never claims a sign-in that has not happened, and no session begins without a client.

A link that was requested on a page of Gatehouse and is opened in the same browser signs in at once. Any other browser
shows a code too: otherwise a link that an attacker requested for their own account would sign its reader in there.

The mail has six digits beside the link, which sign in where the mail was requested (`core/accounts/links.py`).
They do what the link does, and no more.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import links, one_time_tokens, return_targets
from core.accounts.links import LinkTexts, LinkUnusable, ValidLink
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.return_targets import RequestingBrowser, ReturnRequest, ReturnTarget
from core.accounts.sign_in_methods import Provider
from core.accounts.users import lock_unless_anonymized
from core.email_addresses import canonical_email
from core.errors import BadRequest, Refusal, SsoRequired
from core.lazy_dataclasses import dataclass
from core.mail.mail import MailTemplate
from core.secrets import Secret, hash_token
from core.sessions.sessions import MAILED
from core.sign_in import conclusion
from core.sign_in.customer_choices import CustomerRequired
from core.sign_in.judgement import OF_LINK, LinkFacts, judge
from core.sign_in.login_events import note_refusal, noted_refusal
from core.sign_in.mfa_challenges import Outcome
from core.sign_in.proofs import Destination, IdentityProof, MailedProof, UsedWay
from core.sign_in.reasons import SignInReason, SignInRefused

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail, or request a new one where you wanted"
    " to sign in.",
    used="This link was used already, or is no longer needed. Request a new one where you wanted to sign in.",
    expired="This link has expired. It was valid for 15 minutes; request a new one where you wanted to sign in.",
)
CODE_TEXTS: Final = LinkTexts(
    unknown=TEXTS.unknown,
    used="This code was used already. Request a new link where you wanted to sign in.",
    expired="This code has expired. It was valid for five minutes; request a new link where you wanted to sign in.",
)
_MAILED_CODE_OVER: Final = (
    "This code was used already, or is no longer needed. Request a new mail where you wanted to sign in."
)
MAILED_CODE_TEXTS: Final = LinkTexts(unknown=_MAILED_CODE_OVER, used=_MAILED_CODE_OVER, expired=_MAILED_CODE_OVER)
WRONG_CODE: Final = (
    "This code is wrong. Type the six digits of the newest mail, or open the link in it: not every mail has a code."
)
CODE_OVER: Final = (
    "No code of this mail is taken here any more: it was valid for ten minutes and five tries, where the mail was"
    " requested. Open the link in the mail, or request a new mail."
)


class MagicLinkRefused(SignInRefused):
    """The link or code is unknown, used or expired, or the account may not be used; the message states what to do."""

    default_message = TEXTS.unknown


class DestinationMismatch(BadRequest):
    """A link signs in only at the organization and service that it was requested for."""

    default_message = "This link was requested to sign in somewhere else. Request a new one here."


@dataclass(frozen=True, slots=True, kw_only=True)
class MagicLinkRequested:
    """The account that a link would sign in, the destination, and the browser in which it was requested on a page.

    `place` is the destination, or where the sign-in in the browser leads.
    """

    email: str
    back: ReturnTarget
    place: ReturnTarget
    browser: RequestingBrowser | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """The code that replaces a used link; `place` as in `MagicLinkRequested`."""

    code: Secret
    back: ReturnTarget
    place: ReturnTarget


def request(
    uow: UnitOfWork, email: str, return_request: ReturnRequest, *, browser: RequestingBrowser | None = None
) -> UUID:
    """Send a link and a code if an account has the address, without revealing whether one does.

    Return the id of the challenge that the code of the mail answers, for the client that asked alone.

    A link that is requested in a browser goes on there, with what the browser carries; what the request names is then
    what the mail shows.
    """
    target = return_targets.find(uow, return_request)
    address = canonical_email(email, uow.domain_names.to_ascii)
    found = lock_unless_anonymized(uow, uow.users.by_email(address))
    is_refused = judge(OF_LINK, LinkFacts(is_place_known=True, user=found)).refusal is not None
    user = None if is_refused else found
    is_first_proof = user is not None and not user.is_verified
    code = links.make_code(uow, user)
    links.send(
        uow,
        user,
        TokenPurpose.MAGIC_LINK,
        MailTemplate.MAGIC_LINK,
        back=target,
        requested_for=address,
        browser=browser,
        code=code,
        first_proof="yes" if is_first_proof else "",
    )
    return code.challenge_id


def inspect(uow: UnitOfWork, token: str) -> MagicLinkRequested:
    """Return the account of a link, without using the link up; raise `MagicLinkRefused`."""
    try:
        link = links.inspect(uow, TokenPurpose.MAGIC_LINK, token, TEXTS)
    except LinkUnusable as unusable:
        raise _noted(unusable, Destination()) from None
    browser = return_targets.recall_browser(link.token.data)
    back, place = _places(uow, link, browser)
    return MagicLinkRequested(email=link.user.email, back=back, place=place, browser=browser)


def exchange(uow: UnitOfWork, token: str) -> Exchanged:
    """Use up a link and return a code that signs in at the same destination; raise `MagicLinkRefused`."""
    try:
        link = _use_locked(uow, TokenPurpose.MAGIC_LINK, token, TEXTS)
    except LinkUnusable as unusable:
        raise _noted(unusable, Destination()) from None
    code = one_time_tokens.issue(uow, TokenPurpose.MAGIC_LINK_CODE, link.user.id, link.user.email, **link.token.data)
    back, place = _places(uow, link, return_targets.recall_browser(link.token.data))
    return Exchanged(code=code, back=back, place=place)


def verify(uow: UnitOfWork, token: str, wanted: Destination, *, mailed_to: str | None = None) -> Outcome:
    """Sign in with the token of a link, or with the code that the link's page showed.

    `mailed_to` is the address to which the form for the code says that the link was mailed.
    """
    try:
        link = _use(uow, token)
    except LinkUnusable as unusable:
        raise _noted(unusable, wanted, mailed_to) from None
    return _sign_in(uow, link, wanted, TEXTS, MailedProof.LINK)


def verify_code(
    uow: UnitOfWork, challenge_id: UUID, code: str, wanted: Destination, *, binding: str | None = None
) -> Outcome:
    """Sign in with the code of a mail, as its link does, or count a wrong one; raise `RateLimitExceeded`.

    `binding` binds the browser on whose page the code was typed, empty when it has none; None for a program.
    """
    guess = links.guess_code(uow, challenge_id, code, binding=binding)
    if guess is None:
        raise MagicLinkRefused(CODE_OVER)
    if not guess.is_right:
        note_refusal(uow, guess.token.user_id, _way(MailedProof.CODE), wanted, SignInReason.UNKNOWN_LINK)
        return MagicLinkRefused(WRONG_CODE).because(SignInReason.UNKNOWN_LINK)
    try:
        link = links.use_with_code(uow, guess, MAILED_CODE_TEXTS)
    except LinkUnusable as unusable:
        raise _noted(unusable, wanted, proof=MailedProof.CODE) from None
    return _sign_in(uow, link, wanted, MAILED_CODE_TEXTS, MailedProof.CODE)


def _sign_in(
    uow: UnitOfWork, link: ValidLink, wanted: Destination, texts: LinkTexts, mailed_proof: MailedProof
) -> Outcome:
    """Conclude the sign-in by a link that is used up."""
    user = link.user
    for purpose in (TokenPurpose.MAGIC_LINK, TokenPurpose.MAGIC_LINK_CODE):
        # A user who waited may have requested several links; the unused ones would stay valid for a while.
        uow.one_time_tokens.withdraw(user.id, purpose, at=uow.now)
    proof = IdentityProof(
        user_id=user.id,
        provider=Provider.MAGIC_LINK,
        amr=(MAILED,),
        proves_address=True,
        mailed_proof=mailed_proof,
    )
    try:
        destination = _destination(link.token.data, wanted)
    except DestinationMismatch as mismatch:
        raise noted_refusal(mismatch, user.id, proof.used_way, wanted) from None
    outcome = conclusion.conclude(uow, proof, destination)
    return (
        MagicLinkRefused(texts.unknown).because(outcome.reason)
        if isinstance(outcome, Refusal) and not isinstance(outcome, (SsoRequired, CustomerRequired))
        else outcome
    )


def _places(uow: UnitOfWork, link: ValidLink, browser: RequestingBrowser | None) -> tuple[ReturnTarget, ReturnTarget]:
    """Return where a link signs in, and the place that its page names."""
    back = return_targets.recall(uow, link.token.data)
    return back, return_targets.place_of(uow, back, browser)


def _noted(
    unusable: LinkUnusable,
    wanted: Destination,
    mailed_to: str | None = None,
    proof: MailedProof = MailedProof.LINK,
) -> MagicLinkRefused:
    """Return the refusal of a link, noted for the account that it was mailed to, or `mailed_to`."""
    refusal = MagicLinkRefused(unusable.message).because(unusable.reason)
    token = unusable.token
    if token is None:
        return refusal.leaving(partial(_note_unknown, mailed_to, wanted)) if mailed_to is not None else refusal
    destination = replace(
        wanted,
        organization_slug=wanted.organization_slug or token.data.get("org_slug"),
        service_slug=wanted.service_slug or token.data.get("service_slug"),
    )
    return noted_refusal(refusal, token.user_id, _way(proof), destination)


def _note_unknown(mailed_to: str, wanted: Destination, uow: UnitOfWork) -> None:
    user = uow.users.by_email(canonical_email(mailed_to, uow.domain_names.to_ascii))
    user_id = user.id if user is not None else None
    note_refusal(uow, user_id, _way(MailedProof.LINK), wanted, SignInReason.UNKNOWN_LINK)


def _way(mailed_proof: MailedProof) -> UsedWay:
    return UsedWay(Provider.MAGIC_LINK, mailed_proof=mailed_proof)


def _use(uow: UnitOfWork, token: str) -> ValidLink:
    is_code = uow.one_time_tokens.find(hash_token(token), TokenPurpose.MAGIC_LINK_CODE) is not None
    purpose, texts = (TokenPurpose.MAGIC_LINK_CODE, CODE_TEXTS) if is_code else (TokenPurpose.MAGIC_LINK, TEXTS)
    return _use_locked(uow, purpose, token, texts)


def _use_locked(uow: UnitOfWork, purpose: TokenPurpose, token: str, texts: LinkTexts) -> ValidLink:
    # The account before its links, so that two links that are used concurrently are locked in one order, and that
    # ending all sessions finds either the link or its result.
    uow.users.lock(links.inspect(uow, purpose, token, texts).user.id)
    return links.use(uow, purpose, token, texts)


def _destination(requested: dict[str, Any], wanted: Destination) -> Destination:
    """Return the destination that the link was requested for; `wanted` supplies what it left open.

    Anyone can have asked for a customer; the pages and the mail of a link name none, so the user is asked. Raise
    `DestinationMismatch` when the two differ.
    """
    organization, service = requested.get("org_slug"), requested.get("service_slug")
    if organization is None:
        return wanted
    is_elsewhere = wanted.organization_slug not in {None, organization}
    is_at_other_service = service is not None and wanted.service_slug not in {None, service}
    if is_elsewhere or is_at_other_service:
        raise DestinationMismatch().because(SignInReason.LINK_FOR_ELSEWHERE)
    destination = replace(wanted, organization_slug=organization, service_slug=service or wanted.service_slug)
    customer = requested.get("customer")
    if customer is None or wanted.customer is not None:
        return destination
    return replace(destination, customer=customer, asks_for_customer=True)
