"""The branding of an organization (decisions 13.2)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from core.errors import BadRequest, FieldProblem
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations.access import Operation
from core.organizations.settings import branding
from core.organizations.settings.branding import BrandedOrganization, BrandingChanges, BrandingUnknown
from core.organizations.settings.pictures import Picture, PictureInvalid, PictureKind, parse_data_url, picture_path
from entrypoints.web.calls import Call
from entrypoints.web.credentials import in_organization, public
from entrypoints.web.routes import Routes

routes = Routes(
    "branding",
    "How pages and mails of an organization look: its logo, icon, colours and links. What an organization uploads is"
    " rebuilt from its harmless parts and served by Gatehouse.",
)


class BrandingRecord(msgspec.Struct, kw_only=True):
    """The branding of an organization; `logo` and `icon` are addresses of pictures."""

    logo: str | None
    icon: str | None
    primary_color: str | None
    background_color: str | None
    support_email: str | None
    terms_url: str | None
    privacy_url: str | None
    updated_at: datetime | None


class PublicBranding(msgspec.Struct, kw_only=True):
    """The branding of an active organization, with its name, for everybody."""

    name: str
    logo: str | None
    icon: str | None
    primary_color: str | None
    background_color: str | None
    support_email: str | None
    terms_url: str | None
    privacy_url: str | None


class BrandingUpdate(msgspec.Struct, kw_only=True):
    """The fields to change: null removes one, and an omitted one stays."""

    logo: str | UnsetType | None = UNSET
    icon: str | UnsetType | None = UNSET
    primary_color: str | UnsetType | None = UNSET
    background_color: str | UnsetType | None = UNSET
    support_email: str | UnsetType | None = UNSET
    terms_url: str | UnsetType | None = UNSET
    privacy_url: str | UnsetType | None = UNSET


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
    stored = organization.branding
    return PublicBranding(
        name=organization.name,
        logo=_address(call, organization, stored.logo),
        icon=_address(call, organization, stored.icon),
        primary_color=stored.primary_color,
        background_color=stored.background_color,
        support_email=stored.support_email,
        terms_url=stored.terms_url,
        privacy_url=stored.privacy_url,
    )


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
    call: Call, present: BrandedOrganization, body: BrandingUpdate, found: Sequence[FieldProblem]
) -> dict[PictureKind, Picture | None]:
    """Return the new pictures, rebuilt; raise `BadRequest` for every invalid one and the problems found before."""
    pictures: dict[PictureKind, Picture | None] = {}
    problems = list(found)
    for kind in PictureKind:
        sent = getattr(body, kind)
        if isinstance(sent, UnsetType) or (sent and sent == _address(call, present, getattr(present.branding, kind))):
            continue
        try:
            pictures[kind] = await _clean(call, sent, kind) if sent is not None else None
        except BadRequest as refusal:
            problems += refusal.details
    if problems:
        raise BadRequest.of_fields(problems)
    return pictures


async def _clean(call: Call, sent: str, kind: PictureKind) -> Picture:
    try:
        return await call.installation.pictures.clean(parse_data_url(sent, kind))
    except PictureInvalid as invalid:
        raise BadRequest.of_field(kind, str(invalid)) from None


def _record(call: Call, organization: BrandedOrganization) -> BrandingRecord:
    stored = organization.branding
    return BrandingRecord(
        logo=_address(call, organization, stored.logo),
        icon=_address(call, organization, stored.icon),
        primary_color=stored.primary_color,
        background_color=stored.background_color,
        support_email=stored.support_email,
        terms_url=stored.terms_url,
        privacy_url=stored.privacy_url,
        updated_at=stored.updated_at,
    )


def _address(call: Call, organization: BrandedOrganization, name: str | None) -> str | None:
    if name is None:
        return None
    return call.installation.settings.base_url + picture_path(organization.organization_id, name)
