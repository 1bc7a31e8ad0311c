"""Recording why a sign-in was refused whose identity another provider has proved.

It is recorded for the account to which the identity is linked; else, in the context of an organization, for the account
of its member or end user with the address that the provider gave. Otherwise nothing is recorded: an organization's own
provider can give any address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.email_addresses import normalize_email
from core.errors import BadRequest, Refusal
from core.sign_in.identities import IdentityContext, ProvenIdentity
from core.sign_in.login_events import Refused, note_refusal
from core.sign_in.proofs import Destination, UsedWay
from core.sign_in.reasons import SignInReason, reason_of
from core.sign_in.upstream import provider_answers, saml
from core.sign_in.upstream.provider_answers import UpstreamFailed
from core.sign_in.upstream.saml import SamlAnswer

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The reasons of the log, where the vocabulary of the login events is less precise.
_REASONS: Final = {
    "expired": SignInReason.ASSERTION_EXPIRED,
    "from_the_future": SignInReason.ASSERTION_EXPIRED,
    "wrong_audience": SignInReason.ASSERTION_FOR_ANOTHER,
    "no_authorized_party": SignInReason.ASSERTION_FOR_ANOTHER,
    "wrong_nonce": SignInReason.ASSERTION_FOR_ANOTHER,
    "wrong_destination": SignInReason.ASSERTION_FOR_ANOTHER,
    "answer_to_another_request": SignInReason.ASSERTION_FOR_ANOTHER,
    "token_of_another_issuer": SignInReason.ASSERTION_OF_ANOTHER,
    "assertion_of_another_issuer": SignInReason.ASSERTION_OF_ANOTHER,
    "not_confirmed": SignInReason.ASSERTION_NOT_CONFIRMED,
    "wrong_recipient": SignInReason.ASSERTION_NOT_CONFIRMED,
    "unsolicited": SignInReason.ASSERTION_NOT_CONFIRMED,
    "confirmation_ended": SignInReason.ASSERTION_NOT_CONFIRMED,
    "unknown_state": SignInReason.STATE_UNKNOWN,
    "certificates_outdated": SignInReason.CERTIFICATE_OUTDATED,
}


def noted(
    refusal: Refused, context: IdentityContext, proven: ProvenIdentity, destination: Destination | None = None
) -> Refused:
    """Return a refusal that, when it is raised, leaves its reason behind for the account of an identity."""
    reason = _reason_of(refusal)

    def trace(uow: UnitOfWork) -> None:
        user_id = _user_of(uow, context, proven)
        if user_id is not None:
            note_refusal(
                uow, user_id, UsedWay(proven.provider, context.confinement), destination or Destination(), reason
            )

    return refusal.leaving(trace)


def note_answer(
    uow: UnitOfWork, context: IdentityContext, answer: SamlAnswer, mapping: Mapping[str, str], refusal: Refusal
) -> None:
    """Record why an answer of a SAML identity provider was refused, for the user of its assertion."""
    if answer.assertion is None:
        return
    try:
        proven = saml.identity(answer.assertion, mapping)
    except UpstreamFailed:
        # The assertion names no user, which may be why it was refused.
        return
    _leave(uow, noted(refusal, context, proven))


def note_claims(uow: UnitOfWork, context: IdentityContext, mapping: Mapping[str, str], refusal: UpstreamFailed) -> None:
    """Record why an ID token was refused that its provider had signed, for its user."""
    if refusal.claims is None:
        return
    try:
        proven = provider_answers.connection_identity(refusal.claims, mapping)
    except UpstreamFailed:
        return
    _leave(uow, noted(refusal, context, proven))


def _leave(uow: UnitOfWork, refusal: Refusal) -> None:
    assert refusal.trace is not None, "a refusal that was noted leaves nothing"
    refusal.trace(uow)


def _reason_of(refusal: Refusal) -> SignInReason:
    known = _REASONS.get(refusal.reason or "") or reason_of(refusal.reason)
    return known or SignInReason.PROVIDER_FAILED


def _user_of(uow: UnitOfWork, context: IdentityContext, proven: ProvenIdentity) -> UUID | None:
    identity = uow.identities.find(proven.provider, proven.subject, context)
    if identity is not None:
        return identity.user_id
    if context.organization_id is None:
        return None
    try:
        email = normalize_email(proven.email or "", uow.domain_names.to_ascii)
    except BadRequest:
        return None
    return uow.sign_ins.affiliated(context.organization_id, email)
