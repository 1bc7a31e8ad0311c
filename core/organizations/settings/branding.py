"""The branding of an organization: its logo, icon, colours and links, on pages and in mails where the context is it.

Pages and mails are readable with any branding: the primary colour must stand out from the background and from white,
and the colour of text on it is computed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import datetime  # noqa: TC003 - the reference is made from the fields
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from uuid import UUID  # noqa: TC003 - likewise

from core.colors import CONTRAST_MIN, GROUND, TEXT_CONTRAST_MIN, WHITE, checked_color, contrast
from core.email_addresses import normalize_email
from core.errors import BadRequest, FieldError, NotFound
from core.events.actions import AuditAction
from core.organizations.access import Operation, authorize, authorize_and_lock
from core.organizations.settings.pictures import PictureKind
from core.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from core.organizations.settings.pictures import Picture
    from ports.unit_of_work import UnitOfWork

LINK_CHARACTERS_MAX: Final = 2000

_UPDATED_AT: Final = "updated_at"


class BrandingUnknown(NotFound):
    """There is no active organization with that name, or it has no such picture."""

    default_message = "There is no such organization."


@dataclass(frozen=True, slots=True, kw_only=True)
class Branding:
    """The branding of an organization; pictures are named by their content. Every field may be unset."""

    logo: str | None = None
    icon: str | None = None
    primary_color: str | None = None
    background_color: str | None = None
    support_email: str | None = None
    terms_url: str | None = None
    privacy_url: str | None = None
    updated_at: datetime | None = None

    def changes(self, before: Branding) -> dict[str, Any]:
        """Return the old and the new value of each changed field, in the form of an audit entry."""
        return {
            one.name: {"from": getattr(before, one.name), "to": getattr(self, one.name)}
            for one in fields(self)
            if one.name != _UPDATED_AT and getattr(before, one.name) != getattr(self, one.name)
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandedOrganization:
    """An organization with its branding."""

    organization_id: UUID
    name: str
    branding: Branding


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandingChanges:
    """The fields of a branding to change, by name and as `inspect` returns them, and the new pictures.

    None removes one.
    """

    texts: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    pictures: Mapping[PictureKind, Picture | None] = field(default_factory=dict[PictureKind, "Picture | None"])


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedTexts:
    """The branding before a change, the valid texts as they are stored, and what is wrong with the others."""

    present: BrandedOrganization
    texts: Mapping[str, str | None]
    problems: Sequence[FieldError]


def show(uow: UnitOfWork, slug: str) -> BrandedOrganization:
    """Return an organization with its branding, to a caller who may change it."""
    organization = authorize(uow, slug, Operation.BRANDING_READ).organization
    return BrandedOrganization(
        organization_id=organization.id, name=organization.name, branding=uow.branding.of(organization.id)
    )


def inspect(uow: UnitOfWork, slug: str, texts: Mapping[str, str | None]) -> InspectedTexts:
    """Return what `show` does, and the texts to change as they are stored, before pictures are read."""
    present = show(uow, slug)
    checked, problems = _checked(uow, texts)
    return InspectedTexts(present=present, texts=checked, problems=problems)


def show_public(uow: UnitOfWork, slug: str) -> BrandedOrganization:
    """Return an active organization with its branding; raise `BrandingUnknown` for any other."""
    organization = uow.organizations.by_slug(slug)
    if organization is None or not organization.is_active:
        raise BrandingUnknown
    return BrandedOrganization(
        organization_id=organization.id, name=organization.name, branding=uow.branding.of(organization.id)
    )


def brand_of(uow: UnitOfWork, organization_id: UUID) -> BrandedOrganization | None:
    """Return an active organization with its branding, for its pages; None when it has none."""
    return uow.branding.brand(organization_id)


def picture(uow: UnitOfWork, organization_id: UUID, name: str) -> Picture:
    """Return a picture of an active organization; raise `BrandingUnknown` when it has none of that name."""
    found = uow.branding.picture(organization_id, name)
    if found is None:
        raise BrandingUnknown
    return found


def change(uow: UnitOfWork, slug: str, wanted: BrandingChanges) -> BrandedOrganization:
    """Change the given fields of the branding; without a difference nothing is stored or recorded."""
    organization = authorize_and_lock(uow, slug, Operation.BRANDING_CHANGE).organization
    before = uow.branding.of(organization.id)
    names = {kind.value: new.name if new is not None else None for kind, new in wanted.pictures.items()}
    after = replace(before, **wanted.texts, **names)
    _require_contrast(after, wanted.texts)
    if after != before:
        after = replace(after, updated_at=uow.now)
        for kind, new in wanted.pictures.items():
            uow.branding.set_picture(organization.id, kind, new)
        uow.branding.save(organization.id, after)
        uow.record(
            AuditAction.BRANDING_UPDATED,
            organization.id,
            organization_id=organization.id,
            changes=after.changes(before),
        )
    return BrandedOrganization(organization_id=organization.id, name=organization.name, branding=after)


def _checked(uow: UnitOfWork, texts: Mapping[str, str | None]) -> tuple[Mapping[str, str | None], Sequence[FieldError]]:
    """Return the valid fields as they are stored, and what is wrong with the others."""
    checks: dict[str, Callable[[str], str]] = {
        "primary_color": lambda text: checked_color(text, "primary_color"),
        "background_color": lambda text: checked_color(text, "background_color"),
        "support_email": lambda text: normalize_email(text, uow.domain_names.to_ascii, field="support_email"),
        "terms_url": lambda text: _checked_link(text, "terms_url"),
        "privacy_url": lambda text: _checked_link(text, "privacy_url"),
    }
    checked: dict[str, str | None] = {}
    problems: list[FieldError] = []
    for name, text in texts.items():
        try:
            checked[name] = checks[name](text) if text is not None else None
        except BadRequest as refusal:
            problems += refusal.details
    return checked, problems


def _checked_link(text: str, name: str) -> str:
    link = text.strip()
    try:
        parts = urlsplit(link)
        is_web = parts.scheme in {"https", "http"} and bool(parts.hostname) and parts.username is None
        _ = parts.port
    except ValueError:
        is_web = False
    if not is_web or len(link) > LINK_CHARACTERS_MAX or not link.isascii() or not link.isprintable() or " " in link:
        raise BadRequest.of_field(
            name,
            Wording(
                "A link is an address such as https://example.com/terms, of at most %(maximum)s characters.",
                maximum=LINK_CHARACTERS_MAX,
            ),
        )
    return link


def _require_contrast(branding: Branding, texts: Mapping[str, str | None]) -> None:
    primary, background = branding.primary_color, branding.background_color or GROUND
    if primary is None:
        return
    # Links are text on white cards, and buttons stand out from the ground of a page.
    for ground, what, ratio_min in (
        (WHITE, Wording("white"), TEXT_CONTRAST_MIN),
        (background, Wording("the background colour"), CONTRAST_MIN),
    ):
        ratio = contrast(primary, ground)
        if ratio < ratio_min:
            raise BadRequest.of_field(
                "primary_color" if "primary_color" in texts else "background_color",
                Wording(
                    "The contrast between the primary colour and %(what)s is %(contrast)s, and must be"
                    " %(minimum)s at least. Choose a darker primary colour or a lighter background.",
                    what=what,
                    contrast=round(ratio, 1),
                    minimum=ratio_min,
                ),
            )
