"""Walking the rules of signing in for an account, by one way: which of them pass, refuse, or are not reached.

Every answer is that of the function which signing in asks as well (`core/sign_in/rules.py`, and beside each way what it
takes). A walk changes nothing: where a sign-in would change the account first, such as by a proof of its address, it
goes on with the account as that leaves it. Who may learn what of a walk is decided in `why_asked.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

from core.accounts import addresses, sign_in_failures
from core.accounts.providers import Provider
from core.accounts.sign_in_failures import SignInFailure
from core.accounts.users import User
from core.credentials.passkeys import Passkey
from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.organizations.organizations import Organization
from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay, WalkedConnection
from core.saml.admission import AdmissionStanding
from core.sessions.confinement import Confinement
from core.sessions.sessions import MAILED, MFA, OTP
from core.sign_in import arrivals, login, places, rules
from core.sign_in.arrivals import Circumstances
from core.sign_in.customer_choices import ForCustomer, Undecided
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.own_ways import NamedConnection
from core.sign_in.places import Place
from core.sign_in.proofs import FEDERATED, Destination, IdentityProof
from core.sign_in.reasons import SignInReason, reason_of, reason_of_account
from core.sign_in.recognition import DeviceMatch
from core.sign_in.refusals import SignInRefused
from core.sign_in.risk import Habits
from core.sign_in.rules import Candidate, Rule, SignInRule
from core.sign_in.upstream import by_connection
from core.sign_in.upstream import sign_in as upstream_sign_in
from core.sign_in.upstream.connections import ConnectionRecord
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkedAccount:
    """The account that would sign in, None without one, and what every way asks of it.

    `failures` are the attempts for its address that count, None while limits are off; `network` is that of the attempt,
    None when it is not known. `mailed_again_at` is when the next sign-in link may be mailed to it; None for at once.
    `required` is the connection by which its user has to sign in.
    """

    user: User | None
    has_password: bool
    passkeys: Sequence[Passkey]
    failures: Sequence[SignInFailure] | None
    mailed_again_at: datetime | None
    network: str | None
    required: NamedConnection | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """Where a walk leads: the place, with what its user is there, and for a service by SAML who is admitted to it."""

    destination: Destination
    place: Place
    members_only: bool = False
    admission: AdmissionStanding | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ByConnection:
    """The connection of a walk, and what the user is to it: the standing, and whether their identity is linked.

    `links_at_once` says that it links the account without a mailed code.
    """

    organization: Organization
    connection: ConnectionRecord
    standing: ConnectionStanding
    is_linked: bool
    vouches: bool
    links_at_once: bool = False


# No rule asks for them: they make the risk of a sign-in that every rule lets in.
_NO_HABITS: Final = Habits(sign_ins=0, countries=(), hours=(), failures=0)
# What a password takes, in the order in which signing in asks for it.
_OF_PASSWORD: Final = PartialTable(
    {
        SignInReason.UNKNOWN_ACCOUNT: Rule.ACCOUNT,
        SignInReason.DEACTIVATED: Rule.ACTIVATED,
        SignInReason.LOCKED: Rule.ACTIVATED,
        SignInReason.NO_PASSWORD: Rule.CREDENTIAL,
    }
)


class Walker:
    """One walk. Rules in `hidden` are neither judged nor told."""

    def __init__(self, uow: UnitOfWork, subject: WalkedAccount, journey: Journey, hidden: frozenset[Rule]) -> None:
        self._uow = uow
        self._subject = subject
        self._journey = journey
        self._hidden = hidden
        self._checks: dict[Rule, RuleCheck] = {}
        self._is_refused = False

    def by_password(self) -> SignInWalk:
        """Walk the way by password, with the right one."""
        self._judge(Rule.ORGANIZATION, self._organization)
        self._judge(Rule.FAILURES, self._failures)
        reason = login.reason_before_comparison(self._subject.user, has_password=self._subject.has_password)
        for rule in _OF_PASSWORD.values():
            is_it = reason is not None and _OF_PASSWORD.get(reason, Rule.CREDENTIAL) is rule
            self._judge(rule, lambda rule=rule, is_it=is_it: _check(rule, reason if is_it else None))
        return self._conclude(SignInWay.PASSWORD, self._proof(Provider.PASSWORD, "pwd"))

    def by_link(self) -> SignInWalk:
        """Walk the way by a mailed link or code."""
        self._judge(Rule.ORGANIZATION, self._organization)
        self._judge(Rule.ACCOUNT, self._account)
        self._judge(Rule.ACTIVATED, self._activated)
        user = self._subject.user
        is_mailed = user is None or user.receives_links
        self._judge(
            Rule.CREDENTIAL, lambda: _check(Rule.CREDENTIAL, None if is_mailed else SignInReason.ADDRESS_DISOWNED)
        )
        self._judge(Rule.MAIL_LIMIT, self._mail_limit)
        proof = replace(self._proof(Provider.MAGIC_LINK, MAILED), proves_address=True)
        return self._conclude(SignInWay.LINK, proof)

    def by_passkey(self) -> SignInWalk:
        """Walk the way by a passkey; with several, by one that verifies its user."""
        self._judge(Rule.ORGANIZATION, self._organization)
        self._judge(Rule.ACCOUNT, self._account)
        passkeys = sorted(self._subject.passkeys, key=lambda passkey: not passkey.verifies_user)
        reason = None if passkeys else SignInReason.WRONG_PASSKEY
        self._judge(Rule.CREDENTIAL, lambda: _check(Rule.CREDENTIAL, reason))
        methods = [method for passkey in passkeys[:1] for method in passkey.methods]
        methods += [MFA for passkey in passkeys[:1] if passkey.verifies_user]
        return self._conclude(SignInWay.PASSKEY, self._proof(Provider.PASSKEY, *methods))

    def by_connection(self, connected: ByConnection) -> SignInWalk:
        """Walk the way by a connection of the organization, whose provider proves the address of the account."""
        connection, standing, user = connected.connection, connected.standing, self._subject.user
        is_open = by_connection.is_open(connected.organization, connection)
        closed = None if is_open else SignInReason.CONNECTION_CLOSED
        self._judge(Rule.CONNECTION_OPEN, lambda: _check(Rule.CONNECTION_OPEN, closed))
        if not connected.is_linked:
            unproved = None if connected.vouches else SignInReason.DOMAIN_NOT_PROVED
            self._judge(Rule.MAIL_DOMAIN, lambda: _check(Rule.MAIL_DOMAIN, unproved))
            # Without an account the sign-in makes one.
            takes_link = user is not None and not connected.links_at_once
            linking = upstream_sign_in.reason_to_link(user) if user is not None and takes_link else None
            self._judge(Rule.LINK, lambda: _asked(Rule.LINK, linking))
            if user is not None and linking is not None:
                standing = replace(standing, is_by_word_alone=False)
                # Its user signs in to the account once, which opens a closed one again.
                user = replace(user, closed_at=None)
        user = user if user is not None else fresh(self._uow)
        # The address of an account that was never proved is proved by the connection.
        proves_address = not connected.is_linked and not user.is_verified
        organization_id = connected.organization.id
        role = by_connection.role_to_join(self._uow, organization_id, connection)
        joins = role is not None and standing.role is None and upstream_sign_in.may_join(user, standing)
        if joins:
            has_room = by_connection.has_room(self._uow, connected.organization, joining=1)
            full = None if has_room else SignInReason.ORGANIZATION_FULL
            self._judge(Rule.SEAT, lambda: _check(Rule.SEAT, full))
        amr = (FEDERATED, MFA) if connection.trust_mfa else (FEDERATED,)
        confinement = Confinement(organization_id=organization_id, connection_id=connection.id)
        proof = replace(self._proof(Provider.UPSTREAM, *amr), confinement=confinement, proves_address=proves_address)
        walked = WalkedConnection(id=connection.id, name=connection.name)
        return self._conclude(
            SignInWay.CONNECTION,
            proof.confined_to_role(standing.confined_to_role),
            walked=walked,
            user=user,
            standing=replace(standing, role=role) if joins else standing,
            has_joined=joins,
        )

    def _conclude(
        self,
        way: SignInWay,
        proof: IdentityProof,
        *,
        walked: WalkedConnection | None = None,
        user: User | None = None,
        standing: ConnectionStanding | None = None,
        has_joined: bool = False,
    ) -> SignInWalk:
        place = replace(self._journey.place, is_member=True) if has_joined else self._journey.place
        required = self._subject.required
        candidate = Candidate(
            uow=self._uow,
            user=user or self._subject.user,
            proof=proof,
            destination=self._journey.destination,
            circumstances=Circumstances(
                place=lambda: place,
                target=lambda: place.target,
                required_connection=lambda: required.standing if required is not None else None,
                device_match=DeviceMatch,
                habits=lambda: _NO_HABITS,
                receivers=tuple,
            ),
            of_unusable=SignInRefused(),
        )
        self._judge_all(rules.OF_ACCOUNT, candidate)
        is_proved = candidate.user is not None and not candidate.user.is_verified
        if candidate.user is not None and is_proved:
            candidate = replace(candidate, user=addresses.reclaimed(candidate.user, at=self._uow.now))
        if not self._is_refused:
            # A first proof of the address makes every membership unconfirmed.
            waits = is_proved and place.is_member and candidate.account.waits_for_proof
            candidate.uses_unconfirmed_gift = waits or candidate.uses_unconfirmed_gift
        self._judge_all(rules.OF_GIFTS, candidate)
        if not self._is_refused and candidate.uses_unconfirmed_gift:
            candidate = replace(candidate, user=addresses.reclaimed(candidate.account, at=self._uow.now))
        candidate.standing = standing
        for rule in rules.OF_DESTINATION:
            if rule.name is Rule.CONFINEMENT and self._journey.admission is not None:
                self._judge(Rule.SAML_ADMISSION, partial(self._saml_admission, candidate))
            self._judge_all((rule,), candidate)
        self._judge_factors(candidate)
        return SignInWalk(way=way, connection=walked, checks=tuple(self._checks.values()))

    def _judge_factors(self, candidate: Candidate) -> None:
        user, proof = candidate.user, candidate.proof
        asks = user is not None and arrivals.asks_second_factor(user, proof, candidate.destination)
        asked = SignInReason.SECOND_FACTOR_ASKED if asks else None
        self._judge(Rule.SECOND_FACTOR, lambda: _asked(Rule.SECOND_FACTOR, asked))
        # With several second factors, by a passkey.
        takes_passkey = user is not None and user.has_passkey_factor and proof.provider is not Provider.PASSKEY
        after = proof.with_methods("hwk" if takes_passkey else OTP, MFA) if asks else proof
        self._judge(
            Rule.REQUIRED_SECOND_FACTOR,
            lambda: _refused(Rule.REQUIRED_SECOND_FACTOR, arrivals.refusal_of_single_factor(candidate.place, after)),
        )

    def _judge_all(self, of: Sequence[SignInRule], candidate: Candidate) -> None:
        for rule in of:
            self._judge(rule.name, lambda rule=rule: self._of_rule(rule, candidate))

    def _of_rule(self, rule: SignInRule, candidate: Candidate) -> RuleCheck:
        check = _refused(rule.name, rule.judge(candidate))
        if check.verdict is RuleVerdict.REFUSES and rule.name is Rule.SINGLE_SIGN_ON:
            return replace(check, required=self._subject.required)
        # Whether a request of the service was pushed depends on the attempt.
        is_open = rule.name is not Rule.SECURITY_PROFILE or check.verdict is RuleVerdict.PASSES
        return check if is_open else replace(check, verdict=RuleVerdict.DEPENDS)

    def _judge(self, rule: Rule, judge: Callable[[], RuleCheck]) -> None:
        """Judge by a rule that was not before, unless an earlier one has refused."""
        if rule in self._checks:
            return
        if rule in self._hidden:
            self._checks[rule] = RuleCheck(rule=rule, verdict=RuleVerdict.NOT_TOLD)
            return
        check = RuleCheck(rule=rule, verdict=RuleVerdict.NOT_REACHED) if self._is_refused else judge()
        self._checks[rule] = check
        self._is_refused = self._is_refused or check.verdict is RuleVerdict.REFUSES

    def _organization(self) -> RuleCheck:
        refusal = places.refusal_of_unknown(self._journey.place, self._journey.destination)
        return _refused(Rule.ORGANIZATION, refusal)

    def _account(self) -> RuleCheck:
        return _check(Rule.ACCOUNT, SignInReason.UNKNOWN_ACCOUNT if self._subject.user is None else None)

    def _activated(self) -> RuleCheck:
        user = self._subject.user
        return _check(Rule.ACTIVATED, reason_of_account(user) if user is not None else None)

    def _failures(self) -> RuleCheck:
        """Refuse while too many attempts count; where those of some networks do, it depends on that of the attempt."""
        failures, network = self._subject.failures, self._subject.network
        if failures is None:
            return RuleCheck(rule=Rule.FAILURES, verdict=RuleVerdict.PASSES)
        until = self._blocked_until(failures, network if network is not None else "")
        if until is not None:
            return replace(_check(Rule.FAILURES, SignInReason.TOO_MANY_FAILURES), until=until)
        networks = {failure.network for failure in failures} if network is None else set[str]()
        blocked = {one: self._blocked_until(failures, one) for one in sorted(networks)}
        ends = [until for until in blocked.values() if until is not None]
        if not ends:
            return RuleCheck(rule=Rule.FAILURES, verdict=RuleVerdict.PASSES)
        return RuleCheck(
            rule=Rule.FAILURES,
            verdict=RuleVerdict.DEPENDS,
            reason=SignInReason.TOO_MANY_FAILURES,
            until=max(ends),
            networks=tuple(one for one, until in blocked.items() if until is not None),
        )

    def _blocked_until(self, failures: Sequence[SignInFailure], network: str) -> datetime | None:
        return sign_in_failures.blocked_until([SignInFailure(network, self._uow.now), *failures], network)

    def _mail_limit(self) -> RuleCheck:
        """Say until when no further link is mailed; one that was mailed before goes on to sign in."""
        until = self._subject.mailed_again_at
        verdict = RuleVerdict.PASSES if until is None else RuleVerdict.DEPENDS
        return RuleCheck(rule=Rule.MAIL_LIMIT, verdict=verdict, until=until)

    def _saml_admission(self, candidate: Candidate) -> RuleCheck:
        """Judge individuals; the people of customers are members for the service (decisions 15.5)."""
        standing = self._journey.admission
        is_admitted = standing is not None and standing.is_admitted(members_only=self._journey.members_only)
        comes_for_customer = isinstance(candidate.choice, (ForCustomer, Undecided))
        return _check(Rule.SAML_ADMISSION, None if is_admitted or comes_for_customer else SignInReason.NOT_ADMITTED)

    def _proof(self, provider: Provider, *methods: str) -> IdentityProof:
        user = self._subject.user
        user_id = user.id if user is not None else self._uow.randomness.new_account_id()
        return IdentityProof(user_id=user_id, provider=provider, amr=methods)


def _check(rule: Rule, reason: SignInReason | None) -> RuleCheck:
    """Return the check of a rule that refuses for a reason, or passes without one."""
    return RuleCheck(rule=rule, verdict=RuleVerdict.PASSES if reason is None else RuleVerdict.REFUSES, reason=reason)


def _asked(rule: Rule, reason: SignInReason | None) -> RuleCheck:
    """Return the check of a rule that asks for something more for a reason, or passes without one."""
    return RuleCheck(rule=rule, verdict=RuleVerdict.PASSES if reason is None else RuleVerdict.ASKS, reason=reason)


def _refused(rule: Rule, refusal: Refusal | None) -> RuleCheck:
    """Return the check of a rule that answers with the refusal of signing in."""
    return _check(rule, reason_of(refusal.reason) if refusal is not None else None)


def fresh(uow: UnitOfWork) -> User:
    """Return the account that a sign-in by a connection makes, with an address that is proved by it."""
    return User(
        id=uow.randomness.new_account_id(),
        email="",
        email_verified_at=uow.now,
        is_platform_owner=False,
        created_at=uow.now,
        updated_at=uow.now,
    )
