"""Why a person cannot sign in: a question about an account at a place, answered as far as the asking side may know.

It reads the facts of a user who is not signing in, lets the rules of a sign-in judge them, and leaves out what the
asking side may not know. The sides are in `why_answers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.sign_in_methods import Provider
from core.accounts.users import User
from core.customers.relation_log import CustomerSide
from core.email_addresses import canonical_email, domain_of
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import explained_roles, members
from core.organizations.explained_roles import ExplainedRole
from core.organizations.organizations import Organization
from core.platform import explained_customers
from core.platform.explained_customers import CustomerOfUser, ExplainedCustomer
from core.platform.sign_in_checks import (
    RuleCheck,
    RuleVerdict,
    SignInWalk,
    SignInWay,
    WalkedConnection,
    checks_of,
    judge_to_end,
)
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import ConnectionProblems, problems_of
from core.saml import identity_providers
from core.sessions.caller_limits import Confinement
from core.sessions.sessions import MAILED, MFA
from core.sign_in import fact_reading, judgement
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.facts import Circumstances, SignInFacts, Stage
from core.sign_in.identities import IdentityContext
from core.sign_in.judgement import Failures, Judgement, LinkFacts, PasskeyFacts, PasswordFacts, judge
from core.sign_in.own_account import NamedConnection
from core.sign_in.places import Place
from core.sign_in.proofs import FEDERATED, Destination, IdentityProof
from core.sign_in.rules import RULES, Facts, Rule, SignInRule
from core.sign_in.upstream import by_connection
from core.sign_in.upstream import sign_in as upstream_sign_in
from core.sign_in.upstream.connection_rules import ConnectionFacts
from core.sign_in.upstream.connections import at_once
from core.sign_in.upstream.connections.connections import ConnectionRecord

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

WAYS: Final = tuple(SignInWay)
# Of an organization with more, the connection of the address and the oldest ones; a question can name any other.
CONNECTIONS_WALKED_MAX: Final = 5
# Rules that concern an account alone, wherever it signs in.
_OF_ACCOUNT_ALONE: Final = frozenset(
    {
        Rule.FAILURES,
        Rule.CREDENTIAL,
        Rule.MAIL_LIMIT,
        Rule.LINK,
        Rule.ACTIVATED,
        Rule.REOPENING,
        Rule.ADDRESS_VERIFIED,
        Rule.ADDRESS_OWNED,
        Rule.ADDRESS_CONFIRMED,
        Rule.SECOND_FACTOR,
        Rule.REQUIRED_SECOND_FACTOR,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInView:
    """The asking side; without an organization it is the platform, which may know everything.

    `is_told` says whether the organization may know what concerns the account alone, `side` whether it is the vendor or
    the customer of a service, and `customer` is the customer in question, if it may know that the user belongs to it.
    `is_of_address_alone` marks a question about an address in a mail domain of the organization that belongs to no
    member or end user: no account is read, and no rule is judged by one.
    """

    organization_id: UUID | None = None
    is_told: bool = True
    side: CustomerSide | None = None
    customer: CustomerOfUser | None = None
    is_of_address_alone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ByConnection:
    """The connection of a walk, its user, who may be new, and whether it makes them a member."""

    connection: WalkedConnection
    user: User
    has_joined: bool


class AskedSignIn:
    """A question about an account at a place, with the answer as far as the asking side may know it."""

    def __init__(
        self, uow: UnitOfWork, slug: str | None, user: User | None, question: SignInQuestion, view: SignInView
    ) -> None:
        self._uow = uow
        self._user = user
        self._question = question
        self._view = view
        self._address = user.email if user is not None else canonical_email(question.email, uow.domain_names.to_ascii)
        self._destination = Destination(
            organization_slug=slug, service_slug=question.service_slug, customer=question.customer, is_pushed=None
        )
        user_id = user.id if user is not None else uow.randomness.new_account_id()
        place = uow.sign_in_places.defer(user_id, slug, question.service_slug)()
        self._customer = view.customer or self._named_customer(place, user_id)
        # A customer exempts its owner only in its own context, not at products.
        self._required = uow.own_ways.defer_required(user_id, of_owners=self._customer is not None)()
        side = view.side
        has_customers = place.customers is not None
        self._place = place if side is None else explained_customers.place_for(side, place, view.customer)
        self._hidden = (frozenset[Rule]() if view.is_told else _OF_ACCOUNT_ALONE) | (
            explained_customers.hidden_from(side, view.customer)
            if side is not None and has_customers
            else frozenset[Rule]()
        )
        if view.is_of_address_alone:
            self._hidden |= {Rule.ACCOUNT}
        self._connecting = self._connecting_organization()
        asks_route = question.way in {None, SignInWay.CONNECTION} or view.is_of_address_alone
        self._route = uow.domain_routes.open_route(domain_of(self._address)) if asks_route else None
        self._connections = self._walked_connections()
        self._required_connection = self._required_here()
        self._is_admitted_by_saml = self._saml_admission()

    def walks(self, *, are_limits_on: bool) -> tuple[SignInWalk, ...]:
        """Return a walk for each way in question."""
        walks = list[SignInWalk]()
        for way in (self._question.way,) if self._question.way is not None else WAYS:
            match way:
                case SignInWay.PASSWORD:
                    walks.append(self._by_password(are_limits_on=are_limits_on))
                case SignInWay.LINK:
                    walks.append(self._by_link(are_limits_on=are_limits_on))
                case SignInWay.PASSKEY:
                    walks.append(self._by_passkey())
                case _:
                    found = [self._by_connection(one) for one in self._connections]
                    walks += [walk for walk in found if walk is not None]
        return tuple(self._told(walk) for walk in walks)

    def problems(self) -> tuple[ConnectionProblems, ...]:
        """Return why sign-ins by the connections of the walks failed lately."""
        connections = [(one.id, one.name) for one in self._connections]
        return problems_of(self._uow, self._organization.id, connections) if connections else ()

    def role(self) -> ExplainedRole | None:
        """Return where the role of the user comes from in the organization; None where there is none."""
        if self._place.organization is None or self._user is None:
            return None
        return explained_roles.explain(self._uow, self._place.organization.id, self._user.id)

    def customer(self) -> ExplainedCustomer | None:
        """Return the customer that the question names; None where it names none."""
        return ExplainedCustomer.of(self._customer, self._view.side) if self._customer is not None else None

    def _named_customer(self, place: Place, user_id: UUID) -> CustomerOfUser | None:
        """Return the customer in a question of the platform; None without one."""
        name = self._question.customer
        if not name or place.service is None or self._view.side is not None:
            return None
        return self._uow.explained_customers.find(place.service, name, user_id)

    def _connecting_organization(self) -> Organization | None:
        """Return the organization whose connections a user could use; the vendor sees none of its customer's."""
        if self._customer is None:
            return self._place.organization
        is_vendor = self._view.side is CustomerSide.VENDOR
        return self._uow.organizations.by_slug(self._customer.slug) if not is_vendor else None

    @property
    def _organization(self) -> Organization:
        assert self._connecting is not None, "a connection was walked without its organization"
        return self._connecting

    @property
    def _known(self) -> User | None:
        """The account for every way but a connection, which makes one itself; a new account for an address alone."""
        return fresh(self._uow) if self._view.is_of_address_alone else self._user

    @property
    def _is_place_known(self) -> bool:
        return self._destination.organization_slug is None or self._place.organization is not None

    def _by_password(self, *, are_limits_on: bool) -> SignInWalk:
        """Walk the way by password, with the right password."""
        uow, user = self._uow, self._user
        failures = None
        if are_limits_on:
            failures = Failures.of_next(sign_in_failures.read(uow, self._address), self._question.network, uow.now)
        facts = PasswordFacts(
            is_place_known=self._is_place_known,
            user=self._known,
            has_password=user is not None and uow.credentials.has_password(user.id),
            failures=failures,
        )
        walk = self._walk(SignInWay.PASSWORD, judgement.OF_PASSWORD, facts, self._proof(Provider.PASSWORD, "pwd"))
        until = failures.blocked_until if failures is not None else None
        return replace(walk, checks=tuple(_until(check, until) for check in walk.checks))

    def _by_link(self, *, are_limits_on: bool) -> SignInWalk:
        """Walk the way by a mailed link or code."""
        is_mailed = are_limits_on and self._user is not None
        facts = LinkFacts(
            is_place_known=self._is_place_known,
            user=self._known,
            mailed_again_at=mail.mailed_again_at(self._uow, self._address, MailTemplate.MAGIC_LINK)
            if is_mailed
            else None,
        )
        proof = replace(self._proof(Provider.MAGIC_LINK, MAILED), proves_address=True)
        return self._walk(SignInWay.LINK, judgement.OF_LINK, facts, proof)

    def _by_passkey(self) -> SignInWalk:
        """Walk the way by a passkey; with several, by one that verifies its user."""
        own = self._uow.passkeys.of_user(self._user.id) if self._user is not None else ()
        passkeys = sorted((one for one in own if one.begins_sign_ins), key=lambda passkey: not passkey.verifies_user)
        facts = PasskeyFacts(is_place_known=self._is_place_known, user=self._known, is_accepted=bool(passkeys))
        methods = [method for passkey in passkeys[:1] for method in passkey.methods]
        methods += [MFA for passkey in passkeys[:1] if passkey.verifies_user]
        return self._walk(SignInWay.PASSKEY, judgement.OF_PASSKEY, facts, self._proof(Provider.PASSKEY, *methods))

    def _proof(self, provider: Provider, *methods: str) -> IdentityProof:
        user_id = self._user.id if self._user is not None else self._uow.randomness.new_account_id()
        return IdentityProof(user_id=user_id, provider=provider, amr=methods)

    def _walk(
        self,
        way: SignInWay,
        rules: Sequence[SignInRule[Facts]],
        asked: Facts,
        proof: IdentityProof,
        *,
        standing: ConnectionStanding | None = None,
        by: ByConnection | None = None,
    ) -> SignInWalk:
        """Walk by the rules of a way, and the rules for every proof."""
        first = judge_to_end(judge(rules, asked, hidden=self._hidden))
        facts = self._facts(proof, standing, by)
        if first.refusal is None:
            judged = judge_to_end(judge(RULES, facts, hidden=self._hidden))
            if judged.stage is Stage.UNCONFIRMED_ACCESS:
                read = fact_reading.with_unconfirmed_access(self._uow, judged.facts)
                judged = judge_to_end(judge(RULES, read, judged, hidden=self._hidden))
        else:
            judged = Judgement[SignInFacts].unjudged(RULES, facts, hidden=self._hidden)
        unasked = set[Rule]() if facts.is_admitted_by_saml is not None else {Rule.SAML_ADMISSION}
        if facts.here.place.is_open:
            unasked.add(Rule.ACCESS)
        checks = checks_of(first.trace, judged.trace)
        return SignInWalk(
            way=way,
            connection=by.connection if by is not None else None,
            checks=tuple(self._with_required(check) for check in checks if check.rule not in unasked),
        )

    def _facts(self, proof: IdentityProof, standing: ConnectionStanding | None, by: ByConnection | None) -> SignInFacts:
        place = (
            self._place if by is None or not by.has_joined else replace(self._place, is_member=True, is_confirmed=True)
        )
        required = self._required_connection
        circumstances = Circumstances.of(
            proof, self._destination, place, place.target, required.standing if required is not None else None, standing
        )
        return SignInFacts(
            user=by.user if by is not None else self._known,
            proof=proof,
            destination=self._destination,
            now=self._uow.now,
            is_admitted_by_saml=self._is_admitted_by_saml,
            circumstances=circumstances,
        )

    def _with_required(self, check: RuleCheck) -> RuleCheck:
        is_required = check.rule is Rule.SINGLE_SIGN_ON and check.verdict is RuleVerdict.REFUSES
        return replace(check, required=self._required_connection) if is_required else check

    def _required_here(self) -> NamedConnection | None:
        """Return the required connection; at another organization than its own the rule passes without it.

        An account that a connection makes has to use the connection of its mail domain.
        """
        organization, route = self._connecting, self._route
        is_own = route is not None and organization is not None and route.organization_slug == organization.slug
        if organization is not None and self._user is None and route is not None and is_own and route.enforced:
            return NamedConnection(
                id=route.connection_id,
                organization_id=organization.id,
                name=route.connection_name,
                organization_name=organization.name,
            )
        return self._required

    def _saml_admission(self) -> bool | None:
        """Return whether the service admits the user by SAML; None for a sign-in without SAML.

        A customer may not know which users the vendor admits by SAML.
        """
        uow, place = self._uow, self._place
        is_by_saml = self._question.by_saml is not False and self._view.side is not CustomerSide.CUSTOMER
        if not is_by_saml or place.organization is None or place.service is None or self._user is None:
            return None
        provider = uow.saml_providers.by_id(place.organization.id, place.service.id)
        if provider is None or not identity_providers.is_usable(provider):
            return None
        standing = uow.saml_providers.defer_standing(provider, self._user.id)()
        return standing is not None and standing.is_admitted(members_only=provider.configuration.members_only)

    def _walked_connections(self) -> Sequence[ConnectionRecord]:
        """Return the connections of the walks, first the one to which the address leads."""
        if self._connecting is None or self._question.way not in {None, SignInWay.CONNECTION}:
            return ()
        found = self._uow.upstream_connections.of_organization(self._connecting.id)
        wanted = self._question.connection_id
        if wanted is not None:
            return [one for one in found if one.id == wanted]
        routed = self._route.connection_id if self._route is not None else None
        return sorted(found, key=lambda one: (one.id != routed, not one.enabled))[:CONNECTIONS_WALKED_MAX]

    def _by_connection(self, connection: ConnectionRecord) -> SignInWalk | None:
        """Walk the way by a connection, whose provider proves the address of the account.

        None when the connection or the account was deleted since it was read.
        """
        uow, user, organization = self._uow, self._user, self._organization
        vouches = upstream_sign_in.vouches_for(uow, organization.id, self._address)
        if user is None:
            standing, is_linked, links_at_once = _standing_of_new(organization, connection), False, False
        else:
            found = uow.identities.standing(user.id, organization.id, connection.id)
            if found is None:
                return None
            context = IdentityContext(organization_id=organization.id, connection_id=connection.id)
            # A returning user is linked again, by the connection's word alone.
            is_back = by_connection.would_link_again(uow, organization.id, connection, user, found)
            standing, is_linked = found, is_back or bool(uow.identities.of_user(user.id, context))
            links_at_once = not is_linked and at_once.links(uow, organization.id, connection, user, found)
        asked = ConnectionFacts(
            is_open=by_connection.is_open(organization, connection),
            is_linked=is_linked,
            vouches=vouches,
            user=user,
            links_at_once=links_at_once,
            joins=False,
            has_room=True,
        )
        if user is not None and asked.asks_to_link:
            # The user signs in to the account once, which opens a closed one again.
            user, standing = replace(user, closed_at=None), replace(standing, is_by_word_alone=False)
        user, opens = user or fresh(uow), standing.confined_to_role
        role = by_connection.role_to_join(uow, organization.id, connection)
        if role is not None and standing.role is None and upstream_sign_in.may_join(user, standing):
            standing = replace(standing, role=role)
            asked = replace(asked, joins=True, has_room=members.defer_room(uow, organization, joining=1)())
        amr = (FEDERATED, MFA) if connection.trust_mfa else (FEDERATED,)
        proof = IdentityProof(
            user_id=user.id,
            provider=Provider.UPSTREAM,
            amr=amr,
            confinement=Confinement(organization_id=organization.id, connection_id=connection.id),
            # The connection proves an address that was never proved.
            proves_address=not is_linked and not user.is_verified,
        ).confined_to_role(opens)
        by = ByConnection(
            connection=WalkedConnection(id=connection.id, name=connection.name), user=user, has_joined=asked.joins
        )
        return self._walk(SignInWay.CONNECTION, asked.rules, asked, proof, standing=standing, by=by)

    def _told(self, walk: SignInWalk) -> SignInWalk:
        """Return a walk as far as the asking side may know it."""
        if self._view.organization_id is None:
            return walk
        return replace(walk, checks=tuple(map(self._told_check, walk.checks)))

    def _told_check(self, check: RuleCheck) -> RuleCheck:
        # That another organization requires its own sign-in is hidden together with the account. The domain of an
        # address alone is the organization's own.
        is_hidden = not self._view.is_told and not self._view.is_of_address_alone
        if is_hidden and check.rule is Rule.SINGLE_SIGN_ON and check.verdict is RuleVerdict.PASSES:
            return replace(check, verdict=RuleVerdict.NOT_TOLD)
        is_own = check.required is not None and check.required.organization_id == self._view.organization_id
        # Hidden: where else attempts were made, and the connection of another organization.
        return replace(check, networks=(), required=check.required if is_own else None)


