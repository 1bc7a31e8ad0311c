"""What members do with the services of their organization: create, list, read, change and delete them.

A confidential service (`web` or `api`) has a secret beside its client id. The secret is shown once, when the service is
created or the secret is rotated. A service that becomes confidential has none until a rotation, and one with a security
profile never has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, Conflict, ErrorCode, Refusal, all_checked, all_valid
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import authorization, roles
from core.organizations.access import Capability, Operation
from core.organizations.departures import MadeCredentialKind, record_maker
from core.organizations.organizations import Organization
from core.secrets import Secret, hash_token
from core.services import admission, own_claims, plans, service_access
from core.services.admission import AssignedService
from core.services.assignments import Assignment
from core.services.client_records import Outside, host_of
from core.services.plans import Plan
from core.services.services import (
    Admission,
    CustomerPolicy,
    Individuals,
    Service,
    ServiceFields,
    ServiceRole,
    ServiceType,
    checked_scopes,
    individuals_by_default,
)
from core.sessions.caller_limits import Act
from core.text import checked_public_name, checked_slug
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_LISTS: Final = ("redirect_uris", "post_logout_redirect_uris", "audiences", "group_claims", "machine_scopes")
_KEYS: Final = frozenset({"jwks", "jwks_uri"})
# What an impersonator may set, because no credential leads there; all other fields are closed to them.
_LEADS_NOWHERE: Final = frozenset({"slug", "name", "codehost_scopes", "websuite_scopes", "officesuite_scopes", "roles"})
_WHERE_IT_LEADS: Final = frozenset(field.name for field in fields(ServiceFields)) - _KEYS - _LEADS_NOWHERE
_CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    "slug": checked_slug,
    "name": checked_public_name,
    **{
        field: partial(checked_scopes, field=field)
        for field in ("codehost_scopes", "websuite_scopes", "officesuite_scopes")
    },
}


class ServiceLimitExceeded(Refusal):
    """The organization has as many services as its tier allows."""

    code = ErrorCode.SERVICE_LIMIT_EXCEEDED
    default_message = (
        "Your organization has as many services as it may have. Delete one, or ask the operators of the platform to"
        " lift the limit."
    )

    def __init__(self, maximum: int) -> None:
        super().__init__(
            Wording(
                "Your organization may have %(maximum)s services, and has as many. Delete one, or ask the operators of"
                " the platform to lift the limit.",
                maximum=maximum,
            )
        )


class ServiceSlugTaken(Conflict):
    """Another service of the organization has this slug."""

    default_message = "Another service of this organization has this slug already. Choose another one."


class ServiceChanged(Conflict):
    """The service is no longer as the caller saw it."""

    default_message = (
        "This service has been changed meanwhile. Check what is shown now, and send the form again if you still want"
        " it."
    )


class AudienceTaken(Conflict):
    """Another service, possibly of another organization, has the audience."""

    default_message = "Another service has one of these audiences already. Choose another one."


class ServiceSubscribed(BadRequest):
    """Users are subscribed to the service."""

    default_message = "This service has active subscriptions. Cancel them before you delete it."


class CustomersRemain(Conflict):
    """Organizations use the service as customers."""

    default_message = "Organizations use this service as its customers. End them first."


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How many services the organization has and may have (null means unlimited), and the name of its tier."""

    current_services: int
    max_services: int | None
    tier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedService(AssignedService):
    """A new service with its default plan and, if it authenticates by a secret, that secret."""

    default_plan: Plan
    usage: Usage
    client_secret: Secret | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedService(AssignedService):
    """A service with the numbers of its plans and of its live subscriptions."""

    plan_count: int
    subscription_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicesPage:
    """The services that match, and the usage of the organization."""

    services: Sequence[CountedService]
    usage: Usage


def create(
    uow: UnitOfWork, slug: str, given: ServiceFields, *, outside: Outside, assigned: Sequence[Assignment] | None = None
) -> CreatedService:
    """Create a service with its default plan, within the limit of the organization; `assigned` as `change` takes it."""
    authorized = authorization.authorize_and_lock(uow, slug, Operation.SERVICE_CREATE)
    service = _new(uow, authorized.organization, given, outside)
    # The organization is locked, so no other transaction creates a service meanwhile.
    usage = uow.services.usage(authorized.organization)
    if usage.max_services is not None and usage.current_services >= usage.max_services:
        raise ServiceLimitExceeded(usage.max_services)
    secret = uow.randomness.token() if service.has_client_secret else None
    if not uow.services.add(service, client_secret_hash=hash_token(secret.reveal()) if secret else None):
        raise ServiceSlugTaken
    if secret is not None:
        record_maker_of_secret(uow, service, authorized.caller.maker_id)
    _claim_audiences(uow, service)
    _require_groups(uow, service)
    _require_role_scopes(uow, service)
    default_plan = plans.default_plan(uow, service)
    uow.plans.add(default_plan)
    record(uow, AuditAction.SERVICE_CREATED, service)
    admission.begin(uow, authorized, service, assigned)
    return CreatedService(
        service=service,
        assignments=admission.shown(uow, authorized, service),
        default_plan=default_plan,
        usage=replace(usage, current_services=usage.current_services + 1),
        client_secret=secret,
    )


