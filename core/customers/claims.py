"""The preview of claims: what the tokens of a person would say, for people of the vendor who set its claims.

The code that issues tokens makes the payloads, for a session that does not exist: nothing is stored or issued. A
preview takes confirmed members, end users who have signed in, and for a customer the people that the vendor sees
(`people.py`); it refuses any other account alike, whether or not it exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.customers import customers
from core.customers.choices import of_customers
from core.customers.customers import CustomerUnknown
from core.email_addresses import canonical_email
from core.errors import NotFound
from core.lazy_dataclasses import dataclass
from core.openid import scopes, token_grants
from core.openid.token_grants import IssuedTokens
from core.organizations.access import Operation
from core.organizations.choices import Choices
from core.saml import assertions
from core.saml.assertions import Attribute
from core.secrets import Secret
from core.services import management, own_claims, service_access
from core.services.found_services import people_choices
from core.services.services import Service
from core.sessions.claim_sources import OwnClaim, value_of
from core.sessions.client_grants import ClientGrant
from core.sessions.sessions import ABSOLUTE_LIFETIME
from core.sessions.token_additions import TokenSubject
from core.sessions.tokens import token_grant

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class PersonNotShown(NotFound):
    """The vendor may not see the tokens of this account, whether or not it exists."""

    default_message = (
        "You may not see a person with this id. You can see members of your organization, people who have signed in to"
        " the service, and people of the customer."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedTokens:
    """What tokens and assertions would say; `values` has each claim of the product, with None for a claim left out.

    `user_info` is None without the scope `openid`, and `attributes` for a service without SAML. `left_out` are claims
    that are too large for access tokens.
    """

    service: Service
    issued: IssuedTokens
    audience: str
    user_info: dict[str, Any] | None = field(repr=False)
    attributes: tuple[Attribute, ...] | None = field(repr=False)
    values: Sequence[tuple[OwnClaim, Any]] = field(repr=False)
    left_out: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewRequest:
    """The tokens to show: of a person, for a customer or none, with some or all scopes, with these or saved claims."""

    user_id: UUID | None = None
    email: str | None = None
    customer_id: UUID | None = None
    scope: str | None = None
    claims: Sequence[OwnClaim] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewChoices:
    """The people whose tokens can be shown, by their addresses, and the customers, by their ids."""

    people: Choices
    customers: Choices


def preview_choices(
    uow: UnitOfWork, slug: str, service_slug: str, *, find_person: str, find_customer: str
) -> PreviewChoices:
    """Return what the form of a preview lets its sender choose from."""
    authorized = service_access.authorize(uow, slug, service_slug, Operation.CLAIMS_PREVIEW)
    return PreviewChoices(
        people=people_choices(uow, authorized, find_person),
        customers=of_customers(uow, authorized.service, find_customer),
    )


def preview(uow: UnitOfWork, slug: str, service_slug: str, request: PreviewRequest) -> PreviewedTokens:
    """Return what the tokens of a person would say; raise `PersonNotShown`, `CustomerUnknown` and `BadRequest`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.CLAIMS_PREVIEW).service
    if request.claims is not None:
        service = replace(service, claims=list(request.claims))
        own_claims.require_claims(service.claims, service.group_claims)
        management.require_apart(uow, service)
    user_id = _named(uow, service, request)
    subject = _subject(uow, service, user_id, request.customer_id)
    subject = replace(subject, additions=replace(subject.additions, claims=service.claims))
    asked = (
        [*scopes.ALL, *service.scope_names]
        if request.scope is None
        else scopes.known(request.scope, service.scope_names)
    )
    grant = token_grant(
        subject,
        Secret(""),
        session_expires_at=uow.now + ABSOLUTE_LIFETIME,
        client_grant=ClientGrant(scopes=asked, is_confidential=service.service_type.is_confidential),
    )
    has_info = scopes.OPENID in asked
    fitting = subject.own_access_claims
    return PreviewedTokens(
        service=service,
        issued=token_grants.issued(uow, grant),
        audience=str(service.client_id),
        user_info=scopes.claims_of(uow, subject, asked) if has_info else None,
        attributes=_attributes(uow, service, subject),
        values=[(one, value_of(one.source, subject.caller, subject.additions.facts)) for one in service.claims],
        left_out=[
            one.claim
            for one in service.claims
            if one.in_access_token and one.claim in subject.own_claims and one.claim not in fitting
        ],
    )


def _named(uow: UnitOfWork, service: Service, request: PreviewRequest) -> UUID:
    """Return the account; the organization names its own users by the ids that it knows."""
    if request.user_id is None:
        return _by_address(uow, request.email)
    if request.customer_id is not None:
        return request.user_id
    return uow.known_ids.defer_accounts(service.organization_id, [request.user_id])()[request.user_id]


def _by_address(uow: UnitOfWork, email: str | None) -> UUID:
    user = uow.users.by_email(canonical_email(email or "", uow.domain_names.to_ascii))
    if user is None:
        raise PersonNotShown
    return user.id


def _subject(uow: UnitOfWork, service: Service, user_id: UUID, customer_id: UUID | None) -> TokenSubject:
    if customer_id is not None:
        customer = customers.find(uow, service, customer_id)
        if not customer.is_accepted:
            raise CustomerUnknown
        if uow.customer_people.find(service, customer, user_id) is None:
            raise PersonNotShown
    subject = uow.token_previews.subject(service, user_id, customer_id)
    if subject is None or (customer_id is not None and subject.caller.place.customer is None):
        raise PersonNotShown
    return subject


def _attributes(uow: UnitOfWork, service: Service, subject: TokenSubject) -> tuple[Attribute, ...] | None:
    """Return the attributes of an assertion; None for a service without SAML."""
    provider = uow.saml_providers.by_id(service.organization_id, service.id)
    caller = subject.caller
    standing = uow.saml_providers.defer_standing(provider, caller.account.id)() if provider is not None else None
    if provider is None or standing is None or not provider.configuration.enabled:
        return None
    return assertions.attributes(
        provider.configuration.attribute_mapping,
        user_id=caller.account.id,
        email=caller.account.email,
        standing=standing,
        subject=subject,
    )
