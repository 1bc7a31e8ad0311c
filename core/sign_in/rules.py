"""The rules of signing in, in their order: each judges facts, and answers with a refusal, a change, or nothing.

A rule reads nothing and changes nothing. Signing in carries out the answers (`effects.py`), and the explanation for
those who help reads the same answers (`core/platform/why.py`), so that it cannot say anything else. The rules of a way
before it has proved an identity are in `judgement.py` (ops/decisions/0093-one-judge-of-sign-ins.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import Enum, StrEnum, auto
from typing import TYPE_CHECKING, Final, Generic, TypeAlias, TypeVar

from core.errors import Forbidden, Refusal, SsoRequired
from core.lazy_dataclasses import dataclass
from core.organizations import session_strength
from core.sessions.caller_limits import AddressDisowned, MailedProofRequired
from core.sessions.mfa_methods import MfaMethods
from core.sessions.sessions import MAILED
from core.sign_in import admission, entitlement, places
from core.sign_in.customer_choices import ForCustomer, NotOpen, Undecided
from core.sign_in.facts import SignInFacts, Stage
from core.sign_in.reasons import (
    AccountNotOpen,
    ClosedToProviders,
    EmailNotVerified,
    NotAdmitted,
    SignInInterrupted,
    SignInReason,
    SignInRefused,
    reason_of_account,
)

if TYPE_CHECKING:
    from datetime import datetime

    from core.sign_in.customer_choices import CustomerStanding
    from core.sign_in.places import Place
    from core.sign_in.proofs import Destination

Facts = TypeVar("Facts")


class Rule(StrEnum):
    """The rules of a sign-in, in their order.

    The ways that name an organization in their first step look for it before everything else.
    """

    # Before a way has proved an identity.
    FAILURES = "failures"
    ACCOUNT = "account"
    CONNECTION_OPEN = "connection_open"
    CREDENTIAL = "credential"
    MAIL_LIMIT = "mail_limit"
    MAIL_DOMAIN = "mail_domain"
    LINK = "link"
    SEAT = "seat"
    # For every proof.
    ACTIVATED = "activated"
    REOPENING = "reopening"
    ADDRESS_VERIFIED = "address_verified"
    ADDRESS_OWNED = "address_owned"
    CONNECTION_KEPT = "connection_kept"
    AFFILIATION = "affiliation"
    ADDRESS_CONFIRMED = "address_confirmed"
    SINGLE_SIGN_ON = "single_sign_on"
    ORGANIZATION = "organization"
    MEMBERSHIP = "membership"
    ORGANIZATION_ACTIVE = "organization_active"
    SERVICE = "service"
    NOT_SUSPENDED = "not_suspended"
    CUSTOMER = "customer"
    SECURITY_PROFILE = "security_profile"
    SAML_ADMISSION = "saml_admission"
    ACCESS = "access"
    CONFINEMENT = "confinement"
    SECOND_FACTOR = "second_factor"
    REQUIRED_SECOND_FACTOR = "required_second_factor"


class Amend(Enum):
    """A change that a proof brings about; the rules behind it judge the facts as it leaves them."""

    # The user has proved the address: what was set up before goes, and what organizations gave is unconfirmed.
    RECLAIM = auto()


@dataclass(frozen=True, slots=True)
class Asks:
    """The user has to do something more, and then goes on."""

    reason: SignInReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Depends:
    """The rule refuses some attempts and not others, by a fact that is unknown while the user is not signing in.

    `until` says how long that lasts, and `networks` are those whose attempts are refused.
    """

    reason: SignInReason | None = None
    until: datetime | None = None
    networks: tuple[str, ...] = ()


# None stands for a rule that passes.
Answer: TypeAlias = Refusal | Amend | Asks | Depends | None


@dataclass(frozen=True, slots=True)
class SignInRule(Generic[Facts]):
    """A rule: its name, the function that judges, and what has to be read for it and the rules behind it."""

    name: Rule
    judge: Callable[[Facts], Answer]
    needs: Stage | None = field(default=None, kw_only=True)


# Rules about the account


def _activated(facts: SignInFacts) -> Answer:
    reason = reason_of_account(facts.user) if facts.user is not None else SignInReason.DEACTIVATED
    if reason is None:
        return None
    if facts.proof.is_of_provider:
        # A user who comes back from a provider has typed neither address nor password.
        return AccountNotOpen().because(reason)
    # The first factor was right minutes ago, so the refusal of an unknown account would mislead.
    return (SignInInterrupted() if facts.has_waited else SignInRefused()).because(reason)


def _reopening(facts: SignInFacts) -> Answer:
    if facts.account.closed_at is None or not facts.proof.is_of_provider:
        return None
    return ClosedToProviders().because(SignInReason.CLOSED)


def _address_verified(facts: SignInFacts) -> Answer:
    if facts.account.is_verified:
        return None
    return Amend.RECLAIM if facts.proof.proves_address else EmailNotVerified().because(SignInReason.EMAIL_NOT_VERIFIED)


def _address_owned(facts: SignInFacts) -> Answer:
    return _settled(facts) if facts.would_use_unconfirmed_access and facts.has_unconfirmed_access else None


def _settled(facts: SignInFacts) -> Answer:
    """Refuse a user who would use unconfirmed access, unless the proof gives the account to its owner first."""
    if facts.account.is_disowned:
        return AddressDisowned().because(SignInReason.ADDRESS_DISOWNED)
    if facts.proof.proves_address:
        return Amend.RECLAIM
    return MailedProofRequired().because(SignInReason.MAILED_PROOF_REQUIRED)


# Rules about the connection by which the user signs in, or has to sign in


def _connection_kept(facts: SignInFacts) -> Answer:
    confinement = facts.proof.confinement
    is_by_connection = confinement is not None and confinement.connection_id is not None
    return entitlement.refusal_of_closed(facts.here.standing) if is_by_connection else None


def _affiliation(facts: SignInFacts) -> Answer:
    # Only a connection has a standing, and its proofs always have limits.
    standing = facts.here.standing if facts.proof.confinement is not None else None
    return entitlement.refusal_of_stranger(standing) if standing is not None else None


def _address_confirmed(facts: SignInFacts) -> Answer:
    confinement = facts.proof.confinement
    standing = facts.here.standing if confinement is not None else None
    if standing is None or confinement is None:
        return None
    # A browser that is signed in is led to set the factor up, and from there to the code.
    is_child = facts.destination.parent_id is not None
    has_factor = facts.account.has_mfa or facts.proof.has_second_factor
    lacks_second_factor = standing.requires_second_factor and not has_factor and not is_child
    takes_code = lacks_second_factor or facts.destination.confirms_address
    # A session that is to add a passkey takes the code, whatever confirmed the identity before (`factors.py`).
    adds_passkey = facts.destination.confirms_address and standing.takes_passkeys_alone
    return entitlement.refusal_by_connection_alone(
        standing,
        confinement,
        takes_code=takes_code,
        takes_code_again=adds_passkey and MAILED not in facts.proof.amr,
    )


def _single_sign_on(facts: SignInFacts) -> Answer:
    here = facts.here
    lacking, target = here.lacking_connection, here.target
    if lacking is None or not lacking.holds_for(target.organization_id, target.customer_organization_id):
        return None
    is_by_customer = target.customer_organization_id is not None
    return SsoRequired(lacking.connection_id if is_by_customer else None).because(SignInReason.SSO_REQUIRED)


# Rules about the place


def _of_place(judge: Callable[[Place, Destination], Refusal | None]) -> Callable[[SignInFacts], Answer]:
    """Return the rule that judges the place of a sign-in, if it names one."""
    return lambda facts: (
        judge(facts.here.place, facts.destination) if facts.destination.organization_slug is not None else None
    )


def _customer(facts: SignInFacts) -> Answer:
    """Refuse a user who cannot sign in for the customer that was named, or who would need one."""
    choice = facts.here.choice
    if isinstance(choice, NotOpen):
        return choice.refusal
    # A customer may have added the user, who has not confirmed that.
    is_new = isinstance(choice, ForCustomer) and not choice.customer.is_confirmed
    return _settled(facts) if is_new and facts.is_unconfirmed else None


def _security_profile(facts: SignInFacts) -> Answer:
    """Refuse a service with a security profile that has not pushed the request."""
    if facts.destination.service_slug is None:
        return None
    refusal = places.refusal_of_other_way(facts.here.place, facts.destination)
    is_known = refusal is None or facts.destination.is_pushed is not None
    return refusal if is_known else Depends(reason=SignInReason.OTHER_WAY)


def _saml_admission(facts: SignInFacts) -> Answer:
    """Judge individuals; the service treats the people of customers as members."""
    if facts.is_admitted_by_saml is not False or isinstance(facts.here.choice, (ForCustomer, Undecided)):
        return None
    return NotAdmitted().because(SignInReason.NOT_ADMITTED)


def _access(facts: SignInFacts) -> Answer:
    """Refuse a sign-in without a customer to a service that is closed to strangers and does not admit the user."""
    if isinstance(facts.here.choice, (ForCustomer, Undecided)):
        return None
    return admission.refusal_of(facts.here.place, confirms=facts.destination.confirms_membership)


def _confinement(facts: SignInFacts) -> Answer:
    """Refuse a user who has signed in for another organization or service alone."""
    confinement = facts.proof.confinement
    if confinement is None or isinstance(facts.here.choice, Undecided):
        return None
    place = facts.here.place
    # The choice of a customer has respected the limits.
    if place.customer is not None or confinement.allows(place.organization_id, place.service_id):
        return None
    return Forbidden(
        "You have signed in for another organization alone. Sign out first, and sign in here in another way."
    ).because(SignInReason.CONFINED_ELSEWHERE)


# Rules that ask the user for something


def _second_factor(facts: SignInFacts) -> Answer:
    asks = facts.asks_second_factor and not facts.uses_trusted_device
    return Asks(SignInReason.SECOND_FACTOR_ASKED) if asks else None


def _customer_chosen(facts: SignInFacts) -> Answer:
    choice = facts.here.choice
    if isinstance(choice, NotOpen):
        # A proof of the address has taken the confirmed membership that admitted the user.
        return choice.refusal
    return Asks(SignInReason.CUSTOMER_ASKED) if isinstance(choice, Undecided) else None


def _required_second_factor(facts: SignInFacts) -> Answer:
    """Refuse a single factor, or one that does not count, where the organization requires two of its members.

    It does so at its services too; their users who are no members are the services' matter. For a customer its own rule
    counts, not the vendor's.
    """
    place = facts.here.place
    organization = place.organization
    if place.customer is not None:
        return _required_by_customer(place.customer, facts)
    if organization is None or not organization.mfa_required or _is_met(organization.mfa_methods, facts):
        return None
    return None if place.service is not None and not place.has_access else _lacks_factor(organization.mfa_methods)


def _required_by_customer(customer: CustomerStanding, facts: SignInFacts) -> Answer:
    is_met = not customer.requires_mfa or _is_met(customer.mfa_methods, facts)
    return None if is_met else _lacks_factor(customer.mfa_methods)


def _is_met(methods: MfaMethods, facts: SignInFacts) -> bool:
    return methods.are_met_by(facts.methods, facts.proof.connection_id)


def _lacks_factor(methods: MfaMethods) -> Refusal:
    is_strict = methods is MfaMethods.PHISHING_RESISTANT
    reason = SignInReason.PASSKEY_REQUIRED if is_strict else SignInReason.SECOND_FACTOR_REQUIRED
    return session_strength.refusal_of(methods).because(reason)


def _still_signed_in_there(facts: SignInFacts) -> Answer:
    bounded_until = facts.proof.bounded_until
    if bounded_until is None or facts.now < bounded_until:
        return None
    return SignInInterrupted().because(SignInReason.SESSION_OVER_THERE)


# What one rule has read, those behind it have. A name appears twice where a sign-in asks, or ends, only when all else
# is settled; the explanation shows it once.
RULES: Final[tuple[SignInRule[SignInFacts], ...]] = (
    SignInRule(Rule.ACTIVATED, _activated),
    SignInRule(Rule.REOPENING, _reopening),
    SignInRule(Rule.ADDRESS_VERIFIED, _address_verified),
    SignInRule(Rule.ADDRESS_OWNED, _address_owned, needs=Stage.UNCONFIRMED_ACCESS),
    SignInRule(Rule.CONNECTION_KEPT, _connection_kept, needs=Stage.CIRCUMSTANCES),
    SignInRule(Rule.AFFILIATION, _affiliation),
    SignInRule(Rule.ADDRESS_CONFIRMED, _address_confirmed),
    SignInRule(Rule.SINGLE_SIGN_ON, _single_sign_on),
    SignInRule(Rule.ORGANIZATION, _of_place(places.refusal_of_unknown)),
    SignInRule(Rule.MEMBERSHIP, _of_place(places.refusal_of_stranger)),
    SignInRule(Rule.ORGANIZATION_ACTIVE, _of_place(places.refusal_of_inactive)),
    SignInRule(Rule.SERVICE, _of_place(places.refusal_of_unknown_service)),
    SignInRule(Rule.NOT_SUSPENDED, _of_place(places.refusal_of_suspended)),
    SignInRule(Rule.CUSTOMER, _customer),
    SignInRule(Rule.SECURITY_PROFILE, _security_profile),
    SignInRule(Rule.SAML_ADMISSION, _saml_admission),
    SignInRule(Rule.ACCESS, _access),
    SignInRule(Rule.CONFINEMENT, _confinement),
    SignInRule(Rule.SECOND_FACTOR, _second_factor),
    SignInRule(Rule.CUSTOMER, _customer_chosen),
    SignInRule(Rule.REQUIRED_SECOND_FACTOR, _required_second_factor),
    SignInRule(Rule.CONNECTION_KEPT, _still_signed_in_there),
)
