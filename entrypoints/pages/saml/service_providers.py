"""The pages of an application that signs its users in to a service by SAML, in the console and of a setup link.

The holder of a link says where the application is, and creates its certificate; the console says the rest.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from quart import Response

from core.errors import BadRequest, Refusal
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.organizations.link_callers import Part, SetupLinkDead, on_service
from core.saml import service_providers
from core.saml.certificates import NoCertificate
from core.saml.configuration import DEFAULT_MAPPING, LogoutBinding, SamlNotSetUp
from core.saml.service_providers import SamlApplication, SamlCertificateChanged, SamlConfigurationChanged
from core.services.services import ServiceUnknown
from entrypoints.pages.console.csv_files import as_file
from entrypoints.pages.console.frame import Program, after, path_in_interface
from entrypoints.pages.console.setup_steps import ProviderKind, kind_of
from entrypoints.pages.frame.forms import DoneQuery, text_of_file
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, setup_pages, shows_again
from entrypoints.pages.organizations.setup import (
    LIMITS,
    PartQuery,
    done,
    part_page,
    require_own_form,
    sent,
    steps_of_page,
    verify_holder,
)
from entrypoints.pages.organizations.setup import opened as opened_by_link
from entrypoints.pages.saml import application_kinds
from entrypoints.pages.saml.configuration import NAMES, changes_of, copies_of, proposed
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.web.serving.admission.browsers import FormRefused, ProtectedForm
from entrypoints.web.serving.admission.credentials import holding_setup_link, on_service_in_console
from entrypoints.web.serving.answering.answers import Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()
setup_routes: Routes = setup_pages()
SAML: Final = "/app/organizations/:org_slug/services/:service_slug/single-sign-on"
TAB: Final = "/single-sign-on"
PEM: Final = "text/plain"
Certificate: TypeAlias = Annotated[Response, Media(PEM, example="-----BEGIN CERTIFICATE-----\n…")]
BINDINGS: Final = (
    (LogoutBinding.REDIRECT.value, marked("By redirect (HTTP-Redirect)")),
    (LogoutBinding.POST.value, marked("By a form (HTTP-POST)")),
)
# What assertions say about a user beside the address, by the name of the field of the form.
ATTRIBUTES: Final = {
    "id": marked("Attribute of the permanent id"),
    "name": marked("Attribute of the name"),
    "role": marked("Attribute of the role, of members only"),
    "groups": marked("Attribute of the groups, of members only"),
}


class SamlQuery(DoneQuery, kw_only=True):
    """Whose steps to show, and what was just done."""

    provider: Annotated[str, msgspec.Meta(description="The kind of application, as a word.", max_length=20)] = ""


class ApplicationForm(ProtectedForm, kw_only=True):
    """The metadata of the application, or its entity id and address; and the state that the page has shown.

    A file with the metadata replaces the text.
    """

    provider: str = ""
    metadata: str = ""
    metadata_file: bytes = b""
    entity_id: str = ""
    acs_url: str = ""
    name_id_format: str = ""
    email_attribute: str = ""
    seen_state: str = ""

    def __post_init__(self) -> None:
        if self.metadata_file:
            self.metadata = text_of_file(self.metadata_file)


class DetailsForm(ProtectedForm, kw_only=True):
    """Who may sign in, what is signed, what assertions say; and the state that the page has shown."""

    enabled: str = ""
    members_only: str = ""
    sign_assertions: str = ""
    sign_response: str = ""
    sp_certificate: str = ""
    slo_url: str = ""
    slo_binding: str = LogoutBinding.REDIRECT.value
    id_attribute: str = ""
    name_attribute: str = ""
    role_attribute: str = ""
    groups_attribute: str = ""
    seen_state: str = ""

    @property
    def attributes(self) -> Mapping[str, str]:
        """The names of attributes by the fields of a user."""
        return {one: getattr(self, f"{one}_attribute").strip() for one in ATTRIBUTES}


class NewCertificateForm(ProtectedForm, kw_only=True):
    """The kind of application whose steps go on, and the certificate that the page has shown."""

    provider: str = ""
    seen_certificate: str = ""


class ApplicationDeletionForm(ProtectedForm, kw_only=True):
    """The application to delete, as the page has shown it."""

    shown_entity_id: str = ""


@routes.get(SAML, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SAML_READ)
async def show_saml_application(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    query: SamlQuery | None = None,
    form: ApplicationForm | DetailsForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show how SAML is set up for a service, with the steps of a kind of application, and what was sent lately."""
    query = query or SamlQuery()
    at, shown = await opened_service(call, org_slug, service_slug, Operation.SAML_READ, service_providers.show)
    typed = form if isinstance(form, ApplicationForm) else None
    kind, stored = _kinds(shown, typed, query)
    settings = call.installation.settings
    page = page_of_service(org_slug, service_slug) + TAB
    return service_page(
        call,
        "saml/service_providers.html",
        at,
        program=Program(
            "SAML_configure",
            org_slug,
            service_slug,
            body={
                "enabled": True,
                "entity_id": shown.configuration.entity_id or "https://app.example.com/metadata",
                "acs_url": shown.configuration.acs_url or "https://app.example.com/acs",
            },
        ),
        done=query.done,
        refusal=refusal,
        shown=shown,
        kinds=application_kinds.KINDS,
        kind=kind,
        typed=typed or proposed(shown.configuration, kind, stored),
        details=form if isinstance(form, DetailsForm) else _details(shown),
        problems=problems_of(refusal),
        names=NAMES,
        bindings=BINDINGS,
        attributes=ATTRIBUTES,
        copies=copies_of(f"{settings.base_url}/saml/{org_slug}/{service_slug}"),
        lacks_change=at.lacks(Operation.SAML_CHANGE),
        lacks_removal=at.lacks(Operation.SAML_REMOVE),
        lacks_certificate=at.lacks(Operation.SAML_CERTIFICATE_CREATE),
        test=path_in_interface(call, "SAML_log_in", org_slug, service_slug),
        saml=page,
    )


