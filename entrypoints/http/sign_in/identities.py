"""Identities of the caller: accounts at other providers that sign them in."""

from urllib.parse import urlencode

import msgspec

from core.sign_in import identities
from core.sign_in.identities import IdentityItem, IdentityUnknown, LastIdentity
from core.sign_in.upstream import beginning
from core.sign_in.upstream.flows import ProviderNotOffered
from core.sign_in.upstream.providers import linked_of
from entrypoints.shared.sign_in.identities import external_of, signs_in
from entrypoints.web.serving.admission.credentials import in_person, signed_in
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "identities",
    "Accounts at other providers that sign a user in. With a service's token, only the accounts for that service.",
)


class LinkBegun(msgspec.Struct, kw_only=True):
    """The address at which the user continues, in their browser, to link the account."""

    authorization_url: str


@routes.get("/api/user/identities")
@signed_in
async def list_identities(call: Call) -> list[IdentityItem]:
    """List the linked accounts, the oldest first.

    The session of a service, or by an organization's identity provider, sees its context's; any other sees all.
    """
    return await call.read(identities.list_mine)


@routes.post("/api/user/identities/:provider/link", refuses=(IdentityUnknown, ProviderNotOffered))
@in_person
async def link_identity(call: Call, provider: str) -> LinkBegun:
    """Begin to link an account of a provider. Open the address in the user's browser, within 15 minutes."""
    link_id = await call.transact(beginning.ask_to_link, external_of(call, provider))
    query = urlencode({"link": link_id.reveal()})
    return LinkBegun(authorization_url=f"{call.installation.settings.base_url}/auth/{provider}?{query}")


@routes.delete("/api/user/identities/:provider", status=204, refuses=(IdentityUnknown, LastIdentity))
@in_person
async def unlink_identity(call: Call, provider: str) -> None:
    """Unlink the account of a provider, unless it is the last way to sign in."""
    await call.transact(identities.unlink_mine, linked_of(provider), signs_in(call))