def list_page(
    uow: UnitOfWork, slug: str, *, service_type: ServiceType | None, limit: int | None, offset: int
) -> ServicesPage:
    """List the services of an organization, the oldest first, optionally of one type."""
    authorized = authorization.authorize(uow, slug, Operation.SERVICES_LIST)
    organization = authorized.organization
    page = uow.elsewhere.services.page(organization, service_type=service_type, limit=limit, offset=offset)
    if Capability.ORG_MEMBERS_VIEW in authorized.capabilities:
        return page
    return replace(page, services=[replace(one, assignments=None) for one in page.services])


def read(uow: UnitOfWork, slug: str, service_slug: str) -> Service:
    """Return a service."""
    return service_access.authorize(uow, slug, service_slug, Operation.SERVICE_READ).service


def change_assigned(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    changes: dict[str, Any],
    *,
    outside: Outside,
    assigned: Sequence[Assignment] | None,
) -> AssignedService:
    """Do what `change` does, and return the service with its assignments."""
    change(uow, slug, service_slug, changes, outside=outside, assigned=assigned)
    return admission.read(uow, slug, service_slug)


def change(
    uow: UnitOfWork,
    slug: str,
    service_slug: str,
    changes: dict[str, Any],
    *,
    outside: Outside,
    seen: str | None = None,
    assigned: Sequence[Assignment] | None = None,
) -> Service:
    """Change the named fields of a service; lists are replaced, and without a difference nothing is recorded.

    `assigned` replaces the assignments, which requires `org.members.view`; None leaves them as they are. Raise
    `ServiceChanged` when the `version` of the service is not the one that the caller saw, if they name one.
    """
    authorized = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SERVICE_UPDATE)
    if seen is not None:
        require_seen(authorized.service, seen)
    after = authorized.service
    if changes or assigned is None:
        after = apply(uow, after, changes, outside=outside)
    admission.follow(uow, authorized, authorized.service, after, assigned)
    # The keys of a service authenticate it, like its secret.
    if any(getattr(authorized.service, name) != getattr(after, name) for name in _KEYS):
        authorized.caller.require(Act.CREDENTIAL)
    gives = any(_gives(authorized.service, after, name) for name in _WHERE_IT_LEADS)
    if gives or scopes_of_roles(after.roles) != scopes_of_roles(authorized.service.roles):
        authorized.forbid_lasting()
    return after


def apply(uow: UnitOfWork, before: Service, changes: dict[str, Any], *, outside: Outside) -> Service:
    """Store and record these changes to a service; raise `BadRequest` when there are none or one is invalid."""
    if not changes:
        raise BadRequest("Name at least one field to change.")
    after = _valid(before, _with_individuals(changes, before), outside)
    if after == before:
        return before
    after = replace(after, updated_at=uow.now)
    if before.serves_customers and not after.serves_customers:
        # Locked, so that no customer begins meanwhile.
        uow.services.lock(before)
        _require_no_customers(uow, before)
    if after.audiences != before.audiences:
        _claim_audiences(uow, after)
    if after.group_claims != before.group_claims:
        _require_groups(uow, after)
    _require_role_scopes(uow, after, before)
    if after.claims != before.claims:
        require_apart(uow, after)
    uow.services.save(after)
    if not after.has_client_secret:
        uow.services.set_client_secret(after, None, previous_until=None)
    record(uow, AuditAction.SERVICE_UPDATED, after, changes=after.changes(before))
    return after


def _gives(before: Service, after: Service, name: str) -> bool:
    """Return whether a field has another value now, and not only less of the earlier one."""
    old, new = getattr(before, name), getattr(after, name)
    if name in _LISTS:
        return not set(new) <= set(old)
    if isinstance(new, Admission):
        return new.lets_in_more_than(old)
    # Removing the profile allows more.
    return new != old and (new is not None or name == "security_profile")


def scopes_of_roles(roles: Iterable[ServiceRole]) -> dict[str, frozenset[str]]:
    """Return the scopes that roles of a service list, by the names of the roles that list any."""
    return {role.name: frozenset(role.scopes) for role in roles if role.scopes}


def require_apart(uow: UnitOfWork, service: Service) -> None:
    """Raise `BadRequest` for a claim with the name of an attribute in the SAML configuration."""
    taken = own_claims.clashing_claim(service.claims, uow.saml_configurations.view(service).attribute_names)
    if taken is not None:
        raise BadRequest.of_field(
            "claims", Wording("%(name)s is the name of an attribute of SAML assertions already.", name=taken)
        )


def require_seen(service: Service, seen: str) -> None:
    """Raise `ServiceChanged` unless this is the version of the service that the caller saw."""
    if service.version != seen:
        raise ServiceChanged


