"""Why a person cannot sign in: every rule in its order, and the last attempts, for those who help.

An organization learns what lies in its context: of its members and end users, to itself and its services, by its own
connections. Any other address is answered as one without an account. What concerns an account alone (its password, its
state, its second factor) it learns of people who have confirmed that they belong to it; else it could add an address to
learn about its account, or whether there is one. The platform learns everything, but without being an owner
nothing of its owners. The rules are walked in `sign_in_walks.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import helped_accounts, sign_in_failures
from core.accounts.helped_accounts import NarrowedList, RecordPart
from core.accounts.users import User
from core.email_addresses import canonical_email, domain_of
from core.events.platform_actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import group_roles
from core.organizations.access import Operation, authorize, authorize_support
from core.organizations.group_roles import ExplainedRole
from core.organizations.organizations import Organization
from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay
from core.platform.sign_in_questions import SignInQuestion
from core.platform.sign_in_walks import ByConnection, Journey, WalkedAccount, Walker
from core.saml import providers
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.identities import IdentityContext
from core.sign_in.own_ways import NamedConnection
from core.sign_in.proofs import Destination
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Rule
from core.sign_in.sign_ins import Affiliation, Scope, SignIn
from core.sign_in.upstream import sign_in as upstream_sign_in
from core.sign_in.upstream.connections import ConnectionRecord
from core.sign_in.upstream.failures import SHOWN_MAX, UpstreamFailure

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

ATTEMPTS_MAX: Final = 10
_WAYS: Final = tuple(SignInWay)
_UNKNOWN: Final = RuleCheck(rule=Rule.ACCOUNT, verdict=RuleVerdict.REFUSES, reason=SignInReason.UNKNOWN_ACCOUNT)
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
class ExplainedAccount:
    """The account that the question is about; `is_told` says whether what concerns it alone is told."""

    id: UUID
    email: str
    is_told: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionProblems:
    """Why sign-ins by a connection failed lately, of which it is not known whose they were."""

    connection_id: UUID
    name: str
    failures: Sequence[UpstreamFailure]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInExplanation:
    """The answer: the account, None where the context knows none, a walk for each way, and what was tried lately.

    `attempts` are the newest first. `role` is that of a member of the organization that is asked about.
    """

    account: ExplainedAccount | None
    walks: tuple[SignInWalk, ...]
    attempts: Sequence[SignIn]
    problems: tuple[ConnectionProblems, ...]
    role: ExplainedRole | None = None


def explain_to_organization(
    uow: UnitOfWork, slug: str, question: SignInQuestion, *, are_limits_on: bool = True
) -> SignInExplanation:
    """Explain a sign-in to an organization or one of its services, as far as its context goes."""
    organization = authorize(uow, slug, Operation.SIGN_INS_EXPLAIN).organization
    return to_organization(uow, organization, question, are_limits_on=are_limits_on)


def explain_to_platform(
    uow: UnitOfWork, slug: str | None, question: SignInQuestion, *, are_limits_on: bool = True
) -> SignInExplanation:
    """Explain any sign-in: to the platform, or to an organization or one of its services.

    That support has asked about an account is recorded in the platform's audit log. Raise `BadRequest` for a question
    that names no account, or something else than a network.
    """
    authorize_support(uow)
    question = question.checked()
    caller = helped_accounts.open_list(uow, NarrowedList.SIGN_IN_RULES, question)
    found = named(uow, question)
    is_hidden = found is not None and not helped_accounts.sees(caller, found)
    user = None if is_hidden else found
    if user is not None and not caller.acts_as_platform_owner:
        uow.audit_platform(PlatformAction.USER_OPENED, user.id, part=RecordPart.SIGN_IN_RULES.value)
    return to_platform(uow, slug, user, question, are_limits_on=are_limits_on and not is_hidden)


def explain_to_platform_if_asked(
    uow: UnitOfWork, slug: str | None, question: SignInQuestion, *, are_limits_on: bool
) -> SignInExplanation | None:
    """Explain as `explain_to_platform` does; None for a question that names no account yet."""
    return explain_to_platform(uow, slug, question, are_limits_on=are_limits_on) if question.names_user else None


def to_organization(
    uow: UnitOfWork, organization: Organization, question: SignInQuestion, *, are_limits_on: bool
) -> SignInExplanation:
    """Explain as `explain_to_organization` does, to a caller who is authorized."""
    user, affiliation = _affiliated(uow, organization.id, question)
    if user is None or affiliation is None:
        return SignInExplanation(account=None, walks=_unknown_here(question), attempts=(), problems=())
    asked = _Asked(uow, organization.slug, _seen(user, affiliation), question, affiliation=affiliation)
    scope = Scope(organization_id=organization.id, since=affiliation.since) if affiliation.since is not None else None
    return SignInExplanation(
        account=ExplainedAccount(id=user.id, email=user.email, is_told=affiliation.since is not None),
        walks=asked.walks(are_limits_on=are_limits_on),
        attempts=uow.sign_ins.page(user.id, scope, limit=ATTEMPTS_MAX, offset=0) if scope is not None else (),
        problems=asked.problems(),
        role=group_roles.explain(uow, organization.id, user.id),
    )


def to_platform(
    uow: UnitOfWork, slug: str | None, user: User | None, question: SignInQuestion, *, are_limits_on: bool
) -> SignInExplanation:
    """Explain as `explain_to_platform` does, to a caller who is authorized, with the account of the question."""
    asked = _Asked(uow, slug, user, question)
    return SignInExplanation(
        account=ExplainedAccount(id=user.id, email=user.email, is_told=True) if user is not None else None,
        walks=asked.walks(are_limits_on=are_limits_on),
        attempts=uow.sign_ins.page(user.id, None, limit=ATTEMPTS_MAX, offset=0) if user is not None else (),
        problems=asked.problems(),
        role=asked.role(),
    )


def named(uow: UnitOfWork, question: SignInQuestion) -> User | None:
    """Return the account that a question names; None without one."""
    if question.user_id is not None:
        return uow.users.by_id(question.user_id)
    return uow.users.by_email(canonical_email(question.email, uow.domain_names.to_ascii))


def _affiliated(
    uow: UnitOfWork, organization_id: UUID, question: SignInQuestion
) -> tuple[User | None, Affiliation | None]:
    """Return the member or end user that a question names, and since when the organization sees their sign-ins."""
    user_id = question.user_id
    if user_id is None:
        address = canonical_email(question.email, uow.domain_names.to_ascii)
        user_id = uow.sign_ins.affiliated(organization_id, address)
    affiliation = uow.sign_ins.affiliation(organization_id, user_id) if user_id is not None else None
    user = uow.users.by_id(user_id) if user_id is not None and affiliation is not None else None
    return user, affiliation


def _seen(user: User, affiliation: Affiliation) -> User:
    """Return the account as an organization sees it: the state of one that has confirmed nothing stands for none."""
    if affiliation.since is not None:
        return user
    return replace(
        user,
        email_verified_at=user.created_at,
        deactivated_at=None,
        closed_at=None,
        mfa_enabled_at=None,
        has_passkey_factor=False,
        disowned_at=None,
        changed_by_service_at=None,
    )


def _unknown_here(question: SignInQuestion) -> tuple[SignInWalk, ...]:
    """Return the walks of an address that an organization does not know, which say no more than that."""
    ways = (question.way,) if question.way is not None else _WAYS
    return tuple(SignInWalk(way=way, connection=None, checks=(_UNKNOWN,)) for way in ways)


class _Asked:
    """A question about an account at a place; `affiliation` is what it is to the organization that asks, if any."""

    def __init__(
        self,
        uow: UnitOfWork,
        slug: str | None,
        user: User | None,
        question: SignInQuestion,
        *,
        affiliation: Affiliation | None = None,
    ) -> None:
        self._uow = uow
        self._user = user
        self._question = question
        self._is_of_organization = affiliation is not None
        self._hidden = _OF_ACCOUNT_ALONE if affiliation is not None and affiliation.since is None else frozenset[Rule]()
        self._address = user.email if user is not None else canonical_email(question.email, uow.domain_names.to_ascii)
        self._destination = Destination(organization_slug=slug, service_slug=question.service_slug)
        user_id = user.id if user is not None else uow.randomness.new_account_id()
        required = uow.own_ways.defer_required(user_id)
        self._place = uow.sign_in_places.defer(user_id, slug, question.service_slug)()
        self._required = required()
        is_by_connection = question.way in {None, SignInWay.CONNECTION}
        self._route = uow.domain_routes.open_route(domain_of(self._address)) if is_by_connection else None
        self._connections = self._walked_connections()

    def walks(self, *, are_limits_on: bool) -> tuple[SignInWalk, ...]:
        """Return a walk for each way that is asked about."""
        subject, journey = self._subject(are_limits_on=are_limits_on), self._journey()
        walks = list[SignInWalk]()
        for way in (self._question.way,) if self._question.way is not None else _WAYS:
            match way:
                case SignInWay.PASSWORD:
                    walks.append(self._walker(subject, journey).by_password())
                case SignInWay.LINK:
                    walks.append(self._walker(subject, journey).by_link())
                case SignInWay.PASSKEY:
                    walks.append(self._walker(subject, journey).by_passkey())
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
        return group_roles.explain(self._uow, self._organization.id, self._user.id)

    @property
    def _organization(self) -> Organization:
        assert self._place.organization is not None, "a connection was walked without its organization"
        return self._place.organization

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
        organization, route = self._place.organization, self._route
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
        if self._question.by_saml is not False and place.organization is not None and place.service is not None:
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
        if self._place.organization is None or self._question.way not in {None, SignInWay.CONNECTION}:
            return ()
        found = self._uow.upstream_connections.of_organization(self._place.organization.id)
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
            standing, is_linked = _standing_of_new(organization, connection), False
        else:
            found = uow.identities.standing(user.id, organization.id, connection.id)
            if found is None:
                return None
            context = IdentityContext(organization_id=organization.id, connection_id=connection.id)
            standing, is_linked = found, bool(uow.identities.of_user(user.id, context))
        return self._walker(subject, journey).by_connection(
            ByConnection(
                organization=organization,
                connection=connection,
                standing=standing,
                is_linked=is_linked,
                vouches=vouches,
            )
        )

    def _told(self, walk: SignInWalk) -> SignInWalk:
        """Return a walk as far as the one who asks may know it."""
        return replace(walk, checks=tuple(map(self._told_check, walk.checks))) if self._is_of_organization else walk

    def _told_check(self, check: RuleCheck) -> RuleCheck:
        # Whether another organization requires its own sign-in is not told of an account that is not told either.
        if self._hidden and check.rule is Rule.SINGLE_SIGN_ON and check.verdict is RuleVerdict.PASSES:
            return replace(check, verdict=RuleVerdict.NOT_TOLD)
        is_own = check.required is not None and check.required.organization_id == self._organization.id
        # Where else attempts were made is not told, nor the connection of another organization.
        return replace(check, networks=(), required=check.required if is_own else None)


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
