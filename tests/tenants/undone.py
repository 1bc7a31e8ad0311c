"""Rules that keep organizations and people apart, each undone by one patch, to show that the histories find the hole.

A line names the function that is patched, and what it is patched with. Most functions do nothing then; a rule that has
moved fails here, because there is nothing left to patch.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias
from uuid import UUID

import pytest

from adapters.postgres.services.services import PostgresServices
from adapters.postgres.sessions.customer_contexts import (
    IS_ADMITTED,
    IS_ASSIGNED,
    IS_ASSIGNED_HERE,
    IS_OF_CUSTOMER,
    OWN_ROLES,
)
from adapters.postgres.sessions.token_additions import OF_CUSTOMER, USER_METADATA
from core.accounts.users import User
from core.organizations.authority import Authority
from core.organizations.group_roles import AlikeMembers
from core.organizations.organizations import OWNER
from core.platform.sign_in_checks import RuleCheck, RuleVerdict
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why_answers import PersonInQuestion
from core.platform.why_asked import named
from core.sessions.caller_limits import Confinement
from core.sign_in.customer_choices import Choice, ForCustomer, Undecided
from core.sign_in.facts import SignInFacts
from ports.unit_of_work import UnitOfWork
from tests.tenants.taking import Story

# A place where a rule is undone: a module, the names there, and what each is replaced by.
Layer: TypeAlias = tuple[str, str, Callable[[Any], Any]]


@dataclass(frozen=True)
class UndoneRule:
    """A rule that is undone, and how; several names are statements that all have it.

    `beside` is what else guards it, and is undone with it: each is a module, names and a change as well.
    """

    rule: str
    module: str
    name: str
    instead: Callable[[Any], Any]
    beside: Sequence[Layer] = field(default=(), kw_only=True)

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Undo the rule until the test ends."""
        for module, names, instead in ((self.module, self.name, self.instead), *self.beside):
            place = pkgutil.resolve_name(module)
            for name in names.split():
                monkeypatch.setattr(place, name, instead(getattr(place, name)))


@dataclass(frozen=True)
class Undone(UndoneRule):
    """A rule that is undone, the story whose histories find that, and the kinds of violation."""

    story: Story
    kinds: tuple[str, ...]


def _nothing(_original: Any) -> Any:
    return lambda *_args, **_options: None


def _none(_original: Any) -> Any:
    return lambda *_args, **_options: ()


def _none_of(_original: Any) -> Any:
    return ()


def _each_nothing(original: Any) -> Any:
    """Return a table whose functions do nothing."""
    return dict.fromkeys(original, lambda *_args: None)


def _no(_original: Any) -> Any:
    return lambda *_args, **_options: False


def _anywhere(original: Any) -> Any:
    """Return a function that takes every address for one of the organization's mail domain."""
    return lambda uow, organization_id, belonging: original(
        uow, organization_id, replace(belonging, is_in_own_domain=True)
    )


def _newest_password(_original: Any) -> Any:
    """Return a function that proves an address, and leaves the password that is there."""

    def prove(uow: UnitOfWork, user: User, _registration: Any) -> User:
        uow.users.set_verified(user.id, at=uow.now)
        return replace(user, email_verified_at=uow.now)

    return prove


def _unlimited(_original: Any) -> Any:
    """Return a function that leaves a proof without limits."""
    return lambda proof, _target: proof


def _passed(_original: Any) -> Any:
    """Return a function that takes every refusal for none."""
    return lambda check: RuleCheck(rule=check.rule, verdict=RuleVerdict.PASSES)


def _unrefused(original: Any) -> Any:
    """Return a function that judges as if no rule refused."""

    def judge(*of: Any) -> Any:
        judged = original(*of)
        while judged.refusal is not None:
            judged = original(judged.rules, judged.facts, judged)
        return judged

    return judge


def _any_account(_original: Any) -> Any:
    """Return a function that finds every account, and takes it for that of a member."""

    def find(uow: UnitOfWork, _organization_id: Any, question: SignInQuestion) -> PersonInQuestion | None:
        user = named(uow, question)
        return PersonInQuestion(user=user, since=uow.now) if user is not None else None

    return find


