"""The SCIM tokens of an organization, as its members create and revoke them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec

from core.organizations.access import Operation
from core.scim import tokens
from core.scim.tokens import FoundGroups, ScimToken, ScimTokenUnknown, TooManyTokens
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import in_organization
from entrypoints.web.serving.answering.bodies import Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "SCIM tokens",
    "Tokens with which the directory of an organization calls `/scim/v2`. A token belongs to one organization; it is"
    " shown once.",
)

TokenName = Annotated[str, msgspec.Meta(description="What the token is for, with 1 to 100 characters.")]


class ScimTokenCreation(msgspec.Struct, kw_only=True):
    """A new token."""

    name: TokenName
    expires_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    groups: Annotated[
        str,
        msgspec.Meta(
            description="What the directory finds under `/Groups`: `organization`, the organization as one group; or"
            " `directory`, groups that it creates, and that rules can give roles to."
        ),
    ] = FoundGroups.ORGANIZATION


class CreatedScimToken(Record, SecretBody, of=ScimToken, without=("last_used_at",)):
    """The new token with its secret in `token`, which is shown only here. Send it in the `Authorization` header."""

    token: str


class ScimTokenList(msgspec.Struct, kw_only=True):
    """The tokens of an organization, and their number."""

    tokens: list[ScimToken]
    total: int


@routes.post("/api/organizations/:org_slug/scim-tokens", refuses=(TooManyTokens,))
@in_organization(Operation.SCIM_TOKEN_CREATE)
async def create_scim_token(call: Call, org_slug: str, body: ScimTokenCreation) -> CreatedScimToken:
    """Create a SCIM token. Store its secret: it cannot be shown again.

    You also need `org.members.manage`, because a directory changes members. The token changes, suspends and removes
    only members whose role you could give them now, also after your own role has changed or you have left.
    """
    token, secret = await call.transact(
        tokens.create, org_slug, name=body.name, expires_at=body.expires_at, groups=body.groups
    )
    return CreatedScimToken.of(token, token=secret.reveal())


@routes.get("/api/organizations/:org_slug/scim-tokens")
@in_organization(Operation.SCIM_TOKENS_READ)
async def list_scim_tokens(call: Call, org_slug: str) -> ScimTokenList:
    """List the SCIM tokens of the organization, the newest first, also those that have expired."""
    found = await call.read(tokens.list_all, org_slug)
    return ScimTokenList(tokens=list(found), total=len(found))


@routes.delete("/api/organizations/:org_slug/scim-tokens/:token_id", status=204, refuses=(ScimTokenUnknown,))
@in_organization(Operation.SCIM_TOKENS_CHANGE)
async def revoke_scim_token(call: Call, org_slug: str, token_id: UUID) -> None:
    """Revoke a SCIM token. It loses access at once."""
    await call.transact(tokens.revoke, org_slug, token_id)
