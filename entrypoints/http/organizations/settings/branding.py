"""The branding of an organization."""

from collections.abc import Sequence
from typing import Final

from msgspec import UnsetType

from core.errors import BadRequest, FieldError
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.organizations.settings import branding
from core.organizations.settings.branding import BrandedOrganization, Branding, BrandingChanges, BrandingUnknown
from core.organizations.settings.pictures import Picture, PictureKind, parse_data_url, picture_path
from entrypoints.shared.organizations.pictures import rebuilt
from entrypoints.web.serving.admission.credentials import in_organization, public
from entrypoints.web.serving.answering.bodies import Change, Record
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "branding",
    "How pages and mails of an organization look: its logo, icon, colours and links. What an organization uploads is"
    " rebuilt from its harmless parts and served by Gatehouse.",
)


class BrandingRecord(Record, of=Branding):
    """The branding of an organization; `logo` and `icon` are addresses of pictures."""


class PublicBranding(Record, of=Branding, without=("updated_at",)):
    """The public branding of an active organization, with its name."""

    name: str


class BrandingUpdate(Change, of=Branding, without=("updated_at",)):
    """The fields to change: null removes one, and an omitted one stays."""


_TEXTS: Final = ("primary_color", "background_color", "support_email", "terms_url", "privacy_url")


@routes.get("/api/organizations/:slug/branding")
@in_organization(Operation.BRANDING_READ)
async def show_branding(call: Call, slug: str) -> BrandingRecord:
    """Show the branding."""
    return _record(call, await call.read(branding.show, slug))


@routes.get("/api/organizations/:slug/branding/public", refuses=(BrandingUnknown,))
@public
async def show_public_branding(call: Call, slug: str) -> PublicBranding:
    """Show the branding of an active organization, without signing in."""
    organization = await call.read(branding.show_public, slug)
    return PublicBranding.of(organization.branding, name=organization.name, **_pictures(call, organization))


@routes.patch("/api/organizations/:slug/branding", body_bytes_max=LARGE_BODY_BYTES_MAX)
@in_organization(Operation.BRANDING_CHANGE)
async def change_branding(call: Call, slug: str, body: BrandingUpdate) -> BrandingRecord:
    """Change the branding.

    A picture is sent as `data:image/png;base64,…` or `data:image/svg+xml;base64,…`, at most 256 KiB. An address that
    the branding has already leaves the picture as it is.
    """
    # Whether the caller may do this is decided before pictures are read.
    texts = {name: value for name in _TEXTS if not isinstance(value := getattr(body, name), UnsetType)}
    inspected = await call.read(branding.inspect, slug, texts)
    pictures = await _cleaned(call, inspected.present, body, inspected.problems)
    wanted = BrandingChanges(texts=inspected.texts, pictures=pictures)
    return _record(call, await call.transact(branding.change, slug, wanted))


async def _cleaned(
    call: Call, present: BrandedOrganization, body: BrandingUpdate, found: Sequence[FieldError]
) -> dict[PictureKind, Picture | None]:
    """Return the new pictures, rebuilt; raise `BadRequest` for every invalid one and the problems found before."""
    pictures: dict[PictureKind, Picture | None] = {}
    problems = list(found)
    for kind in PictureKind:
        sent = getattr(body, kind)
        if isinstance(sent, UnsetType) or (sent and sent == _address(call, present, getattr(present.branding, kind))):
            continue
        try:
            pictures[kind] = await rebuilt(call, parse_data_url(sent, kind), kind) if sent is not None else None
        except BadRequest as refusal:
            problems += refusal.details
    if problems:
        raise BadRequest.of_fields(problems)
    return pictures


def _record(call: Call, organization: BrandedOrganization) -> BrandingRecord:
    return BrandingRecord.of(organization.branding, **_pictures(call, organization))


def _pictures(call: Call, organization: BrandedOrganization) -> dict[str, str | None]:
    """Return the addresses of the pictures."""
    return {kind: _address(call, organization, getattr(organization.branding, kind)) for kind in PictureKind}


def _address(call: Call, organization: BrandedOrganization, name: str | None) -> str | None:
    if name is None:
        return None
    return call.installation.settings.base_url + picture_path(organization.organization_id, name)
