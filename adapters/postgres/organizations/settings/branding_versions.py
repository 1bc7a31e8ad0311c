"""Versions of brandings in the table `branding_versions`, and their pictures in `branding_version_pictures`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.organizations.settings.branding import Branding, BrandingVersion
from core.organizations.settings.pictures import Picture, PictureKind, PictureType

_VERSION: Final = f"v.number, v.made_by, v.is_by_key, {columns(Branding, table='v')}"
_TABLE: Final = "FROM branding_versions v"


class PostgresBrandingVersions(Aggregate):
    """The port `BrandingVersions`."""

    def latest(self, organization_id: UUID) -> BrandingVersion | None:
        return self._one(
            _version,
            f"""
            SELECT   {_VERSION}
            {_TABLE}
            WHERE    v.organization_id = %s
            ORDER BY v.number DESC
            LIMIT    1
            """,
            (organization_id,),
        )

    def add(self, organization_id: UUID, version: BrandingVersion) -> None:
        # A picture is kept once, however many versions have it.
        self._connection.execute_later(
            """
            INSERT INTO branding_version_pictures (organization_id, name, media_type, content)
            SELECT DISTINCT ON (name) organization_id, name, media_type, content
            FROM   branding_pictures
            WHERE  organization_id = %s
            ON CONFLICT (organization_id, name) DO NOTHING
            """,
            (organization_id,),
        )
        self._connection.execute_later(
            f"""
            INSERT INTO branding_versions (organization_id, number, made_by, is_by_key, {columns(Branding)})
            VALUES (%(organization_id)s, %(number)s, %(made_by)s, %(is_by_key)s, {placeholders(Branding)})
            """,
            values(version.branding)
            | {
                "organization_id": organization_id,
                "number": version.number,
                "made_by": version.made_by,
                "is_by_key": version.is_by_key,
            },
        )

    def remove_through(self, organization_id: UUID, number: int) -> None:
        self._connection.execute_later(
            "DELETE FROM branding_versions WHERE organization_id = %s AND number <= %s", (organization_id, number)
        )
        self._connection.execute_later(
            """
            DELETE FROM branding_version_pictures p
            WHERE  p.organization_id = %s
              AND  NOT EXISTS (SELECT
                               FROM   branding_versions v
                               WHERE  v.organization_id = p.organization_id AND p.name IN (v.logo, v.icon))
            """,
            (organization_id,),
        )

    def listed(self, organization_id: UUID) -> Sequence[tuple[BrandingVersion, str | None]]:
        return self._all(
            _listed,
            f"""
            SELECT   {_VERSION}, u.email
            {_TABLE}
            LEFT     JOIN users u ON u.id = v.made_by
            WHERE    v.organization_id = %s
            ORDER BY v.number DESC
            """,
            (organization_id,),
        )

    def find(self, organization_id: UUID, number: int) -> BrandingVersion | None:
        return self._one(
            _version,
            f"SELECT {_VERSION} {_TABLE} WHERE v.organization_id = %s AND v.number = %s",
            (organization_id, number),
        )

    def pictures(self, organization_id: UUID, number: int) -> Mapping[PictureKind, Picture]:
        rows = self._rows(
            """
            SELECT k.kind, p.media_type, p.content
            FROM   branding_versions v
            CROSS  JOIN LATERAL (VALUES ('logo', v.logo), ('icon', v.icon)) k (kind, name)
            JOIN   branding_version_pictures p ON p.organization_id = v.organization_id AND p.name = k.name
            WHERE  v.organization_id = %s AND v.number = %s
            """,
            (organization_id, number),
        )
        return {
            PictureKind(row["kind"]): Picture(type=PictureType(row["media_type"]), content=bytes(row["content"]))
            for row in rows
        }


def _version(*, number: int, made_by: UUID | None, is_by_key: bool, **columns: Any) -> BrandingVersion:
    return BrandingVersion(number=number, branding=Branding(**columns), made_by=made_by, is_by_key=is_by_key)


def _listed(*, email: str | None, **columns: Any) -> tuple[BrandingVersion, str | None]:
    return _version(**columns), email
