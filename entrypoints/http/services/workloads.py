"""The workloads of services and of keys of an organization: creating, listing and deleting them."""

from uuid import UUID

import msgspec

from core.organizations.access import Operation
from core.organizations.keys import OrganizationKeyUnknown
from core.services import workloads
from core.services.client_secrets import ServiceNotConfidential
from core.services.services import ServiceUnknown
from core.services.workload_rules import Workload, WorkloadFields
from core.services.workloads import TakesNoWorkload, TooManyWorkloads, WorkloadUnknown
from entrypoints.shared.services.outside import outside
from entrypoints.web.serving.admission.credentials import in_organization, on_service
from entrypoints.web.serving.answering.bodies import Input
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "workloads",
    "Programs that authenticate at `/auth/token` by a token of their own platform (GitHub Actions, GitLab, Kubernetes,"
    " a cloud) in place of a secret. Each rule names the issuer and the exact values of claims.",
)


class NewWorkload(Input, of=WorkloadFields):
    """A new workload. Without `jwks_uri` and `jwks` the keys are those that the issuer's discovery document names."""


class WorkloadList(msgspec.Struct, kw_only=True):
    """The workloads of a service or of a key, and their number."""

    workloads: list[Workload]
    total: int


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/workloads",
    refuses=(ServiceUnknown, TooManyWorkloads, TakesNoWorkload, ServiceNotConfidential),
)
@on_service(Operation.WORKLOAD_CREATE)
async def create_workload(call: Call, org_slug: str, service_slug: str, body: NewWorkload) -> Workload:
    """Let a program get tokens of a service without its secret.

    It sends the token of its platform to `/auth/token` as `client_assertion`, with the grant `client_credentials` and
    the `client_id` of the service. A service has at most 20 workloads.
    """
    return await call.transact(workloads.create, org_slug, service_slug, body.to(WorkloadFields), outside=outside(call))


@routes.get("/api/organizations/:org_slug/services/:service_slug/workloads", refuses=(ServiceUnknown,))
@on_service(Operation.WORKLOADS_READ)
async def list_workloads(call: Call, org_slug: str, service_slug: str) -> WorkloadList:
    """List the workloads of a service, the newest first, with the last token of each that was refused, and why."""
    found = list(await call.read(workloads.list_all, org_slug, service_slug))
    return WorkloadList(workloads=found, total=len(found))


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/workloads/:workload_id",
    status=204,
    refuses=(ServiceUnknown, WorkloadUnknown),
)
@on_service(Operation.WORKLOADS_CHANGE)
async def delete_workload(call: Call, org_slug: str, service_slug: str, workload_id: UUID) -> None:
    """Delete a workload. Its program gets no more tokens."""
    await call.transact(workloads.delete, org_slug, service_slug, workload_id)


@routes.post(
    "/api/organizations/:slug/keys/:key_id/workloads",
    refuses=(OrganizationKeyUnknown, TooManyWorkloads),
)
@in_organization(Operation.KEY_CREATE)
async def create_workload_of_key(call: Call, slug: str, key_id: UUID, body: NewWorkload) -> Workload:
    """Let a program get tokens that stand for a key of the organization.

    It sends the token of its platform to `/auth/token` as `client_assertion`, with the grant `client_credentials` and
    the `client_id` `key:<id>`, and what it gets as `Bearer` wherever the key is taken. You need every permission of the
    key. A key has at most 20 workloads.
    """
    return await call.transact(workloads.create_for_key, slug, key_id, body.to(WorkloadFields), outside=outside(call))


@routes.get("/api/organizations/:slug/keys/:key_id/workloads", refuses=(OrganizationKeyUnknown,))
@in_organization(Operation.KEYS_READ)
async def list_workloads_of_key(call: Call, slug: str, key_id: UUID) -> WorkloadList:
    """List the workloads of a key, the newest first, with the last token of each that was refused, and why."""
    found = list((await call.read(workloads.list_of_key, slug, key_id)).workloads)
    return WorkloadList(workloads=found, total=len(found))


@routes.delete(
    "/api/organizations/:slug/keys/:key_id/workloads/:workload_id",
    status=204,
    refuses=(OrganizationKeyUnknown, WorkloadUnknown),
)
@in_organization(Operation.KEYS_CHANGE)
async def delete_workload_of_key(call: Call, slug: str, key_id: UUID, workload_id: UUID) -> None:
    """Delete a workload of a key. The tokens that it got are refused at once."""
    await call.transact(workloads.delete_of_key, slug, key_id, workload_id)
