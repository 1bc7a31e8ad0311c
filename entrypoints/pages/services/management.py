"""The settings of a service, besides its redirect URIs, and the pages that delete it or replace its client secret."""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

import msgspec

from core.customers import choices
from core.errors import BadRequest, FieldError, Refusal
from core.organizations.access import Operation
from core.organizations.choices import Choices
from core.services import client_secrets, found_services, management
from core.services.client_secrets import ServiceHasKeysAlone, ServiceNotConfidential
from core.services.management import AudienceTaken, ServiceChanged, ServiceSubscribed
from core.services.own_claims import ALL_GROUPS, ServiceScope
from core.services.services import Service, ServiceType, ServiceUnknown
from core.sessions.group_forms import GroupsAs
from core.sessions.security_profiles import SecurityProfile, SignatureAlgorithm
from core.sessions.shown_secrets import ToShow
from entrypoints.pages.console.frame import Program, after, page_of
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.services.connecting import TYPES
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.pages.services.workload_rules import key_set
from entrypoints.pages.sessions.shown_secrets import leading_to
from entrypoints.shared.services.outside import outside
from entrypoints.web.serving.admission.browsers import ProtectedForm, recent, recent_for_form
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

OPTIONS: Final = "/app/organizations/:org_slug/services/:service_slug/options"
SECRET: Final = "/app/organizations/:org_slug/services/:service_slug/secret"  # noqa: S105 - a path
DELETION: Final = "/app/organizations/:org_slug/services/:service_slug/deletion"
GROUP_FORMS: Final = [
    (GroupsAs.NAMES.value, marked("Names")),
    (GroupsAs.IDS.value, marked("Ids")),
    (GroupsAs.OBJECTS.value, marked("Objects with id and name")),
]
SIGNINGS: Final = [
    (SignatureAlgorithm.RS256.value, marked("RS256, with RSA keys")),
    (SignatureAlgorithm.ES256.value, marked("ES256, with elliptic keys")),
]
PROFILES: Final = [("", marked("None")), (SecurityProfile.FAPI2.value, marked("FAPI 2.0"))]
# The fields whose texts are lists: by lines, and by blanks.
_LINES: Final = frozenset({"post_logout_redirect_uris", "audiences", "group_claims"})
_CHOICES: Final[Mapping[str, tuple[type[StrEnum], str]]] = {
    "service_type": (ServiceType, marked("Choose one of the kinds.")),
    "groups_as": (GroupsAs, marked("Choose one of the forms.")),
    "token_signing": (SignatureAlgorithm, marked("Choose one of the algorithms.")),
    "security_profile": (SecurityProfile, marked("Choose one of the profiles.")),
}
# The choices that a form may leave out.
_CHOSEN: Final = frozenset({"groups_as", "token_signing"})
_SCOPES: Final = frozenset({"codehost_scopes", "websuite_scopes", "officesuite_scopes"})


class ServiceSettingsForm(ProtectedForm, kw_only=True):
    """The settings of a service as texts, and the version of it that the page has shown."""

    seen_version: str = ""
    name: str = ""
    service_type: str = ""
    post_logout_redirect_uris: str = ""
    backchannel_logout_uri: str = ""
    frontchannel_logout_uri: str = ""
    device_activation_uri: str = ""
    audiences: str = ""
    group_claims: Annotated[
        list[str], msgspec.Meta(description="The ids of groups, or `all`: each a value, or a line of one.")
    ] = msgspec.field(default_factory=list[str])
    groups_as: str = ""
    scopes: str = ""
    machine_scopes: str = ""
    codehost_scopes: str = ""
    websuite_scopes: str = ""
    officesuite_scopes: str = ""
    jwks_uri: str = ""
    jwks: str = ""
    token_signing: str = ""
    security_profile: str = ""


FIELDS: Final = tuple(
    name for name in ServiceSettingsForm.__struct_fields__ if name not in {"form_token", "seen_version"}
)