def _together(_original: Any) -> Any:
    """Return a function that gives the whole account another address, and ends what others gave."""

    def split(
        uow: UnitOfWork, organization_id: UUID, user_id: UUID, _email: str, address: str, *, keeps_person: bool
    ) -> UUID | None:
        if not uow.users.set_email(user_id, address, verified_at=uow.now if keeps_person else None, at=uow.now):
            return None
        for other_id in uow.members.unconfirmed_organizations_of(user_id):
            if other_id != organization_id:
                uow.members.remove(other_id, user_id)
        return user_id

    return split


def _yes(_original: Any) -> Any:
    return lambda *_args, **_options: True


def _of_owner(_original: Any) -> Any:
    """Return a function that takes the holder of a setup link for the owner."""
    return lambda *_arguments: Authority(role=OWNER, permissions=None)


def _kept(original: Any) -> Any:
    """Return a function that leaves a role which a rule gave when none fits any longer."""

    def settled(*arguments: Any) -> Sequence[AlikeMembers]:
        return [one for one in original(*arguments) if one.given.role_source is not None]

    return settled


def _without(*conditions: str) -> Callable[[Any], Any]:
    """Return what takes conditions out of a statement."""

    def change(statement: str) -> str:
        for condition in conditions:
            assert condition in statement, "the condition is not in the statement any more"
            statement = statement.replace(condition, "AND true" if condition.startswith("AND ") else "true")
        return statement

    return change


def _instead(present: str, other: str) -> Callable[[Any], Any]:
    """Return what puts another part into a statement in place of one."""

    def change(statement: str) -> str:
        assert present in statement, "the part is not in the statement any more"
        return statement.replace(present, other)

    return change


def _any_of(query: str, *changes: tuple[str, str]) -> str:
    """Return a query that finds any one of other rows."""
    for present, other in changes:
        query = query.replace(present, other)
    return f"{query.rstrip().removesuffix(')')} LIMIT 1)"


def _always(_original: Any) -> Any:
    return property(lambda _self: True)


def _of_all(_original: Any) -> Any:
    """Return a method that finds the services of all organizations by their slugs."""

    def ids_by_slug(services: PostgresServices, _organization_id: UUID, slugs: Sequence[str]) -> dict[str, UUID]:
        query = "SELECT slug, id FROM services WHERE slug = ANY (%s) ORDER BY slug"
        return dict(services._connection.execute(query, (list(slugs),)).fetchall())

    return ids_by_slug


def _by_key(statement: str) -> str:
    """Return a statement that makes links as a key of the service does for a user who is no member."""
    assert "'membership'" in statement, "the statement says in another way with what a link came"
    return statement.replace("'membership'", "'key'")


def _first(original: Any) -> Any:
    """Return a function that takes the first customer where the user would be asked."""

    def choose(*arguments: Any, **options: Any) -> Choice:
        found = original(*arguments, **options)
        return ForCustomer(found.customers[0]) if isinstance(found, Undecided) else found

    return choose


def _by_customer(original: Any) -> Any:
    """Return a method by which the connection of one customer opens a service for another one."""

    def allows(limits: Confinement, customer_id: UUID, organization_id: UUID, service_id: UUID) -> bool:
        is_by_vendor = limits.organization_id == organization_id
        return original(limits, customer_id, organization_id, service_id) if is_by_vendor else True

    return allows


def _elsewhere(original: Any) -> Any:
    """Return a method by which a connection of one organization signs in to the services of another one."""

    def allows(limits: Confinement, organization_id: UUID | None, service_id: UUID | None) -> bool:
        return service_id is not None or original(limits, organization_id, service_id)

    return allows


def _of_another(statement: str) -> str:
    """Return a statement that reads of a session for a customer what its user is for the latest one."""
    own = "c.id = s.customer_id"
    latest = "(SELECT max(id::text)::uuid FROM service_customers WHERE service_id = s.service_id)"
    assert own in statement, "the statement reads the customer of a session in another way"
    return statement.replace(own, f"c.id = {latest} AND s.customer_id IS NOT NULL")


