"""Workloads of a key of an organization: programs that get tokens which stand for the key (ops/decisions/0071).

A member who may make such a key may make them. What such a token opens is in `core/organizations/key_callers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import access
from core.organizations.access import Operation
from core.organizations.keys import OrganizationKey, OrganizationKeyUnknown
from core.services import workloads
from core.services.client_records import Outside
from core.services.workload_rules import Workload, WorkloadFields, checked
from core.services.workloads import WorkloadHolder, WorkloadUnknown
from core.sessions import callers

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyWithWorkloads:
    """A key of an organization and its workloads."""

    key: OrganizationKey
    workloads: Sequence[Workload]


def create(uow: UnitOfWork, slug: str, key_id: UUID, given: WorkloadFields, *, outside: Outside) -> Workload:
    """Let a program authenticate as a key of the organization; the caller must be able to make such a key."""
    authorized = access.authorize_and_lock(uow, slug, Operation.KEY_CREATE)
    # As for the key itself (`core/organizations/keys.py`).
    callers.lock_account(uow)
    organization_id = authorized.organization.id
    fields = checked(given, outside)
    key = _key(uow, organization_id, key_id)
    for capability in key.permissions:
        authorized.require(capability)
    made = workloads.add(
        uow,
        WorkloadHolder(organization_id=organization_id, key_id=key.id),
        fields,
        made_by=authorized.caller,
    )
    workloads.record(uow, AuditAction.WORKLOAD_CREATED, organization_id, made, **_named_key(key))
    return made


def list_all(uow: UnitOfWork, slug: str, key_id: UUID) -> KeyWithWorkloads:
    """Return a key of the organization with its workloads, the newest first; raise `OrganizationKeyUnknown`."""
    organization_id = access.authorize(uow, slug, Operation.KEYS_READ).organization.id
    holder = WorkloadHolder(organization_id=organization_id, key_id=key_id)
    return KeyWithWorkloads(key=_key(uow, organization_id, key_id), workloads=uow.workloads.of_holder(holder))


def show(uow: UnitOfWork, slug: str, key_id: UUID, workload_id: UUID) -> tuple[OrganizationKey, Workload]:
    """Return a key and one of its workloads before the workload is deleted; raise `WorkloadUnknown`."""
    organization_id = access.authorize(uow, slug, Operation.KEYS_CHANGE).organization.id
    holder = WorkloadHolder(organization_id=organization_id, key_id=key_id)
    return _key(uow, organization_id, key_id), workloads.found_among(uow.workloads.of_holder(holder), workload_id)


def delete(uow: UnitOfWork, slug: str, key_id: UUID, workload_id: UUID) -> None:
    """Delete a workload of a key; its tokens are refused at once."""
    organization_id = access.authorize(uow, slug, Operation.KEYS_CHANGE).organization.id
    key = _key(uow, organization_id, key_id)
    removed = uow.workloads.remove(WorkloadHolder(organization_id=organization_id, key_id=key.id), workload_id)
    if removed is None:
        raise WorkloadUnknown
    workloads.record(uow, AuditAction.WORKLOAD_DELETED, organization_id, removed, **_named_key(key))


def _key(uow: UnitOfWork, organization_id: UUID, key_id: UUID) -> OrganizationKey:
    found = next((one for one in uow.organization_keys.of_organization(organization_id) if one.id == key_id), None)
    if found is None:
        raise OrganizationKeyUnknown
    return found


def _named_key(key: OrganizationKey) -> dict[str, Any]:
    return {"key_id": str(key.id), "key_name": key.name}
