"""The page of a setup link for SAML: where the application is, what to enter there, and what it has sent since."""

from collections.abc import Mapping
from typing import Any, Final

from quart import Response

from core.errors import BadRequest
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.setup_links import SetupLinkDead
from core.saml import setup
from core.saml.messages import NameIdFormat
from entrypoints.pages.declaring import setup_pages, shows_again
from entrypoints.pages.languages import marked
from entrypoints.pages.organizations.setup import (
    LIMITS,
    SetupForm,
    part_page,
    problems_of,
    protected_cookie,
    setup_cookie,
)
from entrypoints.pages.rendering import Page, PageOrRedirect
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import FormRefused
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = setup_pages()

SAML: Final = "/app/setup/parts/saml"
# The names of users in assertions that the page offers.
NAMES: Final = (
    (NameIdFormat.EMAIL_ADDRESS.value, marked("Email address")),
    (NameIdFormat.PERSISTENT.value, marked("Persistent id")),
    (NameIdFormat.UNSPECIFIED.value, marked("Unspecified")),
)


class SamlSetupForm(SetupForm, kw_only=True):
    """The metadata of the application, or its entity id and address; and what assertions say about a user."""

    metadata: str = ""
    entity_id: str = ""
    acs_url: str = ""
    name_id_format: str = ""
    email_attribute: str = ""


# What Microsoft Entra is as a service provider, the same for all of its customers.
ENTRA: Final = SamlSetupForm(
    entity_id="urn:federation:MicrosoftOnline",
    acs_url="https://login.microsoftonline.com/login.srf",
    email_attribute="http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
)


async def _page(call: Call, form: SamlSetupForm | None = None, refusal: BadRequest | None = None) -> Response:
    shown = await call.read(setup.show, setup_cookie(call))
    base_url = call.installation.settings.base_url
    problems = problems_of(refusal)
    return await part_page(
        call,
        "setup_saml.html",
        shown.setup,
        status=400 if problems else 200,
        shown=shown,
        typed=form or _stored(shown),
        problems=problems,
        names=NAMES,
        entra=ENTRA,
        entity_id=f"{base_url}/saml/{shown.setup.organization_slug}/{shown.service.slug}",
    )


@routes.get(SAML, refuses=(SetupLinkDead,))
@public
async def show_saml(call: Call) -> Page:
    """Show how SAML is set up for the service of the link, and what the application has sent."""
    return await _page(call)


@routes.post(SAML, limits=LIMITS, body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(SetupLinkDead, FormRefused))
@public
@shows_again(_page, BadRequest)
async def set_saml(call: Call, form: SamlSetupForm) -> PageOrRedirect:
    """Turn SAML on; members use `POST /api/organizations/:org_slug/services/:service_slug/saml`."""
    cookie = protected_cookie(call, form)
    # Reading metadata takes a thread, so a dead link is refused before.
    await call.read(setup.show, cookie)
    changes = await _changes(call, form)
    await call.transact(setup.configure, cookie, changes, email_attribute=form.email_attribute.strip())
    return see_other(SAML)


@routes.post("/app/setup/parts/saml/certificate", status=303, limits=LIMITS, refuses=(SetupLinkDead, FormRefused))
@public
async def create_certificate(call: Call, form: SetupForm) -> None:
    """Create the certificate that the application trusts, if there is none."""
    cookie = protected_cookie(call, form)
    shown = await call.read(setup.show, cookie)
    if shown.certificate is None:
        # A certificate has whole seconds.
        valid_from = call.installation.clock().replace(microsecond=0)
        made = await call.installation.saml.make_certificate(f"{shown.service.slug} by SAML", valid_from=valid_from)
        await call.transact(setup.add_certificate, cookie, made, valid_from=valid_from)
    call.headers["Location"] = SAML


async def _changes(call: Call, form: SamlSetupForm) -> Mapping[str, Any]:
    """Return what the form changes; what metadata say is followed, whatever is typed beside them."""
    typed = {
        "entity_id": form.entity_id.strip(),
        "acs_url": form.acs_url.strip(),
        "name_id_format": form.name_id_format or None,
    }
    if not form.metadata.strip():
        return typed
    fields = await call.installation.saml.read_metadata(form.metadata, at=call.installation.clock())
    return {**fields, "name_id_format": fields["name_id_format"] or typed["name_id_format"]}


def _stored(shown: setup.SamlSetup) -> SamlSetupForm:
    stored = shown.configuration
    return SamlSetupForm(
        entity_id=stored.entity_id or "",
        acs_url=stored.acs_url or "",
        name_id_format=stored.effective_format.value,
        email_attribute=(stored.attribute_mapping or {}).get("email", ""),
    )