def fresh(uow: UnitOfWork) -> User:
    """Return the account that a sign-in by a connection makes, with an address that the connection proves."""
    return User(
        id=uow.randomness.new_account_id(),
        email="",
        email_verified_at=uow.now,
        is_platform_owner=False,
        created_at=uow.now,
        updated_at=uow.now,
    )


def _until(check: RuleCheck, until: datetime | None) -> RuleCheck:
    is_refused = check.rule is Rule.FAILURES and check.verdict is RuleVerdict.REFUSES
    return replace(check, until=until) if is_refused else check


def named(uow: UnitOfWork, question: SignInQuestion) -> User | None:
    """Return the account that a question names; None without one."""
    if question.user_id is not None:
        return uow.users.by_id(question.user_id)
    return uow.users.by_email(canonical_email(question.email, uow.domain_names.to_ascii))


def _standing_of_new(organization: Organization, connection: ConnectionRecord) -> ConnectionStanding:
    """Return the standing at a connection of a user whose account it makes, for an address that it vouches for."""
    return ConnectionStanding(
        is_enabled=connection.enabled,
        joins_as=connection.joins_as,
        is_by_word_alone=True,
        role=None,
        is_suspended=False,
        is_end_user=False,
        is_in_mail_domain=True,
        organization_requires_mfa=organization.mfa_required,
        has_group_rules=False,
    )