@routes.post(SAML, body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(ServiceUnknown, SamlConfigurationChanged))
@on_service_in_console(Operation.SAML_CHANGE)
@shows_again(show_saml_application, BadRequest, SamlConfigurationChanged)
async def set_saml_application(call: Call, org_slug: str, service_slug: str, form: ApplicationForm) -> PageOrRedirect:
    """Say where the application is; programs use `POST …/services/:service_slug/saml` and `…/saml/metadata`."""
    # Reading metadata takes a thread, so who may not change anything is refused before.
    await call.read(service_providers.show, org_slug, service_slug, Operation.SAML_CHANGE)
    await call.transact(
        service_providers.set_application,
        org_slug,
        service_slug,
        await changes_of(call, form),
        email_attribute=form.email_attribute.strip(),
        seen_state=form.seen_state,
    )
    return after(page_of_service(org_slug, service_slug) + TAB, "saml-saved")


@routes.post(f"{SAML}/details", refuses=(ServiceUnknown, SamlConfigurationChanged))
@on_service_in_console(Operation.SAML_CHANGE)
@shows_again(show_saml_application, BadRequest, SamlConfigurationChanged)
async def set_saml_details(call: Call, org_slug: str, service_slug: str, form: DetailsForm) -> PageOrRedirect:
    """Say who may sign in, what is signed and what assertions contain, or switch SAML off."""
    await call.read(service_providers.show, org_slug, service_slug, Operation.SAML_CHANGE)
    if form.slo_binding not in set(LogoutBinding):
        raise BadRequest.of_field("slo_binding", "Choose one of these.")
    certificate = form.sp_certificate.strip()
    changes: dict[str, Any] = {
        "enabled": bool(form.enabled),
        "members_only": bool(form.members_only),
        "sign_assertions": bool(form.sign_assertions),
        "sign_response": bool(form.sign_response),
        "sp_certificate": await call.installation.saml.normalized_certificate(certificate) if certificate else None,
        "slo_url": form.slo_url.strip() or None,
        "slo_binding": LogoutBinding(form.slo_binding),
    }
    await call.transact(
        service_providers.set_details,
        org_slug,
        service_slug,
        changes,
        attributes=form.attributes,
        seen_state=form.seen_state,
    )
    return after(page_of_service(org_slug, service_slug) + TAB, "saml-saved")


@routes.get(f"{SAML}/certificate", refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SAML_CERTIFICATE_CREATE)
async def ask_for_saml_certificate(
    call: Call, org_slug: str, service_slug: str, *, refusal: Refusal | None = None
) -> Page:
    """Show what a new certificate means, before one is made or replaced."""
    operation = Operation.SAML_CERTIFICATE_CREATE
    at, shown = await opened_service(call, org_slug, service_slug, operation, service_providers.show, operation)
    return service_page(
        call,
        "saml/service_providers_certificate.html",
        at,
        program=Program("SAML_create_certificate", org_slug, service_slug),
        refusal=refusal,
        shown=shown,
        saml=page_of_service(org_slug, service_slug) + TAB,
    )