def _told_to_all(original: Any) -> Any:
    """Return a function that tells every organization of a user of each sign-in."""

    def publish(uow: UnitOfWork, facts: SignInFacts) -> None:
        receivers = (*facts.here.receivers, *uow.members.organizations_of(facts.account.id))
        original(uow, replace(facts, circumstances=replace(facts.here, receivers=receivers)))

    return publish


def _one_name(original: Any) -> Any:
    """Return a function by which a person has one name at a service, whichever customer they come for."""
    return lambda uow, provider, user_id, email, _customer_id: original(uow, provider, user_id, email, None)


def _of_vendor(original: Any) -> Any:
    """Return a function by which assertions say what a person is to the vendor, whichever customer they come for."""
    return lambda mapping, **said: original(mapping, **{**said, "subject": None})


def _unless_deactivated(_original: Any) -> Any:
    """Return a property by which an account that is locked signs in."""
    return property(lambda user: user.deactivated_at is None)


def _any_person(original: Any) -> Any:
    """Return a function that finds the account of every address, also outside of the mail domains."""

    def people(uow: UnitOfWork, organization_id: UUID, connection: Any, subject: Any) -> list[User]:
        if subject.email is None:
            return original(uow, organization_id, connection, subject)
        user = uow.users.by_email(subject.email)
        return [user] if user is not None else []

    return people


def _all_confirmed(original: Any) -> Any:
    """Return a function by which a membership counts that its user has not confirmed."""
    return lambda place, **_options: original(place, confirms=True)