@routes.get(OPTIONS, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_READ)
async def show_service_settings(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    query: DoneQuery | None = None,
    form: ServiceSettingsForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the settings of a service."""
    at, service = await opened_service(call, org_slug, service_slug, Operation.SERVICE_READ, management.read)
    stored = texts_of(service)
    typed = {name: _sent(form, name) for name in FIELDS} if form is not None else stored
    groups = await call.read(choices.groups_for_service, org_slug, service_slug)
    return service_page(
        call,
        "services/management.html",
        at,
        program=Program(
            "services_change_service", org_slug, service_slug, body={"name": typed["name"] or service.name}
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        typed=typed,
        stored=stored,
        group_boxes=_group_boxes(groups, typed["group_claims"].split()),
        types=[(one.value, text) for one, text in TYPES.items()],
        group_forms=GROUP_FORMS,
        signings=SIGNINGS,
        profiles=PROFILES,
        lacks_change=at.lacks(Operation.SERVICE_UPDATE),
        # With its keys a service proves who it is, as with its secret.
        lacks_keys=at.lacks(Operation.SERVICE_SECRET_ROTATE),
        lacks_leading=at.lacks_lasting(Operation.SERVICE_UPDATE),
        lacks_removal=at.lacks(Operation.SERVICE_DELETE),
    )


@routes.post(OPTIONS, refuses=(ServiceUnknown, ServiceChanged, AudienceTaken, BadRequest))
@on_service_in_console(Operation.SERVICE_UPDATE)
@shows_again(show_service_settings, BadRequest, ServiceChanged, AudienceTaken)
async def change_settings(call: Call, org_slug: str, service_slug: str, form: ServiceSettingsForm) -> PageOrRedirect:
    """Change what differs from the present settings; programs use `PATCH …/services/:service_slug`."""
    _, present = await opened_service(call, org_slug, service_slug, Operation.SERVICE_UPDATE, management.read)
    changes = changes_of(present, form)
    if changes or form.seen_version != present.version:
        await call.transact(
            management.change, org_slug, service_slug, changes, outside=outside(call), seen=form.seen_version
        )
    return after(f"{page_of_service(org_slug, service_slug)}/options", "service-saved")


class ServiceDeletionForm(ProtectedForm, kw_only=True):
    """The slug of the service as it was typed, and what the audit log is to keep about its deletion."""

    slug: str = ""
    note: str = ""


async def _deletion_page(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    form: ServiceDeletionForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    at, figures = await opened_service(
        call, org_slug, service_slug, Operation.SERVICE_DELETE, found_services.show_removal
    )
    return service_page(
        call,
        "services/management_deletion.html",
        at,
        program=Program("services_delete_service", org_slug, service_slug),
        refusal=refusal,
        figures=figures,
        form=form or ServiceDeletionForm(),
    )


@routes.get(DELETION, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_DELETE)
async def ask_to_remove_service(call: Call, org_slug: str, service_slug: str) -> Page:
    """Show what ends when a service is deleted, in numbers."""
    shown = await _deletion_page(call, org_slug, service_slug)
    await recent_for_form(call)
    return shown


@routes.post(DELETION, refuses=(ServiceUnknown, ServiceSubscribed, BadRequest))
@on_service_in_console(Operation.SERVICE_DELETE)
@shows_again(_deletion_page, BadRequest)
async def remove_service(call: Call, org_slug: str, service_slug: str, form: ServiceDeletionForm) -> PageOrRedirect:
    """Delete a service for good; programs use `DELETE /api/organizations/:slug/services/:service_slug`."""
    await recent(call)
    await call.transact(found_services.remove, org_slug, service_slug, typed_slug=form.slug, note=form.note)
    return after(f"{page_of(org_slug)}/services", "service-deleted")


# For how many hours the old secret is taken.
KEPT: Final = (
    ("0", marked("At once")),
    ("24", marked("After one day")),
    ("168", marked("After seven days")),
)


class RotationForm(ProtectedForm, kw_only=True):
    """The version of the service that the page has shown, and for how many hours the old secret is taken."""

    seen_version: str = ""
    keep: str = "0"


async def _rotation_page(call: Call, org_slug: str, service_slug: str, *, refusal: Refusal | None = None) -> Page:
    at, _ = await opened_service(call, org_slug, service_slug, Operation.SERVICE_SECRET_ROTATE, management.read)
    return service_page(
        call,
        "services/management_secret.html",
        at,
        program=Program("services_rotate_secret", org_slug, service_slug),
        refusal=refusal,
        kept=KEPT,
    )


@routes.get(SECRET, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_SECRET_ROTATE)
async def ask_to_rotate(call: Call, org_slug: str, service_slug: str) -> Page:
    """Show what happens to the old secret, and ask whether it is to be replaced."""
    shown = await _rotation_page(call, org_slug, service_slug)
    await recent_for_form(call)
    return shown


@routes.post(
    SECRET, makes_secret=True, refuses=(ServiceUnknown, ServiceChanged, ServiceNotConfidential, ServiceHasKeysAlone)
)
@on_service_in_console(Operation.SERVICE_SECRET_ROTATE)
@shows_again(_rotation_page, BadRequest, ServiceChanged, ServiceNotConfidential, ServiceHasKeysAlone)
async def rotate_secret_of_service(call: Call, org_slug: str, service_slug: str, form: RotationForm) -> PageOrRedirect:
    """Replace the secret, and lead to where it is shown; programs use `POST …/services/:service_slug/secret/rotate`."""
    if form.keep not in dict(KEPT):
        raise BadRequest.of_field("keep", "Choose one of these.")
    hours = int(form.keep)
    return await leading_to(
        call,
        lambda uow: client_secrets.rotate_secret(
            uow, org_slug, service_slug, keep_previous_hours=hours, seen=form.seen_version
        ),
        lambda rotated: ToShow(page=page_of_service(org_slug, service_slug), secrets=(rotated.client_secret,)),
        query={"done": "secret-rotated"},
    )


def texts_of(service: Service) -> dict[str, str]:
    """Return the settings as the texts of the form."""
    return {name: _text(name, getattr(service, name)) for name in FIELDS}


def changes_of(service: Service, form: ServiceSettingsForm) -> dict[str, Any]:
    """Return the fields whose texts differ from the service's; raise one `BadRequest` for all that cannot be read.

    A browser changes the line ends of a field.
    """
    stored, changes, problems = texts_of(service), dict[str, Any](), list[FieldError]()
    for name in FIELDS:
        typed = "\n".join(line.strip() for line in _sent(form, name).splitlines()).strip()
        if typed == "\n".join(line.strip() for line in stored[name].splitlines()).strip():
            continue
        if name in _CHOSEN and not typed:
            # Nothing is chosen: it stays as it is.
            continue
        try:
            changes[name] = _value(name, typed)
        except BadRequest as refusal:
            problems += refusal.details
    if problems:
        raise BadRequest.of_fields(problems)
    return changes


def _sent(form: ServiceSettingsForm, name: str) -> str:
    """Return a field of the form as one text; of several values, each is a line."""
    value: str | list[str] = getattr(form, name)
    return value if isinstance(value, str) else "\n".join(value)


def _group_boxes(groups: Choices | None, chosen: Sequence[str]) -> list[tuple[str, str, str, None]] | None:
    """Return the groups to tick, with chosen ones that no longer exist; None where their ids are typed."""
    if groups is None or not groups.is_whole:
        return None
    named = {ALL_GROUPS: marked("All groups")} | {one.value: one.name for one in groups.found}
    gone = {one: one for one in chosen if one not in named}
    return [(value, text, "", None) for value, text in (named | gone).items()]


def _text(name: str, value: Any) -> str:
    if name in _LINES:
        return "\n".join(value)
    if name in _SCOPES or name == "machine_scopes":
        return " ".join(value or ())
    if name == "scopes":
        return "\n".join(f"{scope.name} {scope.description}" for scope in value)
    if name == "jwks":
        return json.dumps(value, indent=1) if value is not None else ""
    return str(value) if value is not None else ""


def _value(name: str, typed: str) -> Any:
    """Return the value of a typed field; None for an empty text."""
    if name in _READ:
        return _READ[name](typed)
    if not typed and name != "service_type":
        return None
    if name in _CHOICES:
        kind, problem = _CHOICES[name]
        if typed not in set(kind):
            raise BadRequest.of_field(name, problem)
        return kind(typed)
    return key_set(typed) if name == "jwks" else typed


def _lines(typed: str) -> list[str]:
    return [line for line in typed.split("\n") if line]


def _provider_scopes(typed: str) -> list[str] | None:
    return typed.split() or None


def _scopes(typed: str) -> list[ServiceScope]:
    """Return the scope of each line: its name, and after the first blank its sentence."""
    parts = [line.partition(" ") for line in _lines(typed)]
    return [ServiceScope(name=name, description=sentence.strip()) for name, _, sentence in parts]


# How the texts of fields are read that may be empty.
_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "name": str,
    "machine_scopes": str.split,
    "scopes": _scopes,
    **dict.fromkeys(_LINES, _lines),
    **dict.fromkeys(_SCOPES, _provider_scopes),
}