@routes.post(f"{SAML}/certificate", refuses=(ServiceUnknown, SamlCertificateChanged))
@on_service_in_console(Operation.SAML_CERTIFICATE_CREATE)
@shows_again(ask_for_saml_certificate, SamlCertificateChanged)
async def create_saml_certificate(
    call: Call, org_slug: str, service_slug: str, form: NewCertificateForm
) -> PageOrRedirect:
    """Create the certificate that the application trusts; programs use `POST …/:service_slug/saml/certificate`."""
    shown = await call.read(service_providers.show, org_slug, service_slug, Operation.SAML_CERTIFICATE_CREATE)
    if shown.certificate_id != form.seen_certificate:
        raise SamlCertificateChanged
    # A certificate has whole seconds.
    valid_from = call.installation.clock().replace(microsecond=0)
    made = await call.installation.saml.make_certificate(f"{service_slug} by SAML", valid_from=valid_from)
    await call.transact(
        service_providers.add_certificate,
        org_slug,
        service_slug,
        made,
        valid_from=valid_from,
        seen_certificate=form.seen_certificate,
    )
    kind = kind_of(application_kinds.KINDS, form.provider)
    page = page_of_service(org_slug, service_slug) + TAB
    return after(page, "saml-certificate", provider=kind.word if kind is not None else "")


@routes.get(f"{SAML}/certificate.pem", refuses=(ServiceUnknown, NoCertificate))
@on_service_in_console(Operation.SAML_READ)
async def download_saml_certificate(call: Call, org_slug: str, service_slug: str) -> Certificate:
    """Download the certificate that the application trusts."""
    shown = await call.read(service_providers.show, org_slug, service_slug)
    if shown.certificate is None:
        raise NoCertificate
    name = f"{org_slug}-{service_slug}.pem"
    return Response(shown.certificate.public_key, headers=as_file(name), content_type=PEM)


@routes.get(f"{SAML}/delete", refuses=(ServiceUnknown, SamlNotSetUp))
@on_service_in_console(Operation.SAML_REMOVE)
@shows_again(show_saml_application, SamlNotSetUp)
async def ask_to_delete_saml_application(
    call: Call, org_slug: str, service_slug: str, *, refusal: Refusal | None = None
) -> Page:
    """Show what ends with the application, in numbers."""
    at, end = await opened_service(call, org_slug, service_slug, Operation.SAML_REMOVE, service_providers.show_end)
    return service_page(
        call,
        "saml/service_providers_deletion.html",
        at,
        program=Program("SAML_disable", org_slug, service_slug),
        refusal=refusal,
        shown=end.application,
        sessions=end.sessions,
        saml=page_of_service(org_slug, service_slug) + TAB,
    )


@routes.post(f"{SAML}/delete", refuses=(ServiceUnknown, SamlNotSetUp))
@on_service_in_console(Operation.SAML_REMOVE)
@shows_again(show_saml_application, SamlNotSetUp)
async def delete_saml_application(
    call: Call, org_slug: str, service_slug: str, form: ApplicationDeletionForm
) -> PageOrRedirect:
    """Delete the application that the page has shown, and the certificates.

    Programs use `DELETE …/services/:service_slug/saml`, which keeps the settings.
    """
    await call.transact(service_providers.remove, org_slug, service_slug, form.shown_entity_id)
    return after(page_of_service(org_slug, service_slug) + TAB, "saml-deleted")


def _kinds(
    shown: SamlApplication, typed: ApplicationForm | None, query: SamlQuery | PartQuery
) -> tuple[ProviderKind | None, ProviderKind | None]:
    """Return the kind of application whose steps are shown, and the kind of the one that is stored."""
    stored = application_kinds.kind_of_application(shown.configuration.entity_id or "")
    known = kind_of(application_kinds.KINDS, (typed or query).provider) or stored
    return known or (application_kinds.OTHER if typed is not None else None), stored


def _details(shown: SamlApplication) -> DetailsForm:
    """Return the form with what is stored."""
    stored = shown.configuration
    mapping = stored.attribute_mapping or DEFAULT_MAPPING
    return DetailsForm(
        enabled="on" if stored.enabled else "",
        members_only="on" if stored.members_only else "",
        sign_assertions="on" if stored.sign_assertions else "",
        sign_response="on" if stored.sign_response else "",
        sp_certificate=stored.sp_certificate or "",
        slo_url=stored.slo_url or "",
        slo_binding=stored.slo_binding.value,
        **{f"{one}_attribute": mapping.get(one, "") for one in ATTRIBUTES},
    )


SETUP_SAML: Final = "/app/setup/parts/saml"


