"""Why a person cannot sign in: a question about an account at a place, answered as far as the one who asks may know.

It reads what the walks of `sign_in_walks.py` take, and has them walked. Who asks is in `why_for_organizations.py` and
`why_for_platform.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.users import User
from core.customers.relations import CustomerSide
from core.email_addresses import canonical_email, domain_of
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import group_roles
from core.organizations.group_roles import ExplainedRole
from core.organizations.organizations import Organization
from core.platform import explained_customers
from core.platform.explained_customers import CustomerOfUser, ExplainedCustomer
from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay
from core.platform.sign_in_questions import SignInQuestion
from core.platform.sign_in_walks import ByConnection, Journey, WalkedAccount, Walker, fresh
from core.platform.why import ConnectionProblems
from core.saml import providers
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.identities import IdentityContext
from core.sign_in.own_ways import NamedConnection
from core.sign_in.places import Place
from core.sign_in.proofs import Destination
from core.sign_in.rules import Rule
from core.sign_in.upstream import at_once, returning
from core.sign_in.upstream import sign_in as upstream_sign_in
from core.sign_in.upstream.connections import ConnectionRecord
from core.sign_in.upstream.failures import SHOWN_MAX

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

WAYS: Final = tuple(SignInWay)
# Of an organization with more, the connection of the address and the oldest ones; any other one can be named.
CONNECTIONS_WALKED_MAX: Final = 5
# What concerns an account alone, wherever it signs in.
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
    """Who asks; without an organization it is the platform, which is told everything.

    `is_told` says whether the organization is told what concerns the account alone, `side` what it is to a service
    with customers, and `customer` is the one about which it asks, if it may know that the user belongs to it.
    `is_of_address_alone` is the question about an address in a mail domain of the organization that belongs to no
    member or end user: no account is read, and no rule is judged by one.
    """

    organization_id: UUID | None = None
    is_told: bool = True
    side: CustomerSide | None = None
    customer: CustomerOfUser | None = None
    is_of_address_alone: bool = False


class AskedSignIn:
    """A question about an account at a place, as far as the one who asks may know the answer."""

    def __init__(
        self, uow: UnitOfWork, slug: str | None, user: User | None, question: SignInQuestion, view: SignInView
    ) -> None:
        self._uow = uow
        self._user = user
        self._question = question
        self._view = view
        self._address = user.email if user is not None else canonical_email(question.email, uow.domain_names.to_ascii)
        self._destination = Destination(
            organization_slug=slug, service_slug=question.service_slug, customer=question.customer
        )
        user_id = user.id if user is not None else uow.randomness.new_account_id()
        place = uow.sign_in_places.defer(user_id, slug, question.service_slug)()
        self._customer = view.customer or self._named_customer(place, user_id)
        # A customer exempts its owner at home alone.
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

    def walks(self, *, are_limits_on: bool) -> tuple[SignInWalk, ...]:
        """Return a walk for each way that is asked about."""
        subject, journey = self._subject(are_limits_on=are_limits_on), self._journey()
        # A connection makes the account; the other ways are those of one that the organization does not know.
        known = replace(subject, user=fresh(self._uow)) if self._view.is_of_address_alone else subject
        walks = list[SignInWalk]()
        for way in (self._question.way,) if self._question.way is not None else WAYS:
            match way:
                case SignInWay.PASSWORD:
                    walks.append(self._walker(known, journey).by_password())
                case SignInWay.LINK:
                    walks.append(self._walker(known, journey).by_link())
                case SignInWay.PASSKEY:
                    walks.append(self._walker(known, journey).by_passkey())
                case _:
                    found = [self._by_connection(subject, journey, one) for one in self._connections]
                    walks += [walk for walk in found if walk is not None]
        return tuple(self._told(walk) for walk in walks)

    def problems(self) -> tuple[ConnectionProblems, ...]:
        """Return why sign-ins by the connections that were walked failed lately."""
        found = [
            ConnectionProblems(
                connection_id=one.id,
                name=one.name,
                failures=self._uow.upstream_failures.of_connection(self._organization.id, one.id, limit=SHOWN_MAX),
            )
            for one in self._connections
        ]
        return tuple(problems for problems in found if problems.failures)

    def role(self) -> ExplainedRole | None:
        """Return where the role of the user comes from in the organization; None where there is none."""
        if self._place.organization is None or self._user is None:
            return None
        return group_roles.explain(self._uow, self._place.organization.id, self._user.id)

    def customer(self) -> ExplainedCustomer | None:
        """Return the customer that the question names; None where it names none."""
        return ExplainedCustomer.of(self._customer, self._view.side) if self._customer is not None else None

    def _named_customer(self, place: Place, user_id: UUID) -> CustomerOfUser | None:
        """Return the customer that the platform asks about; None without one."""
        name = self._question.customer
        if not name or place.service is None or self._view.side is not None:
            return None
        return self._uow.explained_customers.find(place.service, name, user_id)

    def _connecting_organization(self) -> Organization | None:
        """Return the organization by whose connections a user could come; the vendor walks none of its customer."""
        if self._customer is None:
            return self._place.organization
        is_vendor = self._view.side is CustomerSide.VENDOR
        return self._uow.organizations.by_slug(self._customer.slug) if not is_vendor else None

    @property
    def _organization(self) -> Organization:
        assert self._connecting is not None, "a connection was walked without its organization"
        return self._connecting

    def _walker(self, subject: WalkedAccount, journey: Journey) -> Walker:
        return Walker(self._uow, subject, journey, self._hidden)

    def _subject(self, *, are_limits_on: bool) -> WalkedAccount:
        uow, user, way = self._uow, self._user, self._question.way
        # What no walk asks for is not read.
        by_password, by_link, by_passkey = (
            way in {None, one} for one in (SignInWay.PASSWORD, SignInWay.LINK, SignInWay.PASSKEY)
        )
        is_mailed = are_limits_on and by_link and user is not None
        return WalkedAccount(
            user=user,
            has_password=user is not None and by_password and uow.credentials.has_password(user.id),
            passkeys=[one for one in uow.passkeys.of_user(user.id) if one.begins_sign_ins]
            if user is not None and by_passkey
            else (),
            failures=sign_in_failures.read(uow, self._address) if are_limits_on else None,
            mailed_again_at=mail.mailed_again_at(uow, self._address, MailTemplate.MAGIC_LINK) if is_mailed else None,
            network=self._question.network,
            required=self._required_here(),
        )

    def _required_here(self) -> NamedConnection | None:
        """Return the required connection; at another organization than its own the rule passes without it.

        An account that a connection makes has to come by the one of its mail domain.
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

    def _journey(self) -> Journey:
        uow, place = self._uow, self._place
        provider = None
        # Whom the vendor admits by SAML is not told to its customer.
        is_by_saml = self._question.by_saml is not False and self._view.side is not CustomerSide.CUSTOMER
        if is_by_saml and place.organization is not None and place.service is not None:
            provider = uow.saml_providers.by_id(place.organization.id, place.service.id)
        if provider is None or not providers.is_usable(provider) or self._user is None:
            return Journey(destination=self._destination, place=place)
        return Journey(
            destination=self._destination,
            place=place,
            members_only=provider.configuration.members_only,
            admission=uow.saml_providers.defer_standing(provider, self._user.id)(),
        )

    def _walked_connections(self) -> Sequence[ConnectionRecord]:
        """Return the connections that a walk goes by, first the one to which the address leads."""
        if self._connecting is None or self._question.way not in {None, SignInWay.CONNECTION}:
            return ()
        found = self._uow.upstream_connections.of_organization(self._connecting.id)
        wanted = self._question.connection_id
        if wanted is not None:
            return [one for one in found if one.id == wanted]
        routed = self._route.connection_id if self._route is not None else None
        return sorted(found, key=lambda one: (one.id != routed, not one.enabled))[:CONNECTIONS_WALKED_MAX]

    def _by_connection(
        self, subject: WalkedAccount, journey: Journey, connection: ConnectionRecord
    ) -> SignInWalk | None:
        """Return the walk by a connection; None when it or the account was deleted since it was read."""
        uow, user, organization = self._uow, self._user, self._organization
        vouches = upstream_sign_in.vouches_for(uow, organization.id, self._address)
        if user is None:
            standing, is_linked, links_at_once = _standing_of_new(organization, connection), False, False
        else:
            found = uow.identities.standing(user.id, organization.id, connection.id)
            if found is None:
                return None
            context = IdentityContext(organization_id=organization.id, connection_id=connection.id)
            # Who has come back is linked again, by the connection's word alone.
            is_back = returning.would_link_again(uow, organization.id, connection, user, found)
            standing, is_linked = found, is_back or bool(uow.identities.of_user(user.id, context))
            links_at_once = not is_linked and at_once.links(uow, organization.id, connection, user, found)
        return self._walker(subject, journey).by_connection(
            ByConnection(
                organization=organization,
                connection=connection,
                standing=standing,
                is_linked=is_linked,
                vouches=vouches,
                links_at_once=links_at_once,
            )
        )

    def _told(self, walk: SignInWalk) -> SignInWalk:
        """Return a walk as far as the one who asks may know it."""
        if self._view.organization_id is None:
            return walk
        return replace(walk, checks=tuple(map(self._told_check, walk.checks)))

    def _told_check(self, check: RuleCheck) -> RuleCheck:
        # Whether another organization requires its own sign-in is not told of an account that is not told either.
        # The domain of an address alone is the organization's own.
        is_hidden = not self._view.is_told and not self._view.is_of_address_alone
        if is_hidden and check.rule is Rule.SINGLE_SIGN_ON and check.verdict is RuleVerdict.PASSES:
            return replace(check, verdict=RuleVerdict.NOT_TOLD)
        is_own = check.required is not None and check.required.organization_id == self._view.organization_id
        # Where else attempts were made is not told, nor the connection of another organization.
        return replace(check, networks=(), required=check.required if is_own else None)


def named(uow: UnitOfWork, question: SignInQuestion) -> User | None:
    """Return the account that a question names; None without one."""
    if question.user_id is not None:
        return uow.users.by_id(question.user_id)
    return uow.users.by_email(canonical_email(question.email, uow.domain_names.to_ascii))


def _standing_of_new(organization: Organization, connection: ConnectionRecord) -> ConnectionStanding:
    """Return what a user is to a connection whose sign-in makes the account, for an address that it vouches for."""
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
