"""Workloads: programs that authenticate by a token of their own platform, without a secret (ops/decisions/0071).

A workload belongs to a service, for which its program gets the tokens of the grant `client_credentials`, or to a key of
the organization, for which it gets tokens that stand for the key. It is a credential: a member who may make the secret
or such a key may make it. What a token for a key opens is in `core/organizations/key_callers.py`, the rules are in
`workload_rules.py`, the tokens in `core/openid/workloads.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest, NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import authorization
from core.organizations.access import Operation
from core.organizations.authorization import OrganizationAccess
from core.organizations.keys import OrganizationKey, OrganizationKeyUnknown
from core.services import service_access
from core.services.client_records import Outside
from core.services.client_secrets import ServiceNotConfidential
from core.services.services import Service
from core.services.workload_rules import Workload, WorkloadFields, checked
from core.sessions import callers
from core.sessions.callers import Caller
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

WORKLOADS_MAX: Final = 20


class WorkloadUnknown(NotFound):
    """The service or the key has no workload with that id."""

    default_message = "There is no such workload."


class TooManyWorkloads(BadRequest):
    """The service or the key has the maximum number of workloads."""

    default_message = Wording(
        "There can be at most %(maximum)s workloads here. Delete one that is not in use.", maximum=WORKLOADS_MAX
    )


class TakesNoWorkload(BadRequest):
    """The service gets no tokens by the grant `client_credentials`."""

    default_message = "A service with a security profile authenticates by its own keys alone, and takes no workloads."


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadHolder:
    """The owner of workloads: a service, or a key of the organization."""

    organization_id: UUID
    service_id: UUID | None = None
    key_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldKey:
    """A key of an organization whose workloads ask for tokens, by its id alone."""

    id: UUID
    organization_id: UUID
    organization_slug: str
    organization_status: str
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyWithWorkloads:
    """A key of an organization and its workloads."""

    key: OrganizationKey
    workloads: Sequence[Workload]


def create(uow: UnitOfWork, slug: str, service_slug: str, given: WorkloadFields, *, outside: Outside) -> Workload:
    """Let a program authenticate as a service, which must be confidential."""
    authorized = service_access.authorize_and_lock(uow, slug, service_slug, Operation.WORKLOAD_CREATE)
    service = authorized.service
    require_takes_workloads(service)
    return _add(uow, of_service(service), checked(given, outside), authorized.caller, _named_service(service))


def create_for_key(uow: UnitOfWork, slug: str, key_id: UUID, given: WorkloadFields, *, outside: Outside) -> Workload:
    """Let a program authenticate as a key of the organization; the caller must be able to make such a key."""
    authorized = authorization.authorize_and_lock(uow, slug, Operation.KEY_CREATE)
    # As for the key itself (`core/organizations/keys.py`).
    callers.lock_account(uow)
    fields = checked(given, outside)
    holder, key = _key(uow, authorized, key_id)
    for capability in key.permissions:
        authorized.require(capability)
    return _add(uow, holder, fields, authorized.caller, _named_key(key))


def list_all(uow: UnitOfWork, slug: str, service_slug: str) -> Sequence[Workload]:
    """List the workloads of a service, the newest first."""
    service = service_access.authorize(uow, slug, service_slug, Operation.WORKLOADS_READ).service
    return uow.workloads.of_holder(of_service(service))


def list_of_key(uow: UnitOfWork, slug: str, key_id: UUID) -> KeyWithWorkloads:
    """Return a key of the organization with its workloads, the newest first; raise `OrganizationKeyUnknown`."""
    holder, key = _key(uow, authorization.authorize(uow, slug, Operation.KEYS_READ), key_id)
    return KeyWithWorkloads(key=key, workloads=uow.workloads.of_holder(holder))


def show(uow: UnitOfWork, slug: str, service_slug: str, workload_id: UUID) -> Workload:
    """Return a workload of a service before it is deleted; raise `WorkloadUnknown`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.WORKLOADS_CHANGE).service
    return found_among(uow.workloads.of_holder(of_service(service)), workload_id)


def show_of_key(uow: UnitOfWork, slug: str, key_id: UUID, workload_id: UUID) -> tuple[OrganizationKey, Workload]:
    """Return a key and one of its workloads before the workload is deleted; raise `WorkloadUnknown`."""
    holder, key = _key(uow, authorization.authorize(uow, slug, Operation.KEYS_CHANGE), key_id)
    return key, found_among(uow.workloads.of_holder(holder), workload_id)


