"""Why a person cannot sign in: the answers to the platform, and to an organization, a vendor and a customer.

The platform sees everything, but support nothing of platform owners. An organization sees what lies in its context: it
may ask about sign-ins of its members and end users to itself and its services, by its own connections. The answer for
any other address is the same as without an account: for a mail domain of its own it has the organization's rules for
that domain and what its connections would do, and no account is read. What concerns an account alone (its password, its
state, its second factor) is told only for people who have confirmed that they belong to it; else an organization could
add an address to learn about its account, or whether there is one. A vendor asks for one of its customers, and a
customer about a product.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import support_access
from core.accounts.support_access import NarrowedList, RecordPart
from core.accounts.users import User
from core.customers.products import ProductOnlyOffered, ProductUnknown
from core.customers.relation_log import CustomerSide
from core.email_addresses import canonical_email, domain_of
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.organizations import explained_roles
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_support
from core.organizations.organizations import Organization
from core.platform import explained_customers
from core.platform.explained_customers import CustomerOfUser
from core.platform.sign_in_checks import RuleCheck, RuleVerdict, SignInWalk, SignInWay
from core.platform.sign_in_questions import SignInQuestion
from core.platform.why import ATTEMPTS_MAX, ExplainedAccount, SignInExplanation, problems_of
from core.platform.why_asked import WAYS, AskedSignIn, SignInView, named
from core.sign_in.reasons import SignInReason
from core.sign_in.rules import Rule
from core.sign_in.sign_ins import Scope
from core.sign_in.upstream.sign_in import vouches_for

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_UNKNOWN: Final = RuleCheck(rule=Rule.ACCOUNT, verdict=RuleVerdict.REFUSES, reason=SignInReason.UNKNOWN_ACCOUNT)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonInQuestion:
    """A member or end user, and since when the organization sees their sign-ins; None before they have confirmed."""

    user: User
    since: datetime | None

    @property
    def seen(self) -> User:
        """The account as an organization sees it: a neutral state for a person who has confirmed nothing."""
        if self.since is not None:
            return self.user
        return replace(
            self.user,
            email_verified_at=self.user.created_at,
            deactivated_at=None,
            closed_at=None,
            mfa_enabled_at=None,
            has_passkey_factor=False,
            disowned_at=None,
            changed_by_service_at=None,
        )


def explain_to_platform(
    uow: UnitOfWork, slug: str | None, question: SignInQuestion, *, are_limits_on: bool = True
) -> SignInExplanation:
    """Explain any sign-in: to the platform, or to an organization or one of its services.

    Questions of support are recorded in the platform's audit log. Raise `BadRequest` for a question without an account,
    or with an invalid network.
    """
    authorize_support(uow)
    question = question.checked()
    caller = support_access.open_list(uow, NarrowedList.SIGN_IN_RULES, question.narrowing)
    found = named(uow, question)
    is_hidden = found is not None and not support_access.sees(caller, found)
    user = None if is_hidden else found
    if user is not None and not caller.acts_as_platform_owner:
        uow.audit_platform(PlatformAction.USER_OPENED, user.id, part=RecordPart.SIGN_IN_RULES.value)
    return to_platform(uow, slug, user, question, are_limits_on=are_limits_on and not is_hidden)


def explain_to_platform_if_asked(
    uow: UnitOfWork, slug: str | None, question: SignInQuestion, *, are_limits_on: bool
) -> SignInExplanation | None:
    """Explain as `explain_to_platform` does; None for a question that names no account yet."""
    return explain_to_platform(uow, slug, question, are_limits_on=are_limits_on) if question.names_user else None


def to_platform(
    uow: UnitOfWork, slug: str | None, user: User | None, question: SignInQuestion, *, are_limits_on: bool
) -> SignInExplanation:
    """Explain as `explain_to_platform` does, to an authorized caller, with the account of the question."""
    asked = AskedSignIn(uow, slug, user, question, SignInView())
    return SignInExplanation(
        account=ExplainedAccount(id=user.id, email=user.email, is_told=True) if user is not None else None,
        walks=asked.walks(are_limits_on=are_limits_on),
        attempts=uow.sign_ins.page(user.id, None, limit=ATTEMPTS_MAX, offset=0) if user is not None else (),
        problems=asked.problems(),
        role=asked.role(),
        customer=asked.customer(),
    )


def explain_to_organization(
    uow: UnitOfWork, slug: str, question: SignInQuestion, *, are_limits_on: bool = True
) -> SignInExplanation:
    """Explain a sign-in to an organization, to one of its services, or to a product that it uses.

    The answer stays within its context. Raise `ProductUnknown` and `ProductOnlyOffered` for a product that it does not
    use, and `BadRequest` for a customer without its service.
    """
    question.require_service()
    authorized = authorize(uow, slug, Operation.SIGN_INS_EXPLAIN)
    # Only people who manage services may read the setup of customers.
    sees_setup = Operation.CUSTOMER_SETUP_READ.capabilities <= authorized.capabilities
    return to_organization(uow, authorized.organization, question, are_limits_on=are_limits_on, sees_setup=sees_setup)


def to_organization(
    uow: UnitOfWork,
    organization: Organization,
    question: SignInQuestion,
    *,
    are_limits_on: bool,
    sees_setup: bool = False,
) -> SignInExplanation:
    """Explain as `explain_to_organization` does, to an authorized caller."""
    if question.product is not None:
        return _to_customer(uow, organization, question, question.product, are_limits_on=are_limits_on)
    if question.customer:
        told = _to_vendor(uow, organization, question, question.customer, are_limits_on=are_limits_on)
        return _with_setup(uow, organization, question, told) if sees_setup else told
    person = _affiliated(uow, organization.id, question)
    if person is None:
        return _to_mail_domain(uow, organization, question, are_limits_on=are_limits_on)
    return _answer(uow, organization, person, question, are_limits_on=are_limits_on)


def _to_mail_domain(
    uow: UnitOfWork, organization: Organization, question: SignInQuestion, *, are_limits_on: bool
) -> SignInExplanation:
    """Explain the sign-in of an address that belongs to no member or end user.

    For a mail domain of the organization the answer says more, and is the same whether or not an account exists.
    """
    address = canonical_email(question.email, uow.domain_names.to_ascii)
    if not vouches_for(uow, organization.id, address):
        return _unknown_here(question)
    view = SignInView(
        organization_id=organization.id, is_told=False, side=CustomerSide.VENDOR, is_of_address_alone=True
    )
    asked = AskedSignIn(uow, organization.slug, None, question, view)
    return SignInExplanation(
        account=None,
        walks=tuple(_of_address_alone(walk) for walk in asked.walks(are_limits_on=are_limits_on)),
        attempts=(),
        problems=asked.problems(),
        mail_domain=domain_of(address),
    )


def _to_vendor(
    uow: UnitOfWork, organization: Organization, question: SignInQuestion, customer: str, *, are_limits_on: bool
) -> SignInExplanation:
    """Explain a sign-in for a customer to its vendor, which knows only people that it may see."""
    user = named(uow, question)
    user_id = user.id if user is not None else uow.randomness.new_account_id()
    service = uow.services.by_slug(organization.id, question.service_slug or "")
    found = uow.explained_customers.find(service, customer, user_id) if service is not None else None
    affiliation = uow.sign_ins.affiliation(organization.id, user_id)
    if user is None or found is None or not found.shows_user:
        return _unknown_here(question)
    person = PersonInQuestion(user=user, since=affiliation.since if affiliation is not None else None)
    return _answer(uow, organization, person, question, customer=found, are_limits_on=are_limits_on)


def _with_setup(
    uow: UnitOfWork, organization: Organization, question: SignInQuestion, told: SignInExplanation
) -> SignInExplanation:
    """Add what the vendor has made for the customer, and why sign-ins by its connections failed lately."""
    service = uow.services.by_slug(organization.id, question.service_slug or "")
    # For a person that the vendor may not see, no account is read.
    user_id = told.account.id if told.account is not None else uow.randomness.new_account_id()
    found = uow.explained_customers.find(service, question.customer or "", user_id) if service is not None else None
    if service is None or found is None:
        return told
    address = (
        told.account.email if told.account is not None else canonical_email(question.email, uow.domain_names.to_ascii)
    )
    known = found if told.account is not None else None
    setup = explained_customers.explain(uow, service, found.id, address, user_id=user_id, told=known)
    if setup is None:
        return told
    connections = [(one.id, one.name) for one in setup.connections]
    problems = problems_of(uow, setup.internal_id, connections) if setup.internal_id is not None else ()
    return replace(told, setup=setup, problems=problems)


def _to_customer(
    uow: UnitOfWork, organization: Organization, question: SignInQuestion, client_id: UUID, *, are_limits_on: bool
) -> SignInExplanation:
    """Explain a sign-in to a product to the organization that uses it, about its own members."""
    product = uow.products.find(organization.id, client_id, at=uow.now)
    if product is None:
        raise ProductUnknown
    if not product.is_accepted:
        raise ProductOnlyOffered
    person = _affiliated(uow, organization.id, question)
    service = uow.services.by_id(product.vendor_id, product.service_id)
    name = str(product.customer_id)
    found = (
        uow.explained_customers.find(service, name, person.user.id)
        if service is not None and person is not None
        else None
    )
    if person is None or found is None or not found.is_member:
        return _unknown_here(question)
    at_product = replace(question, service_slug=product.service_slug, customer=name)
    slug = product.vendor_slug
    return _answer(uow, organization, person, at_product, customer=found, vendor_slug=slug, are_limits_on=are_limits_on)


def _answer(
    uow: UnitOfWork,
    organization: Organization,
    person: PersonInQuestion,
    question: SignInQuestion,
    *,
    customer: CustomerOfUser | None = None,
    vendor_slug: str | None = None,
    are_limits_on: bool,
) -> SignInExplanation:
    """Return the answer to an organization about its member or end user, at the vendor of a product if it is given."""
    user, since = person.user, person.since
    side = CustomerSide.VENDOR if vendor_slug is None else CustomerSide.CUSTOMER
    view = SignInView(organization_id=organization.id, is_told=since is not None, side=side, customer=customer)
    asked = AskedSignIn(uow, vendor_slug or organization.slug, person.seen, question, view)
    scope = Scope(organization_id=organization.id, since=since) if since is not None else None
    return SignInExplanation(
        account=ExplainedAccount(id=user.id, email=user.email, is_told=since is not None),
        walks=asked.walks(are_limits_on=are_limits_on),
        attempts=uow.sign_ins.page(user.id, scope, limit=ATTEMPTS_MAX, offset=0) if scope is not None else (),
        problems=asked.problems(),
        role=explained_roles.explain(uow, organization.id, user.id),
        customer=asked.customer(),
    )


def _affiliated(uow: UnitOfWork, organization_id: UUID, question: SignInQuestion) -> PersonInQuestion | None:
    """Return the member or end user in a question; None where it names none."""
    user_id = question.user_id
    if user_id is None:
        address = canonical_email(question.email, uow.domain_names.to_ascii)
        user_id = uow.sign_ins.affiliated(organization_id, address)
    affiliation = uow.sign_ins.affiliation(organization_id, user_id) if user_id is not None else None
    user = uow.users.by_id(user_id) if user_id is not None and affiliation is not None else None
    return (
        PersonInQuestion(user=user, since=affiliation.since) if user is not None and affiliation is not None else None
    )


def _of_address_alone(walk: SignInWalk) -> SignInWalk:
    """Return a walk for an address alone: without an account only a connection leads on, whatever the walk passes."""
    if walk.way is SignInWay.CONNECTION or (walk.refusal is not None and walk.refusal.rule is Rule.SINGLE_SIGN_ON):
        return walk
    return replace(walk, checks=(_UNKNOWN,))


def _unknown_here(question: SignInQuestion) -> SignInExplanation:
    """Return the answer for an unknown address, which says no more than that."""
    ways = (question.way,) if question.way is not None else WAYS
    walks = tuple(SignInWalk(way=way, connection=None, checks=(_UNKNOWN,)) for way in ways)
    return SignInExplanation(account=None, walks=walks, attempts=(), problems=())
