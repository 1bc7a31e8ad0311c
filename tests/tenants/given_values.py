"""What core is given of a state of the small scope: the values that its ports read, and a sign-in with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from core.accounts.sign_in_methods import Provider
from core.accounts.single_sign_on import RequiredConnection
from core.accounts.users import User
from core.organizations.access import Capability
from core.organizations.organizations import Organization, OrganizationStatus
from core.services.services import Admission, CustomerPolicy, Individuals, Service, ServiceType
from core.sessions.caller_limits import CallerLimits, Confinement
from core.sessions.callers import Caller, CallerAccount, CallerSession
from core.sessions.customer_contexts import CustomerContext
from core.sessions.mfa_methods import MfaMethods
from core.sessions.places import CallerPlace, CallerService
from core.sign_in.customer_choices import CustomersOfUser, CustomerStanding
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.facts import Circumstances, SignInFacts
from core.sign_in.judgement import judge
from core.sign_in.places import Place
from core.sign_in.proofs import FEDERATED, Destination, IdentityProof
from core.sign_in.rules import RULES, Rule
from tests.tenants import small_scope as scope
from tests.tenants.customers import Coming, Facts, Rights, V
from tests.tenants.products import Product

if TYPE_CHECKING:
    from uuid import UUID

    from tests.tenants.small_scope import AssignmentState, CustomerState
    from tests.tenants.words import Account, Belonging, Word

OWNER, DEPUTY = "owner", "deputy"
DEPUTY_MAY: Final = [Capability.ORG_MEMBERS_MANAGE]


@dataclass(frozen=True)
class State:
    """A state of the service and of the person, as the model has it and as core is told."""

    desk: Product
    facts: Facts
    service: Service
    found: CustomersOfUser

    @classmethod
    def of(
        cls,
        states: dict[str, CustomerState],
        individuals: str,
        *,
        is_suspended: bool = False,
        serves_customers: bool = True,
        access: str = "everyone",
        assigned: AssignmentState | None = None,
        **of_person: Any,
    ) -> State:
        """Return the state of two customers, and of the person at the vendor, which may be suspended.

        `access` and `assigned` say whom the vendor lets in without a customer.
        """
        facts = scope.facts_of(states, **of_person)
        customers = [one.customer(of, str(scope.RECORDS[of]), scope.membership_of(of)) for of, one in states.items()]
        desk = Product(
            role_ids=scope.ROLES,
            individuals=individuals,
            access=access,
            assignments=[] if assigned is None else [assigned.assignment(scope.membership_of(V))],
            is_suspended=is_suspended,
            serves_customers=serves_customers,
            customers=customers,
        )
        values = [scope.read(desk, one, facts) for one in customers]
        at_vendor = facts.memberships.get(V)
        found = CustomersOfUser(
            standings=[one for one in values if isinstance(one, CustomerStanding)],
            suspended=[one for one in values if one is not None and not isinstance(one, CustomerStanding)],
            is_of_customer=any(scope.is_of_customer(one, facts) for one in customers),
            is_of_vendor=at_vendor is not None and at_vendor.is_confirmed and not at_vendor.is_suspended,
            has_come_alone=facts.has_come_alone,
        )
        return cls(desk, facts, service_of(individuals, access, serves_customers=serves_customers), found)

    @property
    def place(self) -> Place:
        """The place to which a sign-in leads."""
        at_vendor = self.facts.memberships.get(V)
        return Place(
            organization=replace(ORGANIZATION, status=_STATUSES[self.desk.is_suspended]),
            service=self.service,
            is_member=at_vendor is not None,
            is_suspended=at_vendor is not None and at_vendor.is_suspended,
            is_confirmed=at_vendor is not None and at_vendor.is_confirmed,
            is_owner=at_vendor is not None and at_vendor.role == OWNER,
            is_assigned=at_vendor is not None and self.desk.assigns_here(at_vendor),
            is_given=self.facts.is_given,
            customers=self.found if self.desk.serves_customers else None,
        )

    def __str__(self) -> str:
        admission = f"{self.desk.access} by {self.desk.assignments}"
        return f"{self.desk.customers}, individuals {self.desk.individuals}, {admission}, {self.facts}"


ORGANIZATION: Final = Organization(
    id=scope.ORGANIZATIONS[V],
    slug=V,
    name=V,
    status=OrganizationStatus.ACTIVE,
    tier_id=scope.ORGANIZATIONS[V],
    max_services=None,
    max_users=None,
    mfa_required=False,
    device_trust_days=30,
    created_at=scope.NOW,
    updated_at=scope.NOW,
    approved_at=None,
    approved_by=None,
    rejected_at=None,
    rejection_reason=None,
    suspended_at=None,
    suspension_reason=None,
)
_STATUSES: Final = {False: OrganizationStatus.ACTIVE, True: OrganizationStatus.SUSPENDED}
USER: Final = User(
    id=scope.PERSON,
    email="ada@example.com",
    email_verified_at=scope.NOW,
    is_platform_owner=False,
    created_at=scope.NOW,
    updated_at=scope.NOW,
)


def service_of(individuals: str, access: str = "everyone", *, serves_customers: bool = True) -> Service:
    """Return the service, which takes these individuals, and these people without a customer."""
    return Service(
        slug="desk",
        name="Desk",
        service_type=ServiceType.WEB,
        customers=CustomerPolicy.LISTED if serves_customers else CustomerPolicy.NONE,
        individuals=Individuals(individuals),
        access=Admission(access),
        id=scope.DESK,
        organization_id=scope.ORGANIZATIONS[V],
        client_id=scope.DESK,
        created_at=scope.NOW,
        updated_at=scope.NOW,
    )


def standing_of(belonging: Belonging, word: Word) -> ConnectionStanding:
    """Return what a person is to a connection."""
    return ConnectionStanding(
        is_enabled=word.is_open,
        joins_as=word.joins_as,
        is_by_word_alone=not word.is_confirmed,
        role=belonging.role,
        is_suspended=belonging.is_suspended,
        is_end_user=belonging.is_end_user,
        is_in_mail_domain=belonging.is_in_mail_domain,
        organization_requires_mfa=False,
        has_group_rules=belonging.is_role_by_groups,
        is_role_by_groups=belonging.is_role_by_groups,
        role_permissions=list(DEPUTY_MAY) if belonging.role == DEPUTY else [],
    )


def required_of(facts: Facts) -> RequiredConnection | None:
    """Return the connection by which the organization of the person's mail domain signs them in."""
    of = facts.domain_of
    if of is None or not facts.is_enforced:
        return None
    at = facts.memberships.get(of)
    return RequiredConnection(
        connection_id=scope.CONNECTIONS[of],
        organization_id=scope.ORGANIZATIONS[of],
        is_of_owner=at is not None and at.role == OWNER and not at.is_suspended,
    )