def delete(uow: UnitOfWork, slug: str, service_slug: str, workload_id: UUID) -> None:
    """Delete a workload of a service, whose program gets no token any more."""
    service = service_access.authorize(uow, slug, service_slug, Operation.WORKLOADS_CHANGE).service
    _remove(uow, of_service(service), workload_id, _named_service(service))


def delete_of_key(uow: UnitOfWork, slug: str, key_id: UUID, workload_id: UUID) -> None:
    """Delete a workload of a key; its tokens are refused at once."""
    holder, key = _key(uow, authorization.authorize(uow, slug, Operation.KEYS_CHANGE), key_id)
    _remove(uow, holder, workload_id, _named_key(key))


def require_creatable(uow: UnitOfWork, slug: str, service_slug: str) -> None:
    """Authorize the caller to add a workload before they describe it."""
    require_takes_workloads(service_access.authorize(uow, slug, service_slug, Operation.WORKLOAD_CREATE).service)


def takes_workloads(service: Service) -> bool:
    """Return whether a service gets tokens for itself, so that workloads can ask for them."""
    return service.service_type.is_confidential and service.security_profile is None


def require_takes_workloads(service: Service) -> None:
    """Raise `ServiceNotConfidential` or `TakesNoWorkload` for a service that gets no tokens for itself."""
    if not service.service_type.is_confidential:
        raise ServiceNotConfidential
    if service.security_profile is not None:
        raise TakesNoWorkload


def of_service(service: Service) -> WorkloadHolder:
    """Return a service as an owner of workloads."""
    return WorkloadHolder(organization_id=service.organization_id, service_id=service.id)


def found_among(workloads: Sequence[Workload], workload_id: UUID) -> Workload:
    """Return the workload with this id; raise `WorkloadUnknown` without one."""
    found = next((one for one in workloads if one.id == workload_id), None)
    if found is None:
        raise WorkloadUnknown
    return found


def _add(
    uow: UnitOfWork, holder: WorkloadHolder, given: WorkloadFields, made_by: Caller, named: dict[str, Any]
) -> Workload:
    """Store and record a new workload; raise `TooManyWorkloads`. `named` are the details that name its owner."""
    # The organization is locked, so no other transaction adds a workload meanwhile.
    if len(uow.workloads.of_holder(holder)) >= WORKLOADS_MAX:
        raise TooManyWorkloads
    made = Workload(
        id=uow.randomness.new_id(),
        name=given.name,
        issuer=given.issuer,
        jwks_uri=given.jwks_uri,
        jwks=dict(given.jwks) if given.jwks is not None else None,
        audience=given.audience,
        match=dict(given.match),
        created_at=uow.now,
    )
    uow.workloads.add(
        holder,
        made,
        created_by=made_by.maker_id,
        has_second_factor=made_by.session.has_second_factor,
        is_phishing_resistant=made_by.session.is_phishing_resistant,
    )
    _record(uow, AuditAction.WORKLOAD_CREATED, holder, made, named)
    return made


def _remove(uow: UnitOfWork, holder: WorkloadHolder, workload_id: UUID, named: dict[str, Any]) -> None:
    removed = uow.workloads.remove(holder, workload_id)
    if removed is None:
        raise WorkloadUnknown
    _record(uow, AuditAction.WORKLOAD_DELETED, holder, removed, named)


def _key(uow: UnitOfWork, authorized: OrganizationAccess, key_id: UUID) -> tuple[WorkloadHolder, OrganizationKey]:
    """Return a key of the organization, and as an owner of workloads; raise `OrganizationKeyUnknown`."""
    organization_id = authorized.organization.id
    found = next((one for one in uow.organization_keys.of_organization(organization_id) if one.id == key_id), None)
    if found is None:
        raise OrganizationKeyUnknown
    return WorkloadHolder(organization_id=organization_id, key_id=key_id), found


def _named_service(service: Service) -> dict[str, Any]:
    return {"service_id": str(service.id), "service_slug": service.slug}


def _named_key(key: OrganizationKey) -> dict[str, Any]:
    return {"key_id": str(key.id), "key_name": key.name}


def _record(
    uow: UnitOfWork, action: AuditAction, holder: WorkloadHolder, workload: Workload, named: dict[str, Any]
) -> None:
    uow.record(
        action,
        workload.id,
        organization_id=holder.organization_id,
        workload_id=str(workload.id),
        name=workload.name,
        issuer=workload.issuer,
        audience=workload.audience,
        match=workload.match,
        **named,
    )
