"""The branding of an organization: its logo, icon, colours and links, on pages and in mails in its context.

Pages and mails are readable with any branding: the primary colour must stand out from the background and from white,
and the colour of text on it is computed (`brand_contrasts.py`). Each change keeps what was saved as a version, the last
`VERSIONS_MAX` of them. The pictures of a version are kept with it, and shown only to people who may change the
branding; the public gets the pictures of the present version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit
from uuid import UUID

from core.colors import checked_color
from core.email_addresses import normalize_email
from core.errors import BadRequest, Conflict, FieldError, NotFound
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock
from core.organizations.organizations import Organization
from core.organizations.settings.brand_contrasts import required_contrasts
from core.organizations.settings.pictures import Picture, PictureKind
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LINK_CHARACTERS_MAX: Final = 2000
# How many versions of a branding are kept, the present one among them.
VERSIONS_MAX: Final = 20
_UPDATED_AT: Final = "updated_at"


class BrandingUnknown(NotFound):
    """There is no active organization with that name, or it has no such picture."""

    default_message = "There is no such organization."


class BrandingChanged(Conflict):
    """Another person or program has changed the branding since the caller saw it."""

    default_message = (
        "The branding was changed meanwhile. Check what is saved now, and send the form again if you still want it."
    )


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

    @classmethod
    def of(cls, organization: Organization, branding: Branding) -> Self:
        """Return an organization with this branding."""
        return cls(organization_id=organization.id, name=organization.name, branding=branding)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandingVersion:
    """A saved version of a branding, numbered from 1 in each organization.

    `made_by` is None for a version from before versions were kept, and when the account is deleted; `is_by_key` says
    that a key of the organization saved it, in the place of its maker.
    """

    number: int
    branding: Branding
    made_by: UUID | None = None
    is_by_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandingChanges:
    """The fields of a branding to change, as `inspect` returns them, and the new pictures; None removes one."""

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
    return BrandedOrganization.of(organization, uow.branding.of(organization.id))


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
    return BrandedOrganization.of(organization, uow.branding.of(organization.id))


def brand_of(uow: UnitOfWork, organization_id: UUID) -> BrandedOrganization | None:
    """Return an active organization with its branding, for its pages; None when it has none."""
    return uow.branding.brand(organization_id)


def picture(uow: UnitOfWork, organization_id: UUID, name: str) -> Picture:
    """Return a picture of an active organization; raise `BrandingUnknown` when it has none of that name."""
    found = uow.branding.picture(organization_id, name)
    if found is None:
        raise BrandingUnknown
    return found


def change(
    uow: UnitOfWork, slug: str, wanted: BrandingChanges, *, seen_version: int | None = None
) -> BrandedOrganization:
    """Change the given fields of the branding; without a difference nothing is stored or recorded.

    Raise `BrandingChanged` when the present version is not `seen_version`, which the caller has seen.
    """
    authorized = authorize_and_lock(uow, slug, Operation.BRANDING_CHANGE)
    before = uow.branding.of(authorized.organization.id)
    names = {kind.value: new.name if new is not None else None for kind, new in wanted.pictures.items()}
    after = replace(before, **wanted.texts, **names)
    problems = contrast_problems(after, wanted.texts)
    if problems:
        raise BadRequest.of_fields(problems)
    return store(uow, authorized, before, after, wanted.pictures, seen_version=seen_version)


def store(
    uow: UnitOfWork,
    authorized: OrganizationAccess,
    before: Branding,
    after: Branding,
    pictures: Mapping[PictureKind, Picture | None],
    *,
    seen_version: int | None,
) -> BrandedOrganization:
    """Store a branding and its new pictures as the next version, and record it; nothing without a difference.

    The caller has locked the organization. Raise `BrandingChanged` as `change` does.
    """
    organization = authorized.organization
    if after != before:
        number = _kept_before(uow, authorized, before, seen_version)
        after = replace(after, updated_at=uow.now)
        for kind, new in pictures.items():
            uow.branding.set_picture(organization.id, kind, new)
        uow.branding.save(organization.id, after)
        caller = authorized.caller
        made = BrandingVersion(
            number=number + 1, branding=after, made_by=caller.account.id, is_by_key=caller.limits.key_id is not None
        )
        uow.branding_versions.add(organization.id, made)
        uow.branding_versions.remove_through(organization.id, made.number - VERSIONS_MAX)
        uow.record(
            AuditAction.BRANDING_UPDATED,
            organization.id,
            organization_id=organization.id,
            changes=after.changes(before),
        )
    return BrandedOrganization.of(organization, after)


def contrast_problems(branding: Branding, texts: Mapping[str, str | None]) -> list[FieldError]:
    """Return the contrast that is too low, if any, at the colour among the changed texts."""
    for one in required_contrasts(branding.primary_color, branding.background_color):
        if not one.is_enough:
            problem = Wording(
                "The contrast between the primary colour and %(what)s is %(contrast)s, and must be"
                " %(minimum)s at least. Choose a darker primary colour or a lighter background.",
                what=one.what,
                contrast=round(one.ratio, 1),
                minimum=one.ratio_min,
            )
            return [
                FieldError(field="primary_color" if "primary_color" in texts else "background_color", message=problem)
            ]
    return []


def _kept_before(uow: UnitOfWork, authorized: OrganizationAccess, before: Branding, seen_version: int | None) -> int:
    """Return the number of the version that has the branding before a change.

    It is kept now if it is not yet: because it is from before versions were kept, or the organization is new.
    """
    organization = authorized.organization
    latest = uow.branding_versions.latest(organization.id)
    number = latest.number if latest is not None else 0
    if seen_version is not None and seen_version != number:
        raise BrandingChanged
    if latest is not None and latest.branding == before:
        return number
    kept = replace(before, updated_at=before.updated_at or organization.created_at)
    uow.branding_versions.add(organization.id, BrandingVersion(number=number + 1, branding=kept))
    return number + 1


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


class BrandingVersionUnknown(NotFound):
    """The organization has no such version of its branding, or no longer."""

    default_message = "There is no such version of the branding. Only the last 20 are kept."


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedVersion:
    """A version with the address of its maker, and its changes in the form of an audit entry.

    `email` is None where no person made it by hand, and for a reader who does not see the members. `changes` is None
    for the oldest version that is kept.
    """

    version: BrandingVersion
    email: str | None
    changes: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandingHistory:
    """The present branding, the number of its version (0 if none is kept), and the kept versions, newest first."""

    present: BrandedOrganization
    number: int
    versions: Sequence[ListedVersion]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVersion:
    """A version of an organization's branding, with its pictures."""

    organization: BrandedOrganization
    pictures: Mapping[PictureKind, Picture]