def facts_of(
    standing: ConnectionStanding | None,
    limits: Confinement | None,
    place: Place,
    coming: Coming,
    *,
    required: RequiredConnection | None = None,
    account: Account | None = None,
) -> SignInFacts:
    """Return a person whose identity is proved, on the way to a service, if the place has one."""
    proof = IdentityProof(
        user_id=USER.id,
        provider=Provider.PASSWORD if limits is None else Provider.UPSTREAM,
        amr=("pwd",) if limits is None else (FEDERATED,),
        confinement=limits,
    )
    destination = Destination(
        organization_slug=place.organization.slug if place.organization is not None else None,
        service_slug=place.service.slug if place.service is not None else None,
        customer=coming.named,
        asks_for_customer=coming.is_named_by_other,
    )
    return SignInFacts(
        user=user_of(account) if account is not None else USER,
        proof=proof,
        destination=destination,
        now=scope.NOW,
        circumstances=Circumstances.of(
            proof, destination, place, place.target, required, standing if limits is not None else None
        ),
    )


def is_refused_by(facts: SignInFacts, *rules: Rule) -> bool:
    """Return whether one of some rules refuses, or one of all without a name."""
    untold = frozenset(set(Rule) - {*rules}) if rules else frozenset[Rule]()
    judged = judge(RULES, facts, hidden=untold)
    while judged.refusal is None and judged.answer is not None:
        # What is asked for, and what a proof changes, refuses nobody.
        judged = judge(RULES, facts, judged, hidden=untold)
    return judged.refusal is not None


def user_of(account: Account) -> User:
    """Return the user with this account."""
    return replace(
        USER,
        deactivated_at=scope.NOW if account.is_deactivated else None,
        locked_at=scope.NOW if account.is_locked else None,
        closed_at=scope.NOW if account.is_closed else None,
    )


def caller_of(rights: Rights | None, confined_to_role: str | None, *, is_end_user: bool) -> Caller:
    """Return the caller in a session for A, by its connection, who has these rights now."""
    organization_id, record_id = scope.ORGANIZATIONS[scope.A], scope.RECORDS[scope.A]
    return Caller(
        account=CallerAccount(
            id=USER.id, email=USER.email, email_verified_at=USER.email_verified_at, created_at=scope.NOW
        ),
        session=CallerSession(
            id=scope.PERSON, amr=["fed"], authenticated_at=scope.NOW, connection_id=scope.CONNECTIONS[scope.A]
        ),
        place=CallerPlace(
            organization_id=scope.ORGANIZATIONS[V],
            organization_slug=V,
            organization_status="active",
            service=CallerService(id=scope.DESK, slug="desk", client_id=scope.DESK, is_user=is_end_user),
            customer_id=record_id,
            customer=_context(rights, organization_id, record_id) if rights is not None else None,
        ),
        limits=CallerLimits(
            confinement=Confinement(
                organization_id=organization_id,
                connection_id=scope.CONNECTIONS[scope.A],
                role=confined_to_role,
            )
        ),
    )


def _context(rights: Rights, organization_id: UUID, record_id: UUID) -> CustomerContext:
    return CustomerContext(
        id=record_id,
        organization_id=organization_id,
        slug=scope.A,
        name=scope.A,
        external_id=None,
        role=rights.customer_role,
        service_roles=list(rights.service_roles),
        groups=None,
        requires_mfa=False,
        mfa_methods=MfaMethods.ANY,
    )
