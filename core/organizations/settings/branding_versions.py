"""Earlier versions of a branding: listing them, looking at one, and using one again.

`branding.py` keeps a version with each change, the last `VERSIONS_MAX` of them. The pictures of a version are kept with
it, and shown to those who may change the branding alone: what is served to everybody are the pictures of the present
one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.errors import BadRequest, NotFound
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, authorize, authorize_and_lock
from core.organizations.settings.branding import BrandedOrganization, BrandingVersion, contrast_problems, store
from core.organizations.settings.pictures import Picture, PictureKind

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class BrandingVersionUnknown(NotFound):
    """The organization has no such version of its branding, or no longer."""

    default_message = "There is no such version of the branding. Only the last 20 are kept."


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedVersion:
    """A version with the address of its maker, and what it changed as an audit entry has it.

    `email` is None where no person made it by hand, and for a reader who does not see the members. `changes` is None
    for the oldest version that is kept.
    """

    version: BrandingVersion
    email: str | None
    changes: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrandingHistory:
    """The present branding, the number of its version, and the versions that are kept, newest first.

    The number is 0 as long as none is kept.
    """

    present: BrandedOrganization
    number: int
    versions: Sequence[ListedVersion]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVersion:
    """A version of an organization's branding, with its pictures."""

    organization: BrandedOrganization
    pictures: Mapping[PictureKind, Picture]


def show(uow: UnitOfWork, slug: str) -> BrandingHistory:
    """Return the branding and its versions, to a caller who may read it."""
    authorized = authorize(uow, slug, Operation.BRANDING_READ)
    organization = authorized.organization
    kept = uow.branding_versions.listed(organization.id)
    branding = uow.branding.of(organization.id)
    sees_members = Capability.ORG_MEMBERS_VIEW in authorized.capabilities
    before = [version.branding for version, _ in kept[1:]]
    return BrandingHistory(
        present=BrandedOrganization(organization_id=organization.id, name=organization.name, branding=branding),
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
        organization=BrandedOrganization(
            organization_id=organization.id, name=organization.name, branding=version.branding
        ),
        pictures=uow.branding_versions.pictures(organization.id, number),
    )


def use_again(uow: UnitOfWork, slug: str, number: int, *, seen_version: int | None = None) -> BrandedOrganization:
    """Save what a version has as the newest version; nothing when it is what is saved already.

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
        # The time of the present one, to which it may be equal.
        replace(wanted, updated_at=before.updated_at),
        {kind: kept.get(kind) for kind in PictureKind},
        seen_version=seen_version,
    )


def _found(version: BrandingVersion | None) -> BrandingVersion:
    if version is None:
        raise BrandingVersionUnknown
    return version