def delete(uow: UnitOfWork, slug: str, service_slug: str, *, note: str = "") -> None:
    """Delete a service and everything that belongs to it; raise `ServiceSubscribed` while it has live subscriptions.

    The audit log alone keeps the note.
    """
    service = service_access.authorize_and_lock(uow, slug, service_slug, Operation.SERVICE_DELETE).service
    # Locked, so that no user subscribes and no customer begins between the check and the deletion.
    uow.services.lock(service)
    _require_no_customers(uow, service)
    if uow.subscriptions.are_live_of_service(service.organization_id, service.id):
        raise ServiceSubscribed
    uow.services.remove(service)
    record(uow, AuditAction.SERVICE_DELETED, service, **({"audit_only": {"note": note}} if note else {}))


def _new(uow: UnitOfWork, organization: Organization, given: ServiceFields, outside: Outside) -> Service:
    wanted = _with_individuals({field.name: getattr(given, field.name) for field in fields(ServiceFields)})
    service = Service(
        id=uow.randomness.new_id(),
        organization_id=organization.id,
        client_id=uow.randomness.new_id(),
        created_at=uow.now,
        updated_at=uow.now,
        **wanted,
    )
    return _valid(service, wanted, outside)


def _with_individuals(changes: dict[str, Any], before: Service | None = None) -> dict[str, Any]:
    """Return changes with the default for use without a customer, where they leave that open."""
    customers = changes.get("customers", before.customers if before is not None else CustomerPolicy.NONE)
    has_other_customers = before is None or (customers is not CustomerPolicy.NONE) != before.serves_customers
    present = before.individuals if before is not None and not has_other_customers else None
    if before is not None and has_other_customers and customers is CustomerPolicy.NONE:
        _require_access_instead(before, changes)
    return changes | {"individuals": changes.get("individuals", present) or individuals_by_default(customers)}


def _require_access_instead(before: Service, changes: dict[str, Any]) -> None:
    """Raise `BadRequest` where a change would open a service to everyone that was closed to use without a customer."""
    if before.individuals is Individuals.NONE and changes.get("access", before.access) is Admission.EVERYONE:
        raise BadRequest.of_field(
            "access",
            "Without customers this service would be open to everyone. Set access to members or assigned, or set"
            " individuals to all before.",
        )


def _require_no_customers(uow: UnitOfWork, service: Service) -> None:
    if uow.service_customers.has_any(service):
        raise CustomersRemain
    uow.service_customers.end_offers(service)


def _claim_audiences(uow: UnitOfWork, service: Service) -> None:
    """Raise `BadRequest` or `AudienceTaken` for audiences that are not the organization's, or another service's."""
    for audience in service.audiences:
        if not uow.verified_domains.cover(service.organization_id, host_of(audience)):
            raise BadRequest.of_field(
                "audiences",
                Wording("%(audience)s is not under a verified domain of your organization.", audience=audience),
            )
    if uow.services.claim_audiences(service) is not None:
        raise AudienceTaken


def _require_groups(uow: UnitOfWork, service: Service) -> None:
    """Raise `BadRequest` for ids of no group of the organization's directory."""
    named = set(service.group_claims) - {own_claims.ALL_GROUPS}
    if named - {str(one) for one in uow.group_rules.known_groups(service.organization_id, sorted(named))}:
        raise BadRequest.of_field(
            "group_claims", "Your directory has no group with one of these ids. Choose groups of your organization."
        )


def _require_role_scopes(uow: UnitOfWork, after: Service, before: Service | None = None) -> None:
    """Raise `BadRequest` for scopes in roles that no service of the organization has."""
    listed = {role.name: role.scopes for role in before.roles} if before is not None else {}
    for role in after.roles:
        roles.checked_scopes(
            uow,
            after.organization_id,
            role.scopes,
            field="roles",
            before=listed.get(role.name, ()),
            beside=after.scope_names,
        )


def _valid(service: Service, changes: dict[str, Any], outside: Outside) -> Service:
    """Return a service with the stored form of these changes; raise one `BadRequest` for all invalid ones."""
    distinct = {name: list(dict.fromkeys(value)) if name in _LISTS else value for name, value in changes.items()}
    wanted = replace(service, **distinct)
    checked, _ = all_valid(lambda: all_checked(distinct, _CHECKS), lambda: wanted.require_valid_uris(outside))
    return replace(wanted, **checked)


def record_maker_of_secret(uow: UnitOfWork, service: Service, user_id: UUID) -> None:
    """Record who made the secret of a service."""
    record_maker(uow, MadeCredentialKind.CLIENT_SECRET, service.organization_id, service.id, user_id)


def record(uow: UnitOfWork, action: AuditAction, service: Service, **details: Any) -> None:
    """Record an action on a service."""
    uow.record(
        action,
        service.id,
        organization_id=service.organization_id,
        event_only={"service_id": str(service.id)},
        **service.named,
        **details,
    )
