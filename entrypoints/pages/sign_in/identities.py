"""The page of the accounts at other providers that sign a user in."""

from typing import Annotated
from urllib.parse import urlencode

from core.sign_in import identities
from core.sign_in.identities import IdentityUnknown, LastIdentity
from core.sign_in.upstream import linking
from core.sign_in.upstream.flows import ProviderNotOffered
from core.sign_in.upstream.providers import external_of
from entrypoints.http.sign_in.identities import platform_clients
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page, form_page
from entrypoints.pages.sign_in.upstream import IDENTITIES
from entrypoints.web.answers import Status, see_other
from entrypoints.web.browsers import ProtectedForm, recent
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_browser
from entrypoints.web.routes import Routes

routes = Routes("linked accounts", "Accounts at other providers, in the browser.", refusal_page)


class ProviderForm(ProtectedForm, kw_only=True):
    """The provider whose account is to be linked or unlinked."""

    provider: str = ""


@routes.get(IDENTITIES)
@in_browser
async def show_linked_accounts(call: Call) -> Page:
    """Show the linked accounts, and what else can be linked."""
    linked = await call.read(identities.list_mine)
    known = {identity.provider for identity in linked}
    others = [provider for provider in platform_clients(call) if provider not in known]
    return form_page(call, "identities.html", identities=linked, others=others, link=None)


@routes.post("/app/account/identities/link", refuses=(IdentityUnknown, ProviderNotOffered))
@in_browser
async def begin_to_link(call: Call, form: ProviderForm) -> Page:
    """Show where linking goes on: a link, because a form may lead to no other site."""
    await recent(call)
    link_id = await call.transact(linking.begin, external_of(form.provider), platform_clients(call))
    address = f"/auth/{form.provider}?{urlencode({'link': link_id.reveal()})}"
    return form_page(call, "identities.html", identities=[], others=[], link=(form.provider, address))


@routes.post("/app/account/identities/unlink", refuses=(IdentityUnknown, LastIdentity))
@in_browser
async def unlink_account(call: Call, form: ProviderForm) -> Page | Annotated[None, Status(303)]:
    """Unlink an account, unless it is the last way to sign in."""
    await recent(call)
    await call.transact(identities.unlink_mine, external_of(form.provider))
    return see_other(IDENTITIES)
