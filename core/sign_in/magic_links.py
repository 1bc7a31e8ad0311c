"""Magic links: signing in with what is mailed to an account's address, without a password.

The link is good for 15 minutes and once. It leads to a page with a button, because mail scanners open every link.
Programs that get hold of the link's token themselves, as an app does that opens such links, sign in with it directly.

The page has nobody to give tokens to: it runs no script, and no token travels in an address to somewhere else. So its
button uses the link up and shows a one-time code instead, which the person takes back to where they wanted to sign in,
and which signs in there in the link's place. Nobody is told that they are signed in before they are, and no session
begins that nobody holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from core.accounts import links, one_time_tokens, return_targets
from core.accounts.links import LinkTexts, LinkUnusable
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.providers import Provider
from core.accounts.users import lock_unless_anonymized
from core.email_addresses import canonical_email
from core.errors import BadRequest, Refusal
from core.mail.mail import MailTemplate
from core.secrets import hash_token
from core.sign_in import conclusion
from core.sign_in.proofs import Proof
from core.sign_in.refusals import SignInRefused

if TYPE_CHECKING:
    from core.accounts.links import ValidLink
    from core.accounts.return_targets import ReturnRequest, ReturnTarget
    from core.secrets import Secret
    from core.sign_in.conclusion import Outcome
    from core.sign_in.proofs import Destination
    from ports.unit_of_work import UnitOfWork

TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it stands in the letter, or ask for a new one where you wanted"
    " to sign in.",
    used="This link was used already, or is no longer needed. Ask for a new one where you wanted to sign in.",
    expired="This link has expired. It was good for 15 minutes; ask for a new one where you wanted to sign in.",
)
CODE_TEXTS: Final = LinkTexts(
    unknown=TEXTS.unknown,
    used="This code was used already. Ask for a new link where you wanted to sign in.",
    expired="This code has expired. It was good for five minutes; ask for a new link where you wanted to sign in.",
)
# No registered method (RFC 8176) says that somebody reads the mail of an address.
_AMR: Final = "email"


class MagicLinkRefused(SignInRefused):
    """The link or code is unknown, used or expired, or the account may not be used; the message says what to do."""

    default_message = TEXTS.unknown


class DestinationMismatch(BadRequest):
    """A link that was asked for at one place signs in there and nowhere else."""

    default_message = "This link was asked for to sign in somewhere else. Ask for a new one here."


@dataclass(frozen=True, slots=True, kw_only=True)
class MagicLinkRequested:
    """Who would be signed in, and where they wanted to."""

    email: str
    back: ReturnTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """The link is used up, and this code stands for it."""

    code: Secret
    back: ReturnTarget


def request(uow: UnitOfWork, email: str, return_request: ReturnRequest) -> None:
    """Send a link to sign in with if an account has the address; nobody learns whether one does."""
    back = return_targets.find(uow, return_request)
    found = lock_unless_anonymized(uow, uow.users.by_email(canonical_email(email)))
    user = found if found is not None and found.is_active else None
    is_first_proof = user is not None and not user.is_verified
    links.send(
        uow,
        user,
        TokenPurpose.MAGIC_LINK,
        MailTemplate.MAGIC_LINK,
        back=back,
        first_proof="yes" if is_first_proof else "",
    )


def inspect(uow: UnitOfWork, token: str) -> MagicLinkRequested:
    """Refuse a link that is no good; a good one stays good."""
    try:
        opened = links.inspect(uow, TokenPurpose.MAGIC_LINK, token, TEXTS)
    except LinkUnusable as unusable:
        raise MagicLinkRefused(unusable.message) from None
    return MagicLinkRequested(email=opened.user.email, back=return_targets.recall(uow, opened.token.data))


def exchange(uow: UnitOfWork, token: str) -> Exchanged:
    """Use a link up for a code that signs in where its person wanted to."""
    try:
        opened = links.use(uow, TokenPurpose.MAGIC_LINK, token, TEXTS)
    except LinkUnusable as unusable:
        raise MagicLinkRefused(unusable.message) from None
    code = one_time_tokens.issue(
        uow, TokenPurpose.MAGIC_LINK_CODE, opened.user.id, opened.user.email, **opened.token.data
    )
    return Exchanged(code=code, back=return_targets.recall(uow, opened.token.data))


def verify(uow: UnitOfWork, token: str, wanted: Destination) -> Outcome:
    """Let somebody in with the token of a link, or with the code that the link's page showed in its place."""
    try:
        opened = _use(uow, token)
    except LinkUnusable as unusable:
        return MagicLinkRefused(unusable.message)

    user = opened.user
    for purpose in (TokenPurpose.MAGIC_LINK, TokenPurpose.MAGIC_LINK_CODE):
        # People who wait ask again; what they did not need would sign somebody in for a while.
        uow.one_time_tokens.withdraw(user.id, purpose, at=uow.now)
    proof = Proof(user_id=user.id, provider=Provider.MAGIC_LINK, amr=(_AMR,), proves_address=True)
    outcome = conclusion.conclude(uow, proof, _destination(opened.token.data, wanted))
    return MagicLinkRefused(TEXTS.unknown) if isinstance(outcome, Refusal) else outcome


def _use(uow: UnitOfWork, token: str) -> ValidLink:
    is_code = uow.one_time_tokens.find(hash_token(token), TokenPurpose.MAGIC_LINK_CODE) is not None
    purpose, texts = (TokenPurpose.MAGIC_LINK_CODE, CODE_TEXTS) if is_code else (TokenPurpose.MAGIC_LINK, TEXTS)
    # The account before its links, so that two of them that are used at once wait for each other in one order.
    uow.users.lock(links.inspect(uow, purpose, token, texts).user.id)
    return links.use(uow, purpose, token, texts)


def _destination(asked: dict[str, Any], wanted: Destination) -> Destination:
    """Give the place that the link was asked for at; what it left open may be said now."""
    organization, service = asked.get("org_slug"), asked.get("service_slug")
    if organization is None:
        return wanted
    is_elsewhere = wanted.organization_slug not in {None, organization}
    is_at_other_service = service is not None and wanted.service_slug not in {None, service}
    if is_elsewhere or is_at_other_service:
        raise DestinationMismatch
    return replace(wanted, organization_slug=organization, service_slug=service or wanted.service_slug)
