"""The keys of an organization: its owner and its admins create, list and delete them."""

from typing import Annotated
from uuid import UUID

import msgspec

from core.organizations import keys
from core.organizations.access import Capability, Operation
from core.organizations.keys import (
    LIFETIME_DAYS_MAX,
    MadeByKey,
    OrganizationKey,
    OrganizationKeyUnknown,
    TooManyOrganizationKeys,
)
from entrypoints.web.input.decoding import Query, Sliced
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "organization keys",
    "Keys with which programs call the management interface of an organization, in the `X-Api-Key` header. A key acts"
    " for the member who made it: it opens what its permissions and that member's own allow, and ends with the"
    " membership.",
)


class NewOrganizationKey(msgspec.Struct, kw_only=True):
    """A new key."""

    name: Annotated[str, msgspec.Meta(description="What the key is for, with 1 to 100 characters.")]
    permissions: list[Capability]
    expires_in_days: (
        Annotated[
            int,
            msgspec.Meta(
                ge=1, le=LIFETIME_DAYS_MAX, description="After how many days the key expires; never by default."
            ),
        ]
        | None
    ) = None
    # `secret` names what it is about, as the answer does.
    has_secret: bool = msgspec.field(name="secret", default=True)


class OrganizationKeyCreated(SecretBody, kw_only=True):
    """The new key and its secret, which is shown only here. Send it in the `X-Api-Key` header.

    A key without a secret comes alone: its workloads get tokens that are sent as `Bearer`.
    """

    key: OrganizationKey
    secret: str | msgspec.UnsetType = msgspec.UNSET


class OrganizationKeyList(msgspec.Struct, kw_only=True):
    """The keys of an organization, and their number."""

    keys: list[OrganizationKey]
    total: int


class MadeByKeyList(msgspec.Struct, kw_only=True):
    """A page of what a key has made, and the number of all of it."""

    things: list[MadeByKey]
    total: int


class KeyDeletion(Query, kw_only=True):
    """What ends with a key."""

    with_made: Annotated[
        bool, msgspec.Meta(description="Whether the API keys and SCIM tokens end too that the key has made.")
    ] = False


@routes.post("/api/organizations/:slug/keys", refuses=(TooManyOrganizationKeys,))
@in_organization(Operation.KEY_CREATE)
async def create_organization_key(call: Call, slug: str, body: NewOrganizationKey) -> OrganizationKeyCreated:
    """Create a key. Store its secret: it cannot be shown again.

    The key acts for you: it never does what you may not do at that moment, and ends when you leave the organization.
    It opens no keys, no ownership, and nothing of your account. The API keys, SCIM tokens and setup links that it makes
    allow no more than the key.
    """
    key, secret = await call.transact(
        keys.create,
        slug,
        name=body.name,
        permissions=body.permissions,
        expires_in_days=body.expires_in_days,
        has_secret=body.has_secret,
    )
    return OrganizationKeyCreated(key=key, secret=secret.reveal() if secret is not None else msgspec.UNSET)


@routes.get("/api/organizations/:slug/keys")
@in_organization(Operation.KEYS_READ)
async def list_organization_keys(call: Call, slug: str) -> OrganizationKeyList:
    """List the keys, the newest first, also those that have expired in the last 90 days."""
    found = list(await call.read(keys.list_all, slug))
    return OrganizationKeyList(keys=found, total=len(found))


@routes.delete("/api/organizations/:slug/keys/:key_id", status=204, refuses=(OrganizationKeyUnknown,))
@in_organization(Operation.KEYS_CHANGE)
async def delete_organization_key(call: Call, slug: str, key_id: UUID, query: KeyDeletion) -> None:
    """Delete a key. It loses access at once, and so do the setup links that it has made.

    The API keys and SCIM tokens that it has made stay, so that you can replace the key, unless you ask to end them.
    """
    await call.transact(keys.delete, slug, key_id, with_made=query.with_made)


@routes.get("/api/organizations/:slug/keys/:key_id/made", refuses=(OrganizationKeyUnknown,))
@in_organization(Operation.KEYS_READ)
async def list_made_by_organization_key(call: Call, slug: str, key_id: UUID, query: Sliced) -> MadeByKeyList:
    """List the API keys, SCIM tokens and valid setup links that a key has made, the newest first."""
    page = await call.read(keys.list_made, slug, key_id, limit=query.limit, offset=query.offset)
    return MadeByKeyList(things=list(page.things), total=page.total)
