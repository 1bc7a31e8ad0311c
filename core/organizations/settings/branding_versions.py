"""Earlier versions of a branding: listing them, looking at one, and using one again.

`branding.py` keeps a version with each change, the last `VERSIONS_MAX` of them. The pictures of a version are kept with
it, and shown only to people who may change the branding; the public gets the pictures of the present version.
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


def show(uow: UnitOfWork, slug: str) -> BrandingHistory:
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