@setup_routes.get(SETUP_SAML, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_saml(
    call: Call,
    *,
    query: PartQuery | None = None,
    form: ApplicationForm | None = None,
    refusal: BadRequest | None = None,
) -> Page:
    """Show how SAML is set up for the service of the link, with the steps of a kind, and what the application sent."""
    setup, shown = await opened_by_link(call, Operation.SAML_READ, on_service, service_providers.show)
    kind, stored = _kinds(shown, form, query or PartQuery())
    organization = setup.holder.organization
    entity_id = f"{call.installation.settings.base_url}/saml/{organization.slug}/{shown.service.slug}"
    is_set = shown.configuration.enabled and shown.configuration.entity_id is not None
    steps = {"certificate": shown.certificate is not None} if kind is not None or shown.certificate else {}
    steps |= {"application": is_set}
    if shown.configuration.enabled:
        steps["test"] = shown.contact.last_request_at is not None
    chosen = "application" if refusal is not None or kind is None else query.step if query is not None else ""
    return await part_page(
        call,
        "saml/service_providers.html",
        setup,
        Part.SAML,
        query=query,
        refusal=refusal,
        shown=shown,
        kinds=application_kinds.KINDS,
        kind=kind,
        typed=form or proposed(shown.configuration, kind, stored),
        names=NAMES,
        copies=copies_of(entity_id),
        lacks_change=None,
        lacks_certificate=None,
        lacks_removal=None,
        saml=SETUP_SAML,
        **steps_of_page(steps, chosen),
    )


@setup_routes.post(
    SETUP_SAML,
    limits=LIMITS,
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    verify_sender=verify_holder,
    refuses=(SetupLinkDead, FormRefused),
)
@holding_setup_link
@shows_again(show_saml, BadRequest)
async def set_saml(call: Call, form: ApplicationForm) -> PageOrRedirect:
    """Turn SAML on; members use `POST /api/organizations/:org_slug/services/:service_slug/saml`."""
    require_own_form(call, form)
    # Reading metadata takes a thread, so a dead link is refused before.
    await opened_by_link(call, Operation.SAML_CHANGE, on_service, service_providers.show)
    email_attribute = form.email_attribute.strip()
    changes = await changes_of(call, form)
    await sent(call, form, on_service, service_providers.set_application, changes, email_attribute=email_attribute)
    # With the kind of application that is stored now, whose fields are filled in.
    return done(SETUP_SAML, "saml-saved")


@setup_routes.post("/app/setup/parts/saml/certificate", status=303, limits=LIMITS, refuses=(SetupLinkDead, FormRefused))
@holding_setup_link
async def create_certificate(call: Call, form: NewCertificateForm) -> None:
    """Create the certificate that the application trusts, if there is none."""
    require_own_form(call, form)
    _, shown = await opened_by_link(call, Operation.SAML_CERTIFICATE_CREATE, on_service, service_providers.show)
    if shown.certificate is None:
        # A certificate has whole seconds.
        valid_from = call.installation.clock().replace(microsecond=0)
        made = await call.installation.saml.make_certificate(f"{shown.service.slug} by SAML", valid_from=valid_from)
        # Of two at once, the first makes it.
        with suppress(SamlCertificateChanged):
            await sent(call, form, on_service, service_providers.add_certificate, made, valid_from=valid_from)
    call.headers["Location"] = _setup_address(form.provider)


@setup_routes.get(f"{SETUP_SAML}/delete", refuses=(SetupLinkDead, SamlNotSetUp))
@holding_setup_link
async def ask_to_delete_saml(call: Call) -> Page:
    """Show what ends with the application, and ask whether it is to be deleted."""
    setup, ends = await opened_by_link(call, Operation.SAML_REMOVE, on_service, service_providers.show_end)
    return await part_page(
        call, "saml/service_providers_deletion.html", setup, Part.SAML, shown=ends.application, saml=SETUP_SAML
    )


@setup_routes.post(
    f"{SETUP_SAML}/delete", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused, SamlNotSetUp)
)
@holding_setup_link
async def delete_saml(call: Call, form: ApplicationDeletionForm) -> None:
    """Delete the application that the page has shown, and the certificates.

    Members use `DELETE /api/organizations/:org_slug/services/:service_slug/saml`, which keeps the settings.
    """
    await sent(call, form, on_service, service_providers.remove, form.shown_entity_id)
    call.headers["Location"] = SETUP_SAML


def _setup_address(word: str) -> str:
    known = kind_of(application_kinds.KINDS, word)
    return SETUP_SAML + (f"?provider={known.word}" if known is not None else "")