_OF_VENDOR: Final = "c.vendor_paused_at IS NULL"
_OF_CUSTOMER: Final = "c.customer_paused_at IS NULL"
_PLACE: Final = ("adapters.postgres.sign_in.places", "_PLACE")
_REQUEST: Final = ("adapters.postgres.sessions.callers", "OF_SESSION SUBJECT")
_REFRESHED: Final = ("adapters.postgres.sessions.sessions", "REFRESHABLE")
_CHOICES: Final = "core.sign_in.customer_choices"
_TOLD: Final = ("adapters.postgres.customers.people_events", "CHECK")
_SUBJECT: Final = ("adapters.postgres.sessions.callers", "SUBJECT")
_LIMITS: Final = "core.sessions.caller_limits.Confinement"
UNDONE: Final = (
    Undone(
        "1: what is given hangs on the address",
        "core.accounts.addresses",
        "leave",
        _nothing,
        Story.GIVING,
        ("membership", "subscription"),
    ),
    Undone(
        "1: no organization undoes what another one provisions",
        "core.accounts.account_splits",
        "split",
        _together,
        Story.GIVING,
        ("taken away",),
    ),
    Undone(
        "2: a stranger's account is not deactivated",
        "core.accounts.own_accounts",
        "take_access",
        _anywhere,
        Story.SUSPENDING,
        ("denied",),
    ),
    Undone(
        "2: the account of a former employee is deactivated",
        "core.accounts.own_accounts",
        "take_access",
        _nothing,
        Story.SUSPENDING,
        ("outlived an account",),
    ),
    Undone(
        "3: leaving ends access",
        "core.organizations.departures",
        "end",
        _nothing,
        Story.LEAVING,
        ("outlived a membership",),
    ),
    Undone(
        "who has left is linked again only once they belong again",
        "core.sign_in.upstream.by_connection",
        "_belongs_again",
        _yes,
        Story.CONNECTING,
        ("linked again",),
    ),
    Undone(
        "a connection that an insider has led elsewhere links no own account at once",
        "core.sign_in.upstream.connections.editors.Editor",
        "may_trust",
        _always,
        Story.CONNECTING,
        ("taken over",),
    ),
    Undone(
        "an invitation gives services of its own organization only",
        "adapters.postgres.services.services.PostgresServices",
        "ids_by_slug",
        _of_all,
        Story.GIVING,
        ("link",),
    ),
    Undone(
        "a service of an invitation ends with the membership",
        "adapters.postgres.invitations.invitations",
        "GIVE_SERVICES",
        _by_key,
        Story.LEAVING,
        ("link",),
    ),
    Undone(
        "7: each registration has a password of its own",
        "core.accounts.email_verification",
        "_prove",
        _newest_password,
        Story.REGISTERING,
        ("taken over",),
    ),
    Undone(
        "a code of a mail is compared with that of its challenge",
        "core.accounts.links",
        "_is_code",
        _yes,
        Story.REGISTERING,
        ("taken over",),
    ),
    Undone(
        "8: identities end where a connection leads elsewhere",
        "core.sign_in.upstream.connections.changes",
        "leads_elsewhere",
        _no,
        Story.CONNECTING,
        ("outlived a connection", "taken over"),
    ),
    Undone(
        "a sign-in without the required one opens its service alone",
        "core.sign_in.judgement",
        "_limited_to",
        _unlimited,
        Story.CONNECTING,
        ("opened elsewhere",),
    ),
    Undone(
        "what was made in a takeover is withdrawn",
        "core.accounts.email_change_undo",
        "_take_back",
        _none,
        Story.HIJACKING,
        ("outlived a takeover",),
    ),
    Undone(
        "keys and addresses that a takeover gave a service go",
        "core.accounts.takeover_settings",
        "_services",
        _none,
        Story.HIJACKING,
        ("outlived a takeover",),
    ),
    Undone(
        "a customer that a takeover let in ends",
        "core.accounts.takeover_customers",
        "end_customers",
        _none,
        Story.HIJACKING,
        ("outlived a takeover",),
    ),
    Undone(
        "what a directory's token of a takeover did is taken back",
        "adapters.postgres.organizations.takeover_credentials:PostgresTakeoverCredentials",
        "take_back_places",
        _none,
        Story.HIJACKING,
        ("outlived a takeover",),
    ),
    Undone(
        "a lock ends what the person has sent",
        "core.accounts.locks",
        "_ENDS",
        _each_nothing,
        Story.HIJACKING,
        ("outlived a lock",),
    ),
    Undone(
        "who came by a takeover has no access",
        "core.organizations.takeovers",
        "_suspend_invited",
        _none,
        Story.HIJACKING,
        ("outlived a takeover",),
    ),
    Undone(
        "an ownership that was passed on in a takeover comes back",
        "core.organizations.takeovers",
        "_revert_ownerships",
        _nothing,
        Story.HIJACKING,
        ("denied", "outlived a takeover"),
    ),
    Undone(
        "a directory gives no role that the maker of its token could not give",
        "core.organizations.group_roles",
        "_may_give",
        _yes,
        Story.GROUPING,
        ("rule", "membership"),
    ),
    Undone(
        "what a setup link makes gives no more than the link",
        "core.organizations.authority:Authority",
        "of_link",
        _of_owner,
        Story.GROUPING,
        ("rule",),
    ),
    Undone(
        "a setup link opens the operations of its parts alone",
        "core.organizations.link_callers:LinkCaller",
        "require",
        _nothing,
        Story.GROUPING,
        ("rule",),
    ),
    Undone(
        "what a rule gave is taken when none fits any longer",
        "core.organizations.group_roles",
        "_settled",
        _kept,
        Story.GROUPING,
        ("rule",),
    ),
    Undone(
        "a connection that gives roles by rules is led elsewhere by none who could not give them",
        "core.sign_in.upstream.connections.changes",
        "_given_roles",
        _none,
        Story.GROUPING,
        ("rule", "membership"),
    ),
    Undone(
        "a powerful role of a rule takes a mailed code",
        "core.organizations.group_roles",
        "opens_by_word_alone",
        _yes,
        Story.GROUPING,
        ("word alone",),
    ),
    Undone(
        "what another claim said of groups is forgotten",
        "adapters.postgres.sign_in.upstream.connections.connections.PostgresUpstreamConnections",
        "forget_groups",
        _nothing,
        Story.GROUPING,
        ("rule", "membership"),
    ),
    Undone(
        "what refuses a sign-in is explained",
        "core.platform.sign_in_checks",
        "_check",
        _passed,
        Story.SUSPENDING,
        ("another story",),
    ),
    Undone(
        "what is explained refuses a sign-in",
        "core.sign_in.conclusion",
        "judge",
        _unrefused,
        Story.REGISTERING,
        ("another story",),
    ),
    Undone(
        "an organization is told what lies in its context alone",
        "core.platform.why_answers",
        "_affiliated",
        _any_account,
        Story.LEAVING,
        ("another story",),
    ),
    Undone("who has several customers is asked", _CHOICES, "choose", _first, Story.SERVING, ("customer",)),
    Undone(
        "the first use for a customer is asked",
        f"{_CHOICES}.CustomerStanding",
        "is_known",
        _always,
        Story.SERVING,
        ("customer",),
    ),
    Undone(
        "an unconfirmed membership decides nothing",
        f"{_CHOICES}.CustomerStanding",
        "counts",
        _always,
        Story.SERVING,
        ("customer",),
    ),
    Undone(
        "only one whose membership is confirmed is taken",
        _CHOICES,
        "_is_taken",
        _yes,
        Story.SERVING,
        ("customer",),
    ),
    Undone(
        "members of customers are no individuals",
        _CHOICES,
        "_may_come_alone",
        _yes,
        Story.SERVING,
        ("customer",),
    ),
    Undone(
        "who came without a customer may not go on when they belong to one",
        *_REQUEST,
        _without(f"NOT {IS_OF_CUSTOMER}"),
        Story.SERVING,
        ("outlived a customer",),
    ),
    Undone("a pause of the vendor closes sign-ins", *_PLACE, _without(_OF_VENDOR), Story.SERVING, ("customer",)),
    Undone("a pause of the customer closes sign-ins", *_PLACE, _without(_OF_CUSTOMER), Story.SERVING, ("customer",)),
    Undone(
        "a pause closes what is asked with an access token",
        *_REQUEST,
        _without(_OF_VENDOR, _OF_CUSTOMER),
        Story.SERVING,
        ("outlived a customer",),
    ),
    Undone(
        "a pause closes refreshing",
        *_REFRESHED,
        _without(_OF_VENDOR, _OF_CUSTOMER),
        Story.SERVING,
        ("outlived a customer",),
    ),
    Undone(
        "a suspended customer is closed",
        *_REQUEST,
        _without("co.status = 'active'"),
        Story.SERVING,
        ("outlived a customer",),
    ),
    Undone("only the assigned come in", *_PLACE, _without(IS_ASSIGNED), Story.SERVING, ("customer",)),
    Undone(
        "a lost assignment closes what came by it",
        *_REQUEST,
        _without(IS_ASSIGNED),
        Story.SERVING,
        ("outlived a customer",),
    ),
    Undone(
        "a suspended member comes in for no customer",
        *_PLACE,
        _without("cm.suspended_at IS NULL"),
        Story.SERVING,
        ("customer",),
    ),
    Undone(
        "roles of a service are those that an assignment gives",
        *_REQUEST,
        _without("known.value::uuid = ANY (a.role_ids)"),
        Story.SERVING,
        ("roles", "claimed"),
    ),
    Undone("the customer of a session never changes", *_REFRESHED, _of_another, Story.SERVING, ("customer",)),
    Undone(
        "a token for a customer has no role of the vendor",
        *_REQUEST,
        _without("AND s.customer_id IS NULL"),
        Story.SERVING,
        ("power of the vendor",),
    ),
    Undone(
        "the connection of a customer opens no other one",
        _LIMITS,
        "allows_customer",
        _by_customer,
        Story.SERVING,
        ("confined", "customer"),
    ),
    Undone(
        "the connection of a customer signs in no individual",
        _LIMITS,
        "allows",
        _elsewhere,
        Story.SERVING,
        ("confined", "customer"),
    ),
    Undone(
        "the vendor and the customer alone are told of a sign-in",
        "core.sign_in.effects",
        "_publish",
        _told_to_all,
        Story.SERVING,
        ("told",),
    ),
    Undone(
        "own roles are those that the vendor has given",
        *_REQUEST,
        _without("known.value::uuid = ANY (own.own_role_ids)"),
        Story.SELLING,
        ("roles", "claimed"),
    ),
    Undone(
        "the vendor is told of people who have come in alone",
        *_TOLD,
        _without("(c.shares_directory OR own.user_id IS NOT NULL OR cm.made_for IS NOT NULL)"),
        Story.SELLING,
        ("told",),
    ),
    Undone(
        "the vendor is told of no unconfirmed membership",
        *_TOLD,
        _without("cm.confirmed_at IS NOT NULL"),
        Story.SELLING,
        ("told",),
    ),
    Undone(
        "the vendor is told of people who are let in no longer",
        *_TOLD,
        _without(IS_ASSIGNED),
        Story.SELLING,
        ("untold",),
    ),
    Undone(
        "the vendor reads people who are let in",
        "adapters.postgres.customers.people",
        "PAGE_OF_SIGNED_IN",
        _without(IS_ASSIGNED),
        Story.SELLING,
        ("told",),
    ),
    Undone(
        "an assertion for a customer says nothing of the vendor",
        "core.saml.assertions",
        "attributes",
        _of_vendor,
        Story.SELLING,
        ("asserted",),
    ),
    Undone(
        "a directory that a customer does not share is in no claim",
        *_REFRESHED,
        _without("AND  c.shares_directory"),
        Story.SELLING,
        ("claimed",),
    ),
    Undone(
        "what another service notes about a person is in no claim",
        *_REFRESHED,
        _instead(
            USER_METADATA,
            _any_of(
                USER_METADATA, ("d.organization_id =", "d.organization_id <>"), ("d.service_id =", "d.service_id <>")
            ),
        ),
        Story.SELLING,
        ("claimed",),
    ),
    Undone(
        "what is noted about another customer is in no claim",
        *_SUBJECT,
        _instead(OF_CUSTOMER, _any_of(OF_CUSTOMER, ("c.id =", "c.id <>"))),
        Story.SELLING,
        ("claimed",),
    ),
    Undone(
        "a person has another name by SAML at each customer",
        "core.saml.assertions",
        "name_id",
        _one_name,
        Story.SELLING,
        ("named",),
    ),
    Undone(
        "sessions for a customer that is closed end",
        "core.sessions.customer_endings",
        "recheck",
        _nothing,
        Story.SELLING,
        ("outlived a customer",),
    ),
    Undone(
        "the platform acts for customers for which a person has come in",
        f"{_CHOICES}.CustomerStanding",
        "is_known",
        _always,
        Story.SELLING,
        ("impersonated",),
    ),
    Undone(
        "both sides are told that the platform acts for a customer",
        "core.platform.impersonation",
        "record_and_mail",
        _nothing,
        Story.SELLING,
        ("impersonated",),
    ),
    Undone(
        "the vendor is told why of people whom it sees",
        "core.platform.explained_customers.CustomerOfUser",
        "shows_user",
        _always,
        Story.SELLING,
        ("another story",),
    ),
    Undone(
        "what an organization has issued ends when it is deleted",
        "adapters.postgres.organizations.deletion",
        "_ISSUED",
        _none_of,
        Story.DELETING,
        ("outlived an organization",),
    ),
    Undone(
        "sessions in an organization end when it is deleted",
        "adapters.postgres.organizations.deletion",
        "_SESSIONS",
        _none_of,
        Story.DELETING,
        ("outlived an organization",),
    ),
    Undone(
        "a program has the claims of its rule",
        "core.services.workload_rules.Workload",
        "fits",
        _yes,
        Story.MACHINES,
        ("machine",),
    ),
    Undone(
        "a program's token is for this installation",
        "core.services.workload_rules.Workload",
        "has_audience",
        _yes,
        Story.MACHINES,
        ("machine",),
    ),
    Undone(
        "what a key made ends with it where that is asked",
        "adapters.postgres.organizations.keys.PostgresMadeByKeys",
        "end",
        _none,
        Story.MACHINES,
        ("outlived its key",),
    ),
    Undone(
        "an API key of a key has no permission that the key lacks",
        "core.services.api_keys",
        "_require_having",
        _nothing,
        Story.MACHINES,
        ("beyond a key",),
    ),
    Undone(
        "a SCIM token of a key gives what the key covers",
        "core.organizations.authority.Authority",
        "of_key",
        _of_owner,
        Story.MACHINES,
        ("beyond a key",),
    ),
    Undone(
        "a provider ends what its people hold",
        "core.sign_in.upstream.revocation.global_token_revocation",
        "_end",
        _nothing,
        Story.SWITCHING,
        ("outlived a revocation",),
    ),
    Undone(
        "a token of a provider is used once",
        "adapters.postgres.openid.token_grants.PostgresSingleUses",
        "claim",
        _yes,
        Story.SWITCHING,
        ("ended elsewhere",),
    ),
    Undone(
        "a provider names addresses of its mail domain alone",
        "core.sign_in.upstream.revocation.global_token_revocation",
        "_people",
        _any_person,
        Story.SWITCHING,
        ("ended elsewhere",),
    ),
    Undone(
        "a lock refuses every way in",
        "core.accounts.users.User",
        "may_sign_in",
        _unless_deactivated,
        Story.SWITCHING,
        ("outlived a lock",),
    ),
    Undone(
        "an organization locks its own accounts alone",
        "core.accounts.locks",
        "may_lock",
        _yes,
        Story.SWITCHING,
        ("denied",),
    ),
    Undone(
        "a service that is closed lets in no stranger",
        "core.sign_in.admission",
        "refusal_of",
        _nothing,
        Story.ADMITTING,
        ("let in",),
    ),
    Undone(
        "a membership that is not confirmed lets in nobody",
        "core.sign_in.admission",
        "refusal_of",
        _all_confirmed,
        Story.ADMITTING,
        ("let in",),
    ),
    Undone(
        "who was added is asked before they come in",
        "core.sign_in.admission",
        "must_confirm",
        _nothing,
        Story.ADMITTING,
        ("unasked",),
    ),
    Undone(
        "who is not assigned is not let in",
        *_PLACE,
        _without(IS_ASSIGNED_HERE),
        Story.ADMITTING,
        ("let in",),
    ),
    Undone(
        "what closes a service closes what is asked with an access token",
        *_REQUEST,
        _without(IS_ADMITTED),
        Story.ADMITTING,
        ("outlived an admission",),
    ),
    Undone(
        "what closes a service closes refreshing",
        *_REFRESHED,
        _without(IS_ADMITTED),
        Story.ADMITTING,
        ("outlived an admission",),
    ),
    Undone(
        "what closes a service for many ends their sessions",
        "core.sessions.customer_endings",
        "recheck",
        _nothing,
        Story.ADMITTING,
        ("kept a session",),
    ),
    Undone(
        "what closes a service for one person ends their sessions at once",
        "adapters.postgres.sessions.customer_endings",
        "END_LOST",
        _without(IS_ADMITTED),
        Story.ADMITTING,
        ("kept a session",),
    ),
    Undone(
        "who leaves keeps no session of a service that is closed",
        "adapters.postgres.organizations.departures",
        "_SESSIONS",
        _instead("v.access <> 'everyone'", "false"),
        Story.ADMITTING,
        ("kept a session",),
    ),
    Undone(
        "who is not assigned has no tile",
        "adapters.postgres.customers.my_applications",
        "PAGE",
        _without(IS_ADMITTED),
        Story.ADMITTING,
        ("let in",),
    ),
    Undone(
        "roles of a service are those that its own organization gives",
        *_REQUEST,
        _instead(OWN_ROLES, OWN_ROLES.replace("known.value::uuid = ANY (a.role_ids)", "true")),
        Story.ADMITTING,
        ("roles",),
    ),
)
