"""The pages of a setup link: the button that begins, the parts to set, and the page of the domain (decisions 13.7).

They need no account, and use none: a browser that is signed in does here what the link allows, and no more. The pages
of the other parts are in the areas of their capabilities: `pages/saml/setup.py`, `pages/scim/setup.py`,
`pages/audit/setup.py`. They use `part_page`, `setup_cookie`, `protected_cookie` and `SetupForm` of it.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import msgspec
from quart import Response

from core.errors import BadRequest
from core.organizations import setup_links
from core.organizations.settings import domain
from core.organizations.settings.domain import DomainUnanswered, DomainUnproved, DomainUnset, DomainVerifiedElsewhere
from core.organizations.setup_links import OpenSetup, Part, SetupLinkDead
from core.rate_limits import RateLimit
from core.sessions import browser_sessions
from entrypoints.pages.brands import brand_of
from entrypoints.pages.declaring import setup_pages, shows_again
from entrypoints.pages.languages import marked
from entrypoints.pages.rendering import Page, PageOrRedirect, page
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving import browsers, hosts
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = setup_pages()

COOKIE: Final = "gatehouse_setup"
# A day of work; the link itself stays valid for longer.
COOKIE_LIFETIME: Final = timedelta(hours=12)
SETUP: Final = "/app/setup"
DOMAIN: Final = "/app/setup/parts/domain"
LIMITS: Final = (RateLimit.SIGN_IN_GROUP,)
# What the page of the domain says when its proof is not found.
DOMAIN_REFUSALS: Final = (DomainUnset, DomainUnproved, DomainUnanswered, DomainVerifiedElsewhere)
# What each part is called, and its page.
PARTS: Final[Mapping[Part, tuple[str, str]]] = {
    Part.SAML: (marked("Single sign-on by SAML"), "/app/setup/parts/saml"),
    Part.SCIM: (marked("Provisioning by SCIM"), "/app/setup/parts/scim"),
    Part.UPSTREAM: (marked("Your identity provider"), "/app/setup/parts/upstream"),
    Part.DOMAIN: (marked("Your own domain"), DOMAIN),
    Part.SIEM: (marked("Audit log to a SIEM"), "/app/setup/parts/siem"),
}


class SetupForm(ProtectedForm, kw_only=True):
    """A form of the pages, whose token belongs to the cookie of the setup."""


class KindQuery(Query, kw_only=True):
    """The kind of provider whose steps a page shows."""

    provider: Annotated[str, msgspec.Meta(description="The kind of provider; the page offers the kinds.")] = ""


class DomainForm(SetupForm, kw_only=True):
    """The domain to claim."""

    domain: str = ""


class DomainDeletionForm(SetupForm, kw_only=True):
    """The claim to give up, as the page has shown it."""

    claim_id: str = ""


async def _domain_page(
    call: Call,
    *,
    form: DomainForm | None = None,
    refusal: BadRequest | None = None,
    failure: str = "",
    found: Sequence[str] | None = (),
) -> Response:
    setup = await call.read(setup_links.present, setup_cookie(call), Part.DOMAIN)
    claim = await call.read(domain.find_by_link, setup_cookie(call))
    return await part_page(
        call,
        "setup_domain.html",
        setup,
        status=400 if refusal is not None or failure else 200,
        claimed=domain.shown(claim.proof) if claim is not None else None,
        target=urlsplit(call.installation.settings.base_url).hostname,
        typed=form.domain if form is not None else "",
        problem=refusal.details[0].message if refusal is not None else "",
        failure=failure,
        found=found,
    )


@routes.get("/app/setup/:secret", limits=LIMITS, refuses=(SetupLinkDead,))
@public
async def show_link(call: Call, secret: str) -> Page:
    """Show what a setup link is for, with a button; opening the page begins nothing."""
    setup = await call.read(setup_links.inspect, secret)
    brand = await brand_of(call, setup.organization_id)
    titles = [PARTS[part][0] for part in setup.parts]
    token = browsers.form_token_before_sign_in(call)
    return _protected(
        page(call, "setup_link.html", secret=secret, setup=setup, titles=titles, form_token=token, brand=brand)
    )


@routes.post("/app/setup/:secret", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused))
@public
async def press_begin(call: Call, secret: str, form: ProtectedForm) -> None:
    """Exchange the secret of a setup link for a cookie."""
    browsers.require_own_site(call)
    browsers.require_form_token_before_sign_in(call, form)
    cookie = await call.transact(setup_links.enter, secret)
    call.set_cookie(browsers.cookie_name(call, COOKIE), cookie.reveal(), lifetime=COOKIE_LIFETIME)
    call.headers["Location"] = SETUP


@routes.get(SETUP, refuses=(SetupLinkDead,))
@public
async def show_setup(call: Call) -> Page:
    """Show the parts that a setup link allows to set, and how far each of them is."""
    setup = await call.read(setup_links.present, setup_cookie(call))
    progress = await call.read(setup_links.progress, setup_cookie(call))
    return await part_page(call, "setup.html", setup, parts=[(*PARTS[part], one) for part, one in progress.items()])


@routes.get(DOMAIN, refuses=(SetupLinkDead,))
@public
async def show_domain(call: Call) -> Page:
    """Show the custom domain, its TXT record, and how to publish it."""
    return await _domain_page(call)


@routes.post(DOMAIN, limits=LIMITS, refuses=(SetupLinkDead, FormRefused))
@public
@shows_again(_domain_page, BadRequest)
async def set_domain(call: Call, form: DomainForm) -> PageOrRedirect:
    """Claim a domain; members use `PUT /api/organizations/:slug/domain`."""
    cookie = protected_cookie(call, form)
    own_names = hosts.own_names(call.installation.settings)
    await call.transact(domain.set_by_link, cookie, form.domain, own_names=own_names)
    return see_other(DOMAIN)


@routes.post("/app/setup/parts/domain/verify", limits=LIMITS, refuses=(SetupLinkDead, FormRefused, *DOMAIN_REFUSALS))
@public
async def verify_domain(call: Call, form: SetupForm) -> PageOrRedirect:
    """Ask the name servers of the domain for the TXT record now, and show what they said."""
    cookie = protected_cookie(call, form)
    claim = await call.read(domain.find_by_link, cookie)
    if claim is None:
        return see_other(DOMAIN)
    records = await call.installation.resolver.txt_records(claim.proof.record_name)
    try:
        await call.transact(domain.verify_by_link, cookie, claim, records)
    except (BadRequest, DomainVerifiedElsewhere) as refusal:
        return await _domain_page(call, failure=refusal.message, found=records)
    return see_other(DOMAIN)


@routes.get(f"{DOMAIN}/delete", refuses=(SetupLinkDead, DomainUnset))
@public
async def ask_to_delete_domain(call: Call) -> Page:
    """Show what ends with the domain, and ask whether it is to be given up."""
    ends = await call.read(domain.show_ends_by_link, setup_cookie(call))
    return await part_page(call, "setup_domain_deletion.html", ends.setup, ends=ends)


@routes.post(f"{DOMAIN}/delete", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused, DomainUnset))
@public
async def delete_domain(call: Call, form: DomainDeletionForm) -> None:
    """Give the domain up that the page has shown; members use `DELETE /api/organizations/:slug/domain`."""
    await call.transact(domain.delete_by_link, protected_cookie(call, form), form.claim_id)
    call.headers["Location"] = DOMAIN


async def part_page(call: Call, template: str, setup: OpenSetup, *, status: int = 200, **values: Any) -> Response:
    """Return a page of a setup, whose forms carry the token of its cookie."""
    token = browser_sessions.form_token_of(setup_cookie(call)).reveal()
    brand = await brand_of(call, setup.organization_id)
    return _protected(page(call, template, status=status, setup=setup, form_token=token, brand=brand, **values))


def _protected(response: Response) -> Response:
    # Never the path, which may contain the secret. Without any referrer, a browser would not say where a form is from.
    response.headers["Referrer-Policy"] = "strict-origin"
    return response


def setup_cookie(call: Call) -> str:
    """Return the cookie of a setup; empty without one."""
    return call.request.cookies.get(browsers.cookie_name(call, COOKIE), "")


def protected_cookie(call: Call, form: SetupForm) -> str:
    """Return the cookie of a form that our own page has sent; raise `FormRefused` for any other."""
    browsers.require_own_site(call)
    cookie = setup_cookie(call)
    browsers.require_token(form, browser_sessions.form_token_of(cookie))
    return cookie