def show_history(uow: UnitOfWork, slug: str) -> BrandingHistory:
    """Return the branding and its versions, to a caller who may read it."""
    authorized = authorize(uow, slug, Operation.BRANDING_READ)
    organization = authorized.organization
    kept = uow.branding_versions.listed(organization.id)
    branding = uow.branding.of(organization.id)
    sees_members = Capability.ORG_MEMBERS_VIEW in authorized.capabilities
    before = [version.branding for version, _ in kept[1:]]
    return BrandingHistory(
        present=BrandedOrganization.of(organization, branding),
        number=kept[0][0].number if kept else 0,
        versions=[
            ListedVersion(
                version=version,
                email=email if sees_members else None,
                changes=version.branding.changes(before[place]) if place < len(before) else None,
            )
            for place, (version, email) in enumerate(kept)
        ],
    )


def read_version(uow: UnitOfWork, slug: str, number: int) -> KeptVersion:
    """Return a version with its pictures, to a caller who may read the branding; raise `BrandingVersionUnknown`."""
    organization = authorize(uow, slug, Operation.BRANDING_READ).organization
    version = _found(uow.branding_versions.find(organization.id, number))
    return KeptVersion(
        organization=BrandedOrganization.of(organization, version.branding),
        pictures=uow.branding_versions.pictures(organization.id, number),
    )


def use_again(uow: UnitOfWork, slug: str, number: int, *, seen_version: int | None = None) -> BrandedOrganization:
    """Save a version again as the newest one; nothing happens when the present branding is the same.

    Raise `BrandingVersionUnknown`, and `BrandingChanged` when the present version is not `seen_version`.
    """
    authorized = authorize_and_lock(uow, slug, Operation.BRANDING_CHANGE)
    organization_id = authorized.organization.id
    before = uow.branding.of(organization_id)
    wanted = _found(uow.branding_versions.find(organization_id, number)).branding
    # A version may be older than a rule.
    problems = contrast_problems(wanted, {"primary_color": wanted.primary_color})
    if problems:
        raise BadRequest.of_fields(problems)
    kept = uow.branding_versions.pictures(organization_id, number)
    return store(
        uow,
        authorized,
        before,
        # With the time of the present branding, so that an equal one compares equal.
        replace(wanted, updated_at=before.updated_at),
        {kind: kept.get(kind) for kind in PictureKind},
        seen_version=seen_version,
    )


def _found(version: BrandingVersion | None) -> BrandingVersion:
    if version is None:
        raise BrandingVersionUnknown
    return version
