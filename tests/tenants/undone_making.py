"""Rules that keep what vendors make for customers apart from all else, each undone for the histories (`undone.py`)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from core.customers import customers
from core.scim.refusals import UserExists
from core.services.api_keys import Permission
from core.services.services import Service
from core.sign_in.upstream import sign_in
from core.sign_in.upstream.address_codes import AddressCodeDue, ConfirmedSignIn
from core.sign_in.upstream.flows import ReturnAddress, SignInOver
from tests.tenants.market_judging import BEYOND, OUTLIVED, POWER
from tests.tenants.taking import Story
from tests.tenants.undone import Undone

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from core.accounts.users import User
    from core.customers.customers import ServiceCustomer
    from ports.unit_of_work import UnitOfWork


def _nothing(_original: Any) -> Any:
    return lambda *_args, **_options: None


def _none(_original: Any) -> Any:
    return lambda *_args, **_options: ()


def _no_set(_original: Any) -> Any:
    return lambda *_args, **_options: set[Any]()


def _zero(_original: Any) -> Any:
    return lambda *_args, **_options: 0


def _yes(_original: Any) -> Any:
    return lambda *_args, **_options: True


def _any_address(_original: Any) -> Any:
    return lambda _service, url: url


def _instead(present: str, other: str) -> Callable[[Any], Any]:
    """Return what puts another part into a statement in place of one."""

    def change(statement: str) -> str:
        assert present in statement, "the part is not in the statement any more"
        return statement.replace(present, other)

    return change


def _without_code(original: Any) -> Any:
    """Return a function that takes the word of a made connection for a proof of the address."""

    def conclude(uow: UnitOfWork, begun: Any, proven: Any, destination: Any, **options: Any) -> Any:
        outcome = original(uow, begun, proven, destination, **options)
        if not isinstance(outcome, AddressCodeDue):
            return outcome
        return sign_in.conclude_confirmed(uow, ConfirmedSignIn(sign_in=begun, proven=proven), destination)

    return conclude


def _same_code(_original: Any) -> Any:
    """Return a function by which all codes are one."""
    return lambda *_args: b"one"


def _anywhere(_original: Any) -> Any:
    """Return a function by which a made connection leads to wherever a browser wants."""
    return lambda _uow, _made_for, wanted: ReturnAddress(return_to=wanted.return_to, return_id=wanted.return_id)


def _whether_active_or_not(original: Any) -> Any:
    """Return a method that finds the organization of a connection whatever its status is."""
    return lambda organizations, connection_id, **_options: original(organizations, connection_id, is_active=False)


def _if_known(original: Any) -> Any:
    """Return a function that mails a code only to an address that an account has."""

    def ask(uow: UnitOfWork, begun: Any, proven: Any, made_for: Any, email: str, *, browser: str) -> AddressCodeDue:
        if uow.users.by_email(email) is None:
            raise SignInOver
        return original(uow, begun, proven, made_for, email, browser=browser)

    return ask


def _tells_accounts(original: Any) -> Any:
    """Return a method that refuses the account of an address which the organization did not know."""

    def find_or_create(accounts: Any, user: User, *of: Any) -> Any:
        query = "SELECT FROM users WHERE email = %s"
        is_there = accounts._connection.execute(query, (user.email,)).fetchone() is not None
        found = original(accounts, user, *of)
        if is_there and not found.is_known:
            raise UserExists
        return found

    return find_or_create


def _of_any_part(_original: Any) -> Any:
    """Return a function by which a vendor may set up every part of each of its customers."""

    def require(uow: UnitOfWork, service: Service, customer_id: UUID, _parts: Any) -> ServiceCustomer:
        return customers.find(uow, service, customer_id)

    return require


def of_any_service(original: Any) -> Any:
    """Return a function that finds the customers of all services."""

    def find(uow: UnitOfWork, service: Service, customer_id: UUID) -> ServiceCustomer:
        statement = "SELECT vendor_id, service_id FROM service_customers WHERE id = %s"
        services: Any = uow.services
        row = services._connection.execute(statement, (customer_id,)).fetchone()
        other = uow.services.by_id(*row) if row is not None else None
        return original(uow, other if isinstance(other, Service) else service, customer_id)

    return find


def _by_reading(_original: Any) -> Any:
    """Return permissions by which reading customers suffices to set them up."""
    return SimpleNamespace(SETUP_CUSTOMERS=Permission.READ_CUSTOMERS)


def _at_any_time(original: Any) -> Any:
    """Return a method that also finds links whose time has passed."""
    return lambda links, condition, *others: original(
        links, condition.replace("AND l.expires_at > %(now)s", ""), *others
    )


def _kept_on(_original: Any) -> Any:
    """Return a method that takes a SCIM token away and keeps it."""
    return lambda stored, organization_id, token_id: next(
        (one for one in stored.of_organization(organization_id) if one.id == token_id), None
    )


def _of_any_organization(original: Any) -> Any:
    """Return a method that finds what was made for any organization."""

    def find(things: Any, organization_id: UUID, thing_id: UUID) -> Any:
        query = """
            SELECT c.organization_id
            FROM   scim_tokens t
            JOIN   organizations i ON i.id = t.organization_id
            JOIN   service_customers c ON c.id = i.internal_of
            WHERE  t.id = %s
        """
        row = things._connection.execute(query, (thing_id,)).fetchone()
        return original(things, row[0] if row is not None else organization_id, thing_id)

    return find


def _whatever_the_status(_original: Any) -> Any:
    """Return a function that authorizes a directory whatever its organization is."""
    return lambda uow: uow.scim_caller


_CONFINEMENT: Final = "core.sessions.caller_limits.Confinement"
_CLAIMING: Final = "core.customers.claiming"
_CLAIMS: Final = "adapters.postgres.customers.claiming.PostgresCustomerClaims"
_ROUTES: Final = "adapters.postgres.sign_in.upstream.domains.domain_routes"
_SESSION: Final = ("adapters.postgres.sessions.callers", "OF_SESSION SUBJECT")
_PLACE: Final = ("adapters.postgres.sign_in.places", "_PLACE")
_USAGE: Final = "adapters.postgres.customers.usage"
_TAKEOVER: Final = ("outlived a takeover", "denied")


def _making(rule: str, place: tuple[str, str], instead: Callable[[Any], Any], *kinds: str) -> Undone:
    return Undone(rule, *place, instead, Story.MAKING, kinds)


MAKINGS: Final = (
    _making(
        "who comes by a made connection types a mailed code once",
        ("core.sign_in.upstream.sign_in", "_conclude"),
        _without_code,
        "taken over",
    ),
    _making(
        "the code of an address is the one that was mailed",
        ("core.sign_in.upstream.address_codes", "_hash"),
        _same_code,
        "taken over",
    ),
    _making(
        "a made connection asks alike whether an account has the address",
        ("core.sign_in.upstream.address_codes", "ask"),
        _if_known,
        "told",
    ),
    _making(
        "wrong codes of an address end the sign-in",
        ("adapters.postgres.sign_in.upstream.flows.PostgresUpstreamSignIns", "count_wrong_code"),
        _nothing,
        "taken over",
    ),
    _making(
        "a made connection opens no other service",
        (_CONFINEMENT, "allows"),
        _yes,
        BEYOND,
    ),
    _making(
        "a made connection opens no other customer",
        (_CONFINEMENT, "allows_customer"),
        _yes,
        BEYOND,
    ),
    _making(
        "a made connection leads to the service of its vendor",
        ("core.sign_in.upstream.beginning", "_way_for"),
        _anywhere,
        BEYOND,
    ),
    _making(
        "an account that another vendor admits belongs elsewhere",
        ("adapters.postgres.sessions.callers", "OF_SESSION"),
        _instead("made_for IS DISTINCT FROM s.customer_id", "false"),
        POWER,
    ),
    _making(
        "a connection of a customer that is closed signs in no person",
        ("adapters.postgres.organizations.organizations.PostgresOrganizations", "of_connection"),
        _whether_active_or_not,
        OUTLIVED,
    ),
    _making(
        "only the person of the address claims a customer",
        (_CLAIMING, "_require_address"),
        _nothing,
        "claimed",
    ),
    _making(
        "a session that a provider has begun claims no customer",
        (_CLAIMING, "_require_claimer"),
        lambda _original: lambda uow: uow.caller,
        "claimed",
    ),
    _making(
        "a link to a customer is valid for a week",
        ("adapters.postgres.customers.claiming", "BY_LINK"),
        _instead("k.expires_at > %s", "%s::timestamptz IS NOT NULL"),
        "claimed",
    ),
    _making(
        "a customer with a mail domain is claimed by an address there",
        (_CLAIMING, "_require_in_domain"),
        _nothing,
        "claimed",
    ),
    _making(
        "claiming ends the setup links of a customer",
        (_CLAIMS, "end_setup_links"),
        _zero,
        OUTLIVED,
    ),
    _making(
        "of a claimed customer the vendor sets up what the owner lets it",
        ("core.customers.setup_callers", "_require_open"),
        _of_any_part,
        BEYOND,
    ),
    _making(
        "a part that is taken away takes along the tokens that the vendor knows",
        (_CLAIMS, "replace_scim_tokens"),
        _nothing,
        OUTLIVED,
    ),
    _making(
        "what was claimed in a takeover nobody owns again",
        ("core.organizations.takeover_claims", "claimed"),
        _no_set,
        *_TAKEOVER,
    ),
    _making(
        "links to customers that a takeover mailed are withdrawn",
        ("core.accounts.takeover_customers", "_owners"),
        _none,
        *_TAKEOVER,
    ),
    _making(
        "what a takeover has set up for customers is switched off",
        ("core.organizations.takeover_credentials", "_parts"),
        _none,
        *_TAKEOVER,
    ),
    _making(
        "what was claimed by a link of a takeover nobody owns again",
        ("adapters.postgres.organizations.takeover_credentials.PostgresTakeoverClaims", "claimed_by_link"),
        _nothing,
        *_TAKEOVER,
    ),
    _making(
        "a mail domain of a customer leads at the services of its vendor alone",
        (_ROUTES, "_MADE"),
        _instead("v.slug = %(vendor_slug)s AND", "%(vendor_slug)s::text IS NOT NULL AND"),
        "routed",
    ),
    _making(
        "a mail domain of a customer leads at its own service alone",
        (_ROUTES, "_MADE"),
        _instead("s.slug = %(service_slug)s", "%(service_slug)s::text IS NOT NULL"),
        "routed",
    ),
    _making(
        "a mail domain of a customer leads nowhere else",
        (_ROUTES, "_OPEN"),
        _instead("made_for IS NULL", "made_for IS NOT NULL"),
        "routed",
    ),
    _making(
        "a mail domain goes back to an organization that has proved it",
        (_ROUTES, "_MADE"),
        _instead("NOT EXISTS", "true OR NOT EXISTS"),
        "routed",
    ),
    _making(
        "what a vendor has proved keeps no organization from its own mail domain",
        (f"{_ROUTES}.PostgresDomainRoutes", "_is_exclusive"),
        lambda _original: "true",
        "denied",
    ),
    _making(
        "a vendor is told that an organization has proved the mail domain",
        (f"{_ROUTES}.PostgresDomainRoutes", "proved_for_customers"),
        _none,
        "untold",
    ),
    _making(
        "an account that a vendor's directory creates belongs to no organization",
        ("adapters.postgres.accounts.own_accounts", "FIND_OR_CREATE"),
        _instead("AND internal_of IS NULL", ""),
        POWER,
    ),
    _making(
        "a vendor's directory is not told which accounts there are",
        ("adapters.postgres.accounts.own_accounts.PostgresOwnAccounts", "find_or_create"),
        _tells_accounts,
        "told",
    ),
    _making(
        "a vendor's directory changes no address of an account",
        ("core.accounts.own_accounts.Belonging", "is_own_of"),
        _yes,
        POWER,
    ),
    _making(
        "a mail domain of a customer gives no power over its accounts",
        ("adapters.postgres.accounts.own_accounts", "BELONGING"),
        _instead("AND made_for IS NULL)\n               AS is_in_own_domain", ")\n               AS is_in_own_domain"),
        POWER,
    ),
    _making(
        "a directory lists the users of its own customer",
        ("adapters.postgres.scim.users", "PAGE"),
        _instead(
            "WHERE    organization_id = (SELECT organization_id FROM own)",
            "WHERE    organization_id IN (SELECT id FROM organizations WHERE internal_of IS NOT NULL)",
        ),
        "another vendor",
    ),
    _making(
        "a directory of a customer that is closed is closed",
        ("core.scim.tokens", "authorize"),
        _whatever_the_status,
        OUTLIVED,
    ),
    _making(
        "an admission that its person has not confirmed excludes them from nothing",
        _PLACE,
        _instead("x.confirmed_at IS NOT NULL", "true"),
        "denied",
    ),
    _making(
        "an admission is no membership",
        ("adapters.postgres.organizations.organizations", "_OF_MEMBER OF_MEMBER"),
        _instead("m.made_for IS NULL", "true"),
        "admitted",
        BEYOND,
    ),
    _making(
        "what a vendor has for a customer is no organization that people open",
        ("adapters.postgres.organizations.access", "CONTEXT OWN_CONTEXT"),
        _instead("p.internal_of IS NULL", "true"),
        "admitted",
        BEYOND,
    ),
    _making(
        "a group gives roles to those whom the provider names in it",
        _SESSION,
        _instead("r.asserted_group = ANY (i.groups)", "true"),
        "roles",
    ),
    _making(
        "a group gives roles to those whom the directory has put in it",
        _SESSION,
        _instead("i.group_id = r.group_id AND i.user_id = cm.user_id", "i.group_id = r.group_id"),
        "roles",
    ),
    _making(
        "rules give roles for their own customer alone",
        _SESSION,
        _instead("r.customer_id = c.id", "true"),
        "roles",
    ),
    _making(
        "rules give roles that the service has",
        ("core.customers.group_rules", "_checked_roles"),
        lambda _original: lambda _uow, _organization_id, names: [*names],
        "another vendor",
    ),
    _making(
        "a setup link of a vendor is valid until its time",
        ("adapters.postgres.organizations.setup_links.PostgresSetupLinks", "_caller_where"),
        _at_any_time,
        OUTLIVED,
    ),
    _making(
        "a setup link of a vendor leads back to its service",
        ("core.customers.setup_links", "_checked_return_url"),
        _any_address,
        BEYOND,
    ),
    _making(
        "a vendor is told how many came for its own customers",
        (_USAGE, "OF_CUSTOMERS"),
        _instead(
            "c.vendor_id = %(vendor_id)s AND c.service_id = %(service_id)s",
            "%(vendor_id)s::uuid IS NOT NULL AND %(service_id)s::uuid IS NOT NULL",
        ),
        "usage",
    ),
    _making(
        "a person counts once for a service",
        (_USAGE, "OF_SERVICE"),
        _instead("count(DISTINCT p.user_id)", "count(*)"),
        "usage",
    ),
    _making(
        "setting customers up takes a permission of its own",
        ("core.customers.setup_callers", "Permission"),
        _by_reading,
        "stranger",
    ),
    _making(
        "a key knows the customers of its own service",
        ("core.customers.customers", "find"),
        of_any_service,
        "stranger",
        "another vendor",
    ),
    _making(
        "what an owner has taken the vendor knows no longer",
        ("adapters.postgres.scim.tokens.PostgresScimTokens", "remove"),
        _kept_on,
        OUTLIVED,
    ),
    _making(
        "only the organization for which a vendor has made a thing takes it",
        ("adapters.postgres.customers.made_for_us.PostgresMadeForUs", "find"),
        _of_any_organization,
        "stranger",
    ),
)
