"""The pages of a mailed link that makes its reader the owner of an organization that a vendor has made for a customer.

The first one is for every reader of the link and says little: a mail scanner opens it, too. The second one is for the
person whose address it is, signed in.
"""

from typing import Annotated, Final

import msgspec

from core.customers import claiming
from core.customers.claiming import Claimable, ClaimOfOther, ClaimUnusable, OutsideMailDomain, SetupPart
from core.errors import BadRequest, Forbidden, Refusal
from core.organizations.management import SlugTaken, TooManyPending
from core.rate_limits import RateLimit
from core.text import slug_of_name
from entrypoints.pages.console.frame import page_of
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.forms import MailedLink
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import message_on_page, problems_of, refusal_page
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_browser_in_person, public
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "claims",
    "Becoming the owner of an organization that a vendor has made for a customer, in a browser.",
    refusal_page,
)

CLAIMS: Final = "/app/claims"
OWN: Final = "/app/claims/own"
# What a vendor may go on setting up, and what each part is.
PARTS: Final = {
    SetupPart.UPSTREAM: (
        marked("Connections to your identity provider"),
        marked("By which your people sign in to this product alone."),
    ),
    SetupPart.MAIL_DOMAIN: (
        marked("Your mail domains"),
        marked("Whose addresses this product leads to your own sign-in."),
    ),
    SetupPart.SCIM: (marked("Provisioning by SCIM"), marked("By which your directory says who may use this product.")),
    SetupPart.GROUPS: (marked("Roles by groups"), marked("Which of your groups get which roles in this product.")),
}
# Of boxes to tick.
PARTS_OFFERED: Final = [(part.value, title, about, None) for part, (title, about) in PARTS.items()]


class ClaimForm(ProtectedForm, kw_only=True):
    """The name and the slug that the new owner chooses, and what the vendor may go on setting up."""

    token: str = ""
    name: str = ""
    slug: str = ""
    vendor_setup: Annotated[list[str], msgspec.Meta(description="The parts that the vendor may set up.")] = (
        msgspec.field(default_factory=list[str])
    )


@routes.get(CLAIMS, refuses=(ClaimUnusable,))
@public
async def show_claim(call: Call, query: MailedLink) -> Page:
    """Show the vendor, the service and the address that the link was mailed to; opening the page changes nothing.

    Its button leads to the sign-in.
    """
    link = await call.read(claiming.inspect, query.token)
    returns.remember_address(call, link.email)
    return form_page(
        call,
        "customers/claiming_link.html",
        link=link,
        own=returns.link_page(OWN, token=query.token),
        brand=await brand_of(call, link.relation.vendor_id),
    )


@routes.get(OWN, refuses=(ClaimUnusable, ClaimOfOther, Forbidden))
@in_browser_in_person
async def show_own_claim(call: Call, query: MailedLink) -> PageOrRedirect:
    """Show the vendor's setup to the person who may become its owner."""
    found = await call.read(claiming.show, query.token)
    if found.claimed_slug is not None:
        return see_other(page_of(found.claimed_slug))
    await browsers.recent_for_form(call)
    return await _page(call, query.token, found)


@routes.post(
    OWN,
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(ClaimUnusable, ClaimOfOther, Forbidden, BadRequest, SlugTaken, TooManyPending),
)
@in_browser_in_person
async def press_claim(call: Call, form: ClaimForm) -> PageOrRedirect:
    """Become the owner, under a name and a slug of one's own; programs cannot do this."""
    await browsers.recent(call, page=returns.link_page(OWN, token=form.token))
    try:
        slug = await call.transact(
            claiming.claim, form.token, name=form.name.strip(), slug=form.slug.strip(), vendor_setup=form.vendor_setup
        )
    except (BadRequest, SlugTaken) as refusal:
        if isinstance(refusal, ClaimUnusable | OutsideMailDomain):
            raise
        found = await call.read(claiming.show, form.token)
        return await _page(call, form.token, found, form=form, refusal=refusal)
    return see_other(page_of(slug))


async def _page(
    call: Call, token: str, found: Claimable, *, form: ClaimForm | None = None, refusal: Refusal | None = None
) -> Page:
    relation = found.link.relation
    name = relation.customer_name or ""
    is_taken = isinstance(refusal, SlugTaken)
    problems = problems_of(BadRequest.of_field("slug", message_on_page(refusal)) if is_taken else refusal)
    return form_page(
        call,
        "customers/claiming.html",
        status=refusal.code.status if refusal is not None else 200,
        token=token,
        link=found.link,
        made=found.made,
        form=form or ClaimForm(name=name, slug=slug_of_name(name)),
        parts_offered=PARTS_OFFERED,
        problems=problems,
        problem=message_on_page(refusal) if refusal is not None and not problems else "",
        brand=await brand_of(call, relation.vendor_id),
        here=returns.link_page(OWN, token=token),
    )
