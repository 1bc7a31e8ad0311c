"""The page on which a user who is signed in chooses the organization to work in."""

from core.errors import Forbidden, NotFound, OrganizationNotActive
from core.organizations import management
from core.organizations.organizations import Organization
from core.organizations.session_strength import SecondFactorRequired
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.pages.frame.returns import ReturnQuery, WayForm
from entrypoints.pages.frame.routes import sign_in_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.pages.sign_in.conclusion import CHOOSE_ORGANIZATION, SET_UP
from entrypoints.web.serving.admission.credentials import in_browser_in_person
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

routes = sign_in_pages()


class ChoiceForm(WayForm, kw_only=True):
    """The slug of the organization."""

    org_slug: str = ""


@routes.get(CHOOSE_ORGANIZATION)
@on_custom_hosts
@in_browser_in_person
async def show_organizations(call: Call, query: ReturnQuery) -> Page:
    """Show your active organizations, or the one that the sign-in was for."""
    kept = await returns.kept_return(call, query)
    wanted = kept.organization_slug if kept is not None else None
    mine = [one.organization for one in await call.read(management.list_mine) if one.is_usable]
    return form_page(
        call,
        "sign_in/choose_organization.html",
        **await returns.context(call, query),
        organizations=[one for one in mine if wanted in {None, one.slug} and _is_at_host(call, one)],
        present=call.in_browser.organization_id,
    )


@routes.post(CHOOSE_ORGANIZATION, refuses=(NotFound, Forbidden, OrganizationNotActive))
@on_custom_hosts
@in_browser_in_person
async def choose_organization(call: Call, form: ChoiceForm) -> PageOrRedirect:
    """Work in an organization from now on; one that requires a second factor leads to setting it up.

    Programs use `POST /api/organizations/:slug/select`.
    """
    if call.custom_host is not None and form.org_slug != call.custom_host.organization_slug:
        raise NotFound("There is no such organization at this address.")
    try:
        await call.transact(management.select, form.org_slug)
    except SecondFactorRequired:
        if call.custom_host is not None:
            # The page of the refusal leads to the base URL, the only place with pages of the account.
            raise
        return see_other(form.way.on(SET_UP))
    return await conclusion.go_on(call, form.way, is_organization_chosen=True)


def _is_at_host(call: Call, organization: Organization) -> bool:
    return call.custom_host is None or organization.id == call.custom_host.organization_id
