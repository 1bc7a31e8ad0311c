"""The page of the accounts at other providers that sign a user in."""

from urllib.parse import urlencode

from core.accounts.sign_in_methods import Provider
from core.sign_in import identities
from core.sign_in.identities import IdentityUnknown, LastIdentity
from core.sign_in.upstream import beginning
from core.sign_in.upstream.flows import ProviderNotOffered
from core.sign_in.upstream.providers import linked_of
from entrypoints.pages.console.account import account_page, after
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.pages.sign_in.upstream.providers import IDENTITIES
from entrypoints.shared.sign_in.identities import external_of, offered_by_platform, signs_in
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_in_person
from entrypoints.web.serving.calls import Call

routes = account_pages()


class ProviderForm(ProtectedForm, kw_only=True):
    """The provider whose account is to be linked or unlinked."""

    provider: str = ""


@routes.get(IDENTITIES)
@in_browser
async def show_identities(call: Call, *, query: DoneQuery | None = None, refusal: LastIdentity | None = None) -> Page:
    """Show the external accounts that are linked to yours, and what else can be linked."""
    linked = await call.read(identities.list_mine)
    known = await call.read(identities.linked_here)
    others = [provider for provider in offered_by_platform(call) if provider not in known]
    can_sign_in = signs_in(call)
    return account_page(
        call,
        "sign_in/identities.html",
        done=query.done if query is not None else "",
        refusal=refusal,
        identities=[(one, can_sign_in(Provider(one.provider), one.provider_user_id)) for one in linked],
        others=others,
    )


@routes.post(f"{IDENTITIES}/link", refuses=(IdentityUnknown, ProviderNotOffered))
@in_browser_in_person
async def begin_to_link(call: Call, form: ProviderForm) -> Page:
    """Show where linking goes on: a link, because a form may lead to no other site."""
    await recent(call, page=IDENTITIES)
    link_id = await call.transact(beginning.ask_to_link, external_of(call, form.provider))
    address = f"/auth/{form.provider}?{urlencode({'link': link_id.reveal()})}"
    return account_page(call, "sign_in/identities_link.html", provider=form.provider, address=address)


@routes.post(f"{IDENTITIES}/unlink", refuses=(IdentityUnknown,))
@in_browser_in_person
@shows_again(show_identities, LastIdentity)
async def unlink_account(call: Call, form: ProviderForm) -> PageOrRedirect:
    """Unlink an account, unless it is the last way to sign in."""
    await recent(call, page=IDENTITIES)
    await call.transact(identities.unlink_mine, linked_of(form.provider), signs_in(call))
    return after(IDENTITIES, "unlinked")
