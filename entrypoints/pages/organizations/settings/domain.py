"""The pages of the custom domain: members and holders of setup links claim it, prove it and give it up."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.organizations.link_callers import Part, SetupLinkDead, serve
from core.organizations.settings import domain
from core.organizations.settings.domain import (
    DomainChanged,
    DomainClaim,
    DomainUnanswered,
    DomainUnproved,
    DomainUnset,
    DomainVerifiedElsewhere,
)
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, setup_pages, shows_again
from entrypoints.pages.organizations.setup import DOMAIN as SETUP_DOMAIN
from entrypoints.pages.organizations.setup import (
    LIMITS,
    PartQuery,
    done,
    part_page,
    require_own_form,
    sent,
    steps_of_page,
)
from entrypoints.pages.organizations.setup import opened as opened_by_link
from entrypoints.web.serving.admission import hosts
from entrypoints.web.serving.admission.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.admission.credentials import holding_setup_link, in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()
setup_routes: Routes = setup_pages()

DOMAIN: Final = "/app/organizations/:org_slug/domain"
# What the page of the domain says when its proof is not found.
REFUSALS: Final = (DomainUnset, DomainUnproved, DomainUnanswered, DomainVerifiedElsewhere)


class DomainForm(ProtectedForm, kw_only=True):
    """The domain to claim, and the state that the page has shown."""

    domain: str = ""
    seen_state: str = ""


class DomainDeletionForm(ProtectedForm, kw_only=True):
    """The claim to give up, as the page has shown it."""

    claim_id: str = ""


@routes.get(DOMAIN)
@in_console(Operation.DOMAIN_READ)
async def show_domain_page(
    call: Call,
    org_slug: str,
    *,
    query: DoneQuery | None = None,
    form: DomainForm | DomainDeletionForm | None = None,
    refusal: Refusal | None = None,
    found: Sequence[str] | None = (),
    is_checked: bool = False,
) -> Page:
    """Show the custom domain of an organization, its records, and the last check."""
    standing, claim = await opened(call, org_slug, Operation.DOMAIN_READ, domain.find)
    values = _values(call, claim, form.domain if isinstance(form, DomainForm) else "")
    return console_page(
        call,
        "organizations/settings/domain.html",
        standing,
        program=Program("custom_domain_set_domain", org_slug, body={"domain": values["typed"] or "id.example.com"}),
        lacks_change=standing.lacks(Operation.DOMAIN_CHANGE),
        done=query.done if query is not None else "",
        refusal=refusal,
        **values,
        problems=problems_of(refusal),
        seen_state=domain.seen_state_of(claim),
        failure=refusal.message if refusal is not None and is_checked else "",
        found=found,
        page=f"{page_of(org_slug)}/domain",
    )


@routes.post(DOMAIN, refuses=(BadRequest, DomainChanged))
@in_console(Operation.DOMAIN_CHANGE)
@shows_again(show_domain_page, BadRequest, DomainChanged)
async def claim_domain(call: Call, org_slug: str, form: DomainForm) -> PageOrRedirect:
    """Claim a domain; programs use `PUT /api/organizations/:slug/domain`."""
    own_names = hosts.own_names(call.installation.settings)
    await call.transact(domain.set_domain, org_slug, form.domain, own_names=own_names, seen_state=form.seen_state)
    return after(f"{page_of(org_slug)}/domain", "domain-claimed")


@routes.post(f"{DOMAIN}/verify", refuses=REFUSALS)
@in_console(Operation.DOMAIN_CHANGE)
@shows_again(show_domain_page, DomainUnset)
async def check_domain(call: Call, org_slug: str) -> PageOrRedirect:
    """Ask for the TXT record now; programs use `POST /api/organizations/:slug/domain/verify`."""
    claim = await call.read(domain.find_to_verify, org_slug)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    try:
        await call.transact(domain.verify, org_slug, claim, records)
    except (BadRequest, DomainVerifiedElsewhere) as refusal:
        return await show_domain_page(call, org_slug, refusal=refusal, found=records, is_checked=True)
    return after(f"{page_of(org_slug)}/domain", "domain-verified")


@routes.get(f"{DOMAIN}/delete", refuses=(DomainUnset,))
@in_console(Operation.DOMAIN_CHANGE)
async def ask_to_give_domain_up(call: Call, org_slug: str) -> Page:
    """Show what ends with the domain, in numbers, and ask whether it is to be given up."""
    standing, ends = await opened(call, org_slug, Operation.DOMAIN_CHANGE, domain.show_ends)
    return console_page(
        call,
        "organizations/settings/domain_deletion.html",
        standing,
        program=Program("custom_domain_delete_domain", org_slug),
        ends=ends,
        page=f"{page_of(org_slug)}/domain",
    )


@routes.post(f"{DOMAIN}/delete", refuses=(DomainUnset,))
@in_console(Operation.DOMAIN_CHANGE)
@shows_again(show_domain_page, DomainUnset)
async def give_domain_up(call: Call, org_slug: str, form: DomainDeletionForm) -> PageOrRedirect:
    """Give the domain up that the page has shown; programs use `DELETE /api/organizations/:slug/domain`."""
    await call.transact(domain.delete, org_slug, claim_id=form.claim_id)
    return after(f"{page_of(org_slug)}/domain", "domain-deleted")


@setup_routes.get(SETUP_DOMAIN, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_setup_of_domain(
    call: Call,
    *,
    query: PartQuery | None = None,
    form: DomainForm | None = None,
    refusal: Refusal | None = None,
    found: Sequence[str] | None = (),
    is_checked: bool = False,
) -> Page:
    """Show the custom domain, its TXT record, and how to publish it."""
    setup, claim = await opened_by_link(call, Operation.DOMAIN_READ, domain.find)
    is_verified = claim is not None and claim.proof.verified_at is not None
    steps = {"claim": claim is not None}
    if claim is not None:
        steps["state"] = is_verified
    step = "claim" if form is not None else "state" if is_checked else query.step if query is not None else ""
    return await part_page(
        call,
        "organizations/settings/domain.html",
        setup,
        Part.DOMAIN,
        query=query,
        refusal=refusal,
        **_values(call, claim, form.domain if form is not None else ""),
        **steps_of_page(steps, step),
        lacks_change=None,
        seen_state="",
        failure=refusal.message if refusal is not None and is_checked else "",
        found=found,
    )


@setup_routes.post(SETUP_DOMAIN, limits=LIMITS, refuses=(SetupLinkDead, FormRefused))
@holding_setup_link
@shows_again(show_setup_of_domain, BadRequest)
async def set_domain(call: Call, form: DomainForm) -> PageOrRedirect:
    """Claim a domain; members use `PUT /api/organizations/:slug/domain`."""
    await sent(call, form, domain.set_domain, form.domain, own_names=hosts.own_names(call.installation.settings))
    return done(SETUP_DOMAIN, "domain-claimed")


@setup_routes.post(f"{SETUP_DOMAIN}/verify", limits=LIMITS, refuses=(SetupLinkDead, FormRefused, *REFUSALS))
@holding_setup_link
async def verify_domain(call: Call, form: ProtectedForm) -> PageOrRedirect:
    """Ask the name servers of the domain for the TXT record now, and show what they said."""
    require_own_form(call, form)
    claim = await call.read(serve, domain.find)
    if claim is None:
        return see_other(SETUP_DOMAIN)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    try:
        await sent(call, form, domain.verify, claim, records)
    except (BadRequest, DomainVerifiedElsewhere) as refusal:
        return await show_setup_of_domain(call, refusal=refusal, found=records, is_checked=True)
    return done(SETUP_DOMAIN, "domain-verified")


@setup_routes.get(f"{SETUP_DOMAIN}/delete", refuses=(SetupLinkDead, DomainUnset))
@holding_setup_link
async def ask_to_delete_domain(call: Call) -> Page:
    """Show what ends with the domain, and ask whether it is to be given up."""
    setup, ends = await opened_by_link(call, Operation.DOMAIN_CHANGE, domain.show_ends)
    return await part_page(call, "organizations/settings/domain_deletion.html", setup, Part.DOMAIN, ends=ends)


@setup_routes.post(
    f"{SETUP_DOMAIN}/delete", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused, DomainUnset)
)
@holding_setup_link
async def delete_domain(call: Call, form: DomainDeletionForm) -> None:
    """Give the domain up that the page has shown; members use `DELETE /api/organizations/:slug/domain`."""
    await sent(call, form, domain.delete, claim_id=form.claim_id)
    call.headers["Location"] = SETUP_DOMAIN


def _values(call: Call, claim: DomainClaim | None, typed: str) -> dict[str, Any]:
    """Return what both pages show of a claim, and what was typed."""
    return {
        "claimed": domain.shown(claim.proof) if claim is not None else None,
        "target": urlsplit(call.installation.settings.base_url).hostname,
        "typed": typed,
    }
