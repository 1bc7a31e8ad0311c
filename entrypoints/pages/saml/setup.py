"""The page of a setup link for SAML: where the application is, what to enter there, and what it has sent since."""

from typing import Final

from core.errors import BadRequest
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.setup_links import SetupLinkDead
from core.saml import setup
from core.saml.configuration import SamlNotSetUp
from entrypoints.pages.console.setup_steps import kind_of
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    KindQuery,
    SetupForm,
    part_page,
    protected_cookie,
    setup_cookie,
    verify_holder,
)
from entrypoints.pages.saml import application_kinds
from entrypoints.pages.saml.configuration import NAMES, changes_of, copies_of, proposed
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.browsers import FormRefused
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = setup_pages()

SAML: Final = "/app/setup/parts/saml"


class CertificateForm(SetupForm, kw_only=True):
    """A wish for a certificate, and the kind of application whose steps go on."""

    provider: str = ""


class SamlDeletionForm(SetupForm, kw_only=True):
    """The application to delete, as the page has shown it."""

    shown_entity_id: str = ""


class SamlSetupForm(CertificateForm, kw_only=True):
    """The metadata of the application, or its entity id and address; and what assertions say about a user."""

    metadata: str = ""
    entity_id: str = ""
    acs_url: str = ""
    name_id_format: str = ""
    email_attribute: str = ""


@routes.get(SAML, refuses=(SetupLinkDead,))
@public
async def show_saml(
    call: Call, *, query: KindQuery | None = None, form: SamlSetupForm | None = None, refusal: BadRequest | None = None
) -> Page:
    """Show how SAML is set up for the service of the link, with the steps of a kind, and what the application sent."""
    shown = await call.read(setup.show, setup_cookie(call))
    stored = application_kinds.kind_of_application(shown.configuration.entity_id or "")
    kind = kind_of(application_kinds.KINDS, (form or query or KindQuery()).provider) or stored
    if kind is None and form is not None:
        kind = application_kinds.OTHER
    entity_id = f"{call.installation.settings.base_url}/saml/{shown.setup.organization_slug}/{shown.service.slug}"
    problems = problems_of(refusal)
    return await part_page(
        call,
        "saml/setup.html",
        shown.setup,
        status=400 if problems else 200,
        shown=shown,
        kinds=application_kinds.KINDS,
        kind=kind,
        typed=form or proposed(shown.configuration, kind, stored),
        problems=problems,
        names=NAMES,
        copies=copies_of(entity_id),
    )


@routes.post(
    SAML,
    limits=LIMITS,
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    verify_sender=verify_holder,
    refuses=(SetupLinkDead, FormRefused),
)
@public
@shows_again(show_saml, BadRequest)
async def set_saml(call: Call, form: SamlSetupForm) -> PageOrRedirect:
    """Turn SAML on; members use `POST /api/organizations/:org_slug/services/:service_slug/saml`."""
    cookie = protected_cookie(call, form)
    # Reading metadata takes a thread, so a dead link is refused before.
    await call.read(setup.show, cookie)
    changes = await changes_of(call, form)
    await call.transact(setup.configure, cookie, changes, email_attribute=form.email_attribute.strip())
    # With the kind of application that is stored now, whose fields are filled in.
    return see_other(SAML)


@routes.post("/app/setup/parts/saml/certificate", status=303, limits=LIMITS, refuses=(SetupLinkDead, FormRefused))
@public
async def create_certificate(call: Call, form: CertificateForm) -> None:
    """Create the certificate that the application trusts, if there is none."""
    cookie = protected_cookie(call, form)
    shown = await call.read(setup.show, cookie)
    if shown.certificate is None:
        # A certificate has whole seconds.
        valid_from = call.installation.clock().replace(microsecond=0)
        made = await call.installation.saml.make_certificate(f"{shown.service.slug} by SAML", valid_from=valid_from)
        await call.transact(setup.add_certificate, cookie, made, valid_from=valid_from)
    call.headers["Location"] = _address(form.provider)


@routes.get(f"{SAML}/delete", refuses=(SetupLinkDead, SamlNotSetUp))
@public
async def ask_to_delete_saml(call: Call) -> Page:
    """Show what ends with the application, and ask whether it is to be deleted."""
    shown = await call.read(setup.show_ends, setup_cookie(call))
    return await part_page(call, "saml/setup_deletion.html", shown.setup, shown=shown)


@routes.post(f"{SAML}/delete", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused, SamlNotSetUp))
@public
async def delete_saml(call: Call, form: SamlDeletionForm) -> None:
    """Delete the application that the page has shown, and the certificates.

    Members use `DELETE /api/organizations/:org_slug/services/:service_slug/saml`, which keeps the settings.
    """
    await call.transact(setup.remove, protected_cookie(call, form), form.shown_entity_id)
    call.headers["Location"] = SAML


def _address(word: str) -> str:
    known = kind_of(application_kinds.KINDS, word)
    return SAML + (f"?provider={known.word}" if known is not None else "")
