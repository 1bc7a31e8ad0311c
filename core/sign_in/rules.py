"""The rules of signing in, in their order: each reads what it judges, and answers with a refusal or with nothing.

A rule changes nothing. Signing in records or raises what a rule answers (`conclusion.py`); the explanation for those
who help reads the same rules (`core/platform/why.py`), so that it cannot say anything else. What a way takes before it
has proved an identity is judged beside that way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from core.accounts import addresses, single_sign_on
from core.accounts.single_sign_on import RequiredConnection
from core.accounts.users import User
from core.errors import Forbidden, Refusal, SsoRequired
from core.lazy_dataclasses import dataclass
from core.sessions.confinement import Confinement
from core.sessions.sessions import MAILED
from core.sign_in import customer_choices, entitlement, places
from core.sign_in.arrivals import Circumstances, defer_circumstances
from core.sign_in.customer_choices import Choice, ForCustomer, NotOpen, Undecided
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.places import Place
from core.sign_in.proofs import Destination, IdentityProof, Target
from core.sign_in.reasons import SignInReason, reason_of_account
from core.sign_in.refusals import AccountNotOpen, ClosedToProviders, EmailNotVerified, SignInRefused

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class Rule(StrEnum):
    """What a sign-in is judged by, in the order in which it is.

    The ways that name an organization in their first step look for it before everything else.
    """

    # What a way takes, before it has proved an identity.
    FAILURES = "failures"
    ACCOUNT = "account"
    CONNECTION_OPEN = "connection_open"
    CREDENTIAL = "credential"
    MAIL_LIMIT = "mail_limit"
    MAIL_DOMAIN = "mail_domain"
    LINK = "link"
    SEAT = "seat"
    # What every proof has to pass.
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
    CONFINEMENT = "confinement"
    SECOND_FACTOR = "second_factor"
    REQUIRED_SECOND_FACTOR = "required_second_factor"


@dataclass(kw_only=True)
class Candidate:
    """A user who would sign in: the account, the proof, and the destination; the rest is read when a rule asks for it.

    `circumstances` are None while they are not read, or are out of date. `of_unusable` is how an account is refused
    that may not be used.
    """

    uow: UnitOfWork
    user: User | None
    proof: IdentityProof
    destination: Destination
    circumstances: Circumstances | None
    of_unusable: SignInRefused

    @property
    def account(self) -> User:
        """The account of a candidate who has one, as the first rule has found."""
        assert self.user is not None, "a rule judges a candidate without an account"
        return self.user

    @cached_property
    def uses_unconfirmed_gift(self) -> bool:
        """Whether the sign-in uses what an organization gave, where using it does not confirm it."""
        slug, service_slug = self.destination.organization_slug, self.destination.service_slug
        if slug is None or not (self.account.waits_for_proof or self._is_proved_before_address):
            return False
        return self.uow.departures.is_waiting(self.account.id, slug, service_slug)

    @property
    def uses_unconfirmed_customer(self) -> bool:
        """Whether the user comes for a customer that has added them, where coming does not confirm that."""
        choice = self.choice
        is_new = isinstance(choice, ForCustomer) and not choice.customer.is_confirmed
        return is_new and (self.account.waits_for_proof or self._is_proved_before_address)

    @property
    def _is_proved_before_address(self) -> bool:
        """Whether the identity was proved in a session that is older than the proof of the address."""
        proved_at, address_proved_at = self.proof.authenticated_at, self.account.email_verified_at
        return proved_at is not None and address_proved_at is not None and proved_at < address_proved_at

    @cached_property
    def standing(self) -> ConnectionStanding | None:
        """What the user is to the connection of the proof; None when that is gone."""
        assert self.proof.confinement is not None, "a proof by a connection is not confined"
        return entitlement.standing_of(self.uow, self.proof.user_id, self.proof.confinement)

    @cached_property
    def place(self) -> Place:
        """Where the sign-in leads, and what the user is there, for the customer for which they come."""
        found, choice = self.known_circumstances.place(), self.choice
        return replace(found, customer=choice.customer) if isinstance(choice, ForCustomer) else found

    @cached_property
    def choice(self) -> Choice:
        """For which customer of the service the user comes, or that they have to choose."""
        found = self.known_circumstances.place()
        return customer_choices.choose(
            found.service,
            found.customers,
            self.destination.customer,
            self.proof.confinement,
            must_know=self.destination.asks_for_customer,
        )

    @cached_property
    def target(self) -> Target:
        """Where the sign-in leads at last; a limited proof that leads nowhere stays with what it is limited to."""
        if self.place.customer is not None:
            return self.place.target
        target = self.known_circumstances.target()
        return target if target.organization_id is not None else Target.within(self.proof.confinement)

    @cached_property
    def lacking_connection(self) -> RequiredConnection | None:
        """The connection by which the user has to sign in and does not; None when the way is open."""
        required = self.known_circumstances.required_connection()
        confinement = self.proof.confinement
        if required is None or (confinement is not None and confinement.connection_id == required.connection_id):
            return None
        browser = self.destination.browser
        if browser is None:
            return required
        present = browser.present if browser.is_again else None
        if present is not None and present.connection_id == required.connection_id:
            return None
        # A browser that comes from the connection signs in to the account, so that the two are linked.
        is_linking = single_sign_on.is_linking(
            self.uow, browser.upstream_binding, self.account.id, required.connection_id
        )
        return None if is_linking else required

    @property
    def limited_proof(self) -> IdentityProof:
        """The proof of a sign-in that every rule lets in, with what its session is limited to.

        Without the connection that another organization requires, it opens nothing but its target (decisions 13.6).
        """
        lacking = self.lacking_connection
        is_as_it_is = lacking is None or lacking.is_of_owner or self.proof.confinement is not None
        return self.proof if is_as_it_is else _limited_to(self.proof, self.target)

    @property
    def known_circumstances(self) -> Circumstances:
        """The circumstances of a candidate that needs them."""
        assert self.circumstances is not None, "a rule judges a destination that is not read"
        return self.circumstances

    def as_proved(self, user: User) -> Candidate:
        """Return the candidate with an account that a proof has changed, and with it what was read of it before."""
        return replace(self, user=user, circumstances=None)

    def informed(self) -> Candidate:
        """Return the candidate with the circumstances deferred, unless they were before."""
        circumstances = self.circumstances or defer_circumstances(self.uow, self.account.id, self.destination)
        return replace(self, circumstances=circumstances)


def _limited_to(proof: IdentityProof, target: Target) -> IdentityProof:
    """Return a proof without limits as one whose session opens a target alone."""
    assert target.organization_id is not None, "a sign-in without the required connection leads to no organization"
    limits = Confinement(organization_id=target.organization_id, service_id=target.service_id, lacks_connection=True)
    return replace(proof, confinement=limits)


@dataclass(frozen=True, slots=True)
class SignInRule:
    """A rule, and the function that returns its refusal of a candidate, None when it passes."""

    name: Rule
    judge: Callable[[Candidate], Refusal | None]


def _activated(candidate: Candidate) -> Refusal | None:
    reason = reason_of_account(candidate.user) if candidate.user is not None else SignInReason.DEACTIVATED
    if reason is None:
        return None
    # Who comes back from a provider has typed neither address nor password.
    refusal = AccountNotOpen() if candidate.proof.is_of_provider else candidate.of_unusable
    return refusal.because(reason)


def _reopening(candidate: Candidate) -> Refusal | None:
    if candidate.account.closed_at is None or not candidate.proof.is_of_provider:
        return None
    return ClosedToProviders().because(SignInReason.CLOSED)


def _address_verified(candidate: Candidate) -> Refusal | None:
    if candidate.account.is_verified or candidate.proof.proves_address:
        return None
    return EmailNotVerified().because(SignInReason.EMAIL_NOT_VERIFIED)


def _address_owned(candidate: Candidate) -> Refusal | None:
    if not candidate.uses_unconfirmed_gift:
        return None
    return addresses.refusal_to_settle(candidate.account, proves_address=candidate.proof.proves_address)


def _connection_kept(candidate: Candidate) -> Refusal | None:
    return entitlement.refusal_of_closed(candidate.standing) if candidate.proof.is_by_connection else None


def _affiliation(candidate: Candidate) -> Refusal | None:
    standing = candidate.standing if candidate.proof.is_by_connection else None
    return entitlement.refusal_of_stranger(standing) if standing is not None else None


def _address_confirmed(candidate: Candidate) -> Refusal | None:
    standing, confinement = (
        candidate.standing if candidate.proof.is_by_connection else None,
        candidate.proof.confinement,
    )
    if standing is None or confinement is None:
        return None
    # A browser that is signed in is led to set the factor up, and from there to the code.
    is_child = candidate.destination.parent_id is not None
    has_factor = candidate.account.has_mfa or candidate.proof.has_second_factor
    lacks_second_factor = standing.requires_second_factor and not has_factor and not is_child
    takes_code = lacks_second_factor or candidate.destination.confirms_address
    # A session that is to add a passkey takes the code, whatever confirmed the identity before (`factors.py`).
    adds_passkey = candidate.destination.confirms_address and standing.takes_passkeys_alone
    return entitlement.refusal_of_word_alone(
        standing,
        confinement,
        takes_code=takes_code,
        takes_code_again=adds_passkey and MAILED not in candidate.proof.amr,
    )


def _single_sign_on(candidate: Candidate) -> Refusal | None:
    lacking, target = candidate.lacking_connection, candidate.target
    if lacking is None or not lacking.holds_for(target.organization_id, target.customer_organization_id):
        return None
    is_by_customer = target.customer_organization_id is not None
    return SsoRequired(lacking.connection_id if is_by_customer else None).because(SignInReason.SSO_REQUIRED)


def _of_place(judge: Callable[[Place, Destination], Refusal | None]) -> Callable[[Candidate], Refusal | None]:
    return lambda candidate: judge(candidate.place, candidate.destination)


def _customer(candidate: Candidate) -> Refusal | None:
    """Refuse a user who cannot come in for the customer that was named, or who would have to come for one."""
    choice = candidate.choice
    if isinstance(choice, NotOpen):
        return choice.refusal
    if not candidate.uses_unconfirmed_customer:
        return None
    return addresses.refusal_to_settle(candidate.account, proves_address=candidate.proof.proves_address)


def _confinement(candidate: Candidate) -> Refusal | None:
    """Refuse a user who has signed in for another organization or service alone."""
    confinement, place = candidate.proof.confinement, candidate.place
    if confinement is None or isinstance(candidate.choice, Undecided):
        return None
    # What is open for a customer was chosen within the limits.
    if place.customer is not None or confinement.allows(place.organization_id, place.service_id):
        return None
    return Forbidden(
        "You have signed in for another organization alone. Sign out first, and sign in here in another way."
    ).because(SignInReason.CONFINED_ELSEWHERE)


# A proof of the address takes effect behind each of the first two, so they are judged one after the other.
OF_ACCOUNT: Final = (
    SignInRule(Rule.ACTIVATED, _activated),
    SignInRule(Rule.REOPENING, _reopening),
    SignInRule(Rule.ADDRESS_VERIFIED, _address_verified),
)
OF_GIFTS: Final = (SignInRule(Rule.ADDRESS_OWNED, _address_owned),)
OF_DESTINATION: Final = (
    SignInRule(Rule.CONNECTION_KEPT, _connection_kept),
    SignInRule(Rule.AFFILIATION, _affiliation),
    SignInRule(Rule.ADDRESS_CONFIRMED, _address_confirmed),
    SignInRule(Rule.SINGLE_SIGN_ON, _single_sign_on),
    SignInRule(Rule.ORGANIZATION, _of_place(places.refusal_of_unknown)),
    SignInRule(Rule.MEMBERSHIP, _of_place(places.refusal_of_stranger)),
    SignInRule(Rule.ORGANIZATION_ACTIVE, _of_place(places.refusal_of_inactive)),
    SignInRule(Rule.SERVICE, _of_place(places.refusal_of_unknown_service)),
    SignInRule(Rule.NOT_SUSPENDED, _of_place(places.refusal_of_suspended)),
    SignInRule(Rule.CUSTOMER, _customer),
    SignInRule(Rule.SECURITY_PROFILE, _of_place(places.refusal_of_other_way)),
    SignInRule(Rule.CONFINEMENT, _confinement),
)
