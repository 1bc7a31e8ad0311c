"""The API keys of a service, as members of its organization create, read and delete them."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.organizations.access import Operation
from core.services import api_keys
from core.services.api_keys import LIFETIME_DAYS_MAX, ApiKey, ApiKeyUnknown, Permission, TooManyKeys
from core.services.services import ServiceUnknown
from entrypoints.web.input.decoding import Sliced
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import on_service
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "API keys",
    "Keys with which the backend of a service calls `/api/service`. A key belongs to one service and has permissions;"
    " its secret is shown once.",
)

KeyName = Annotated[str, msgspec.Meta(description="What the key is for, with 1 to 100 characters.")]
Permissions = Annotated[list[Permission], msgspec.Meta(description="What the key allows; at least one permission.")]
LifetimeDays = Annotated[
    int, msgspec.Meta(ge=1, le=LIFETIME_DAYS_MAX, description="After how many days the key expires; never by default.")
]


class NewApiKey(msgspec.Struct, kw_only=True):
    """A new key."""

    name: KeyName
    permissions: Permissions
    expires_in_days: LifetimeDays | None = None


class ApiKeyCreated(Record, SecretBody, of=ApiKey, without=("last_used_at",)):
    """The new key with its secret in `key`, which is shown only here. Send it in the `X-Api-Key` header."""

    key: str


class ApiKeyList(msgspec.Struct, kw_only=True):
    """A page of keys, and their total number."""

    api_keys: list[ApiKey]
    total: int


@routes.post(
    "/api/organizations/:org_slug/services/:service_slug/api-keys", status=201, refuses=(TooManyKeys, ServiceUnknown)
)
@on_service(Operation.API_KEY_CREATE)
async def create_api_key(call: Call, org_slug: str, service_slug: str, body: NewApiKey) -> ApiKeyCreated:
    """Create an API key. Store its secret: it cannot be shown again.

    You need the capability that each permission takes: `end_users.view` or `end_users.manage` for users and to read
    subscriptions, `billing.manage` to change subscriptions, `analytics.view` for analytics. The key keeps its
    permissions after your role has changed or you have left.
    """
    key, secret = await call.transact(
        api_keys.create,
        org_slug,
        service_slug,
        name=body.name,
        permissions=body.permissions,
        expires_in_days=body.expires_in_days,
    )
    return ApiKeyCreated.of(key, key=secret.reveal())


@routes.get("/api/organizations/:org_slug/services/:service_slug/api-keys", refuses=(ServiceUnknown,))
@on_service(Operation.API_KEYS_READ)
async def list_api_keys(call: Call, org_slug: str, service_slug: str, query: Sliced) -> ApiKeyList:
    """List the API keys of a service, the newest first, also those that have expired."""
    page = await call.read(api_keys.list_page, org_slug, service_slug, limit=query.limit, offset=query.offset)
    return ApiKeyList(api_keys=list(page.api_keys), total=page.total)


@routes.get(
    "/api/organizations/:org_slug/services/:service_slug/api-keys/:api_key_id",
    refuses=(ServiceUnknown, ApiKeyUnknown),
)
@on_service(Operation.API_KEYS_READ)
async def show_api_key(call: Call, org_slug: str, service_slug: str, api_key_id: UUID) -> ApiKey:
    """Show an API key, without its secret."""
    return await call.read(api_keys.show, org_slug, service_slug, api_key_id)


@routes.delete(
    "/api/organizations/:org_slug/services/:service_slug/api-keys/:api_key_id",
    status=204,
    refuses=(ServiceUnknown, ApiKeyUnknown),
)
@on_service(Operation.API_KEYS_CHANGE)
async def delete_api_key(call: Call, org_slug: str, service_slug: str, api_key_id: UUID) -> None:
    """Delete an API key. It loses access at once."""
    await call.transact(api_keys.delete, org_slug, service_slug, api_key_id)
