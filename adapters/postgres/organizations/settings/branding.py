"""Brandings, their earlier versions, and the pictures of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import assignments, columns, placeholders, values
from adapters.postgres.transaction import Aggregate
from core.organizations.settings.branding import BrandedOrganization, Branding, BrandingVersion
from core.organizations.settings.pictures import Picture, PictureKind, PictureType

if TYPE_CHECKING:
    from core.deferred import Deferred

# Their names are in a table of their own.
_PICTURES: Final = ("logo", "icon")
# The columns of a branding in the tables below; `brandings b` is the first.
BRANDING_COLUMNS: Final = f"logo.name AS logo, icon.name AS icon, {columns(Branding, table='b', without=_PICTURES)}"
PICTURE_TABLES: Final = """
    LEFT JOIN branding_pictures logo ON logo.organization_id = b.organization_id AND logo.kind = 'logo'
    LEFT JOIN branding_pictures icon ON icon.organization_id = b.organization_id AND icon.kind = 'icon'
"""
_TABLES: Final = f"FROM brandings b {PICTURE_TABLES}"


class PostgresBrandings(Aggregate):
    """The port `Brandings`."""

    def of(self, organization_id: UUID) -> Branding:
        found = self._one(
            Branding,
            f"SELECT {BRANDING_COLUMNS} {_TABLES} WHERE b.organization_id = %s",
            (organization_id,),
        )
        return found if found is not None else Branding()

    def brand(self, organization_id: UUID) -> BrandedOrganization | None:
        return self.defer_brand(organization_id)()

    def defer_brand(self, organization_id: UUID) -> Deferred[BrandedOrganization | None]:
        return self._defer_one(
            partial(_branded, organization_id),
            f"""
            SELECT o.name, {BRANDING_COLUMNS}
            {_TABLES}
            JOIN   organizations o ON o.id = b.organization_id AND o.status = 'active'
            WHERE  b.organization_id = %s
            """,
            (organization_id,),
        )

    def save(self, organization_id: UUID, branding: Branding) -> None:
        self._connection.execute_later(
            f"""
            INSERT INTO brandings ({columns(Branding, without=_PICTURES)}, organization_id)
            VALUES ({placeholders(Branding, without=_PICTURES)}, %(organization_id)s)
            ON CONFLICT (organization_id) DO UPDATE SET {assignments(Branding, without=_PICTURES)}
            """,
            values(branding) | {"organization_id": organization_id},
        )

    def set_picture(self, organization_id: UUID, kind: PictureKind, picture: Picture | None) -> None:
        if picture is None:
            self._connection.execute_later(
                "DELETE FROM branding_pictures WHERE organization_id = %s AND kind = %s", (organization_id, kind.value)
            )
            return
        self._connection.execute_later(
            """
            INSERT INTO branding_pictures (organization_id, kind, name, media_type, content)
            VALUES (%s, %s, %s, %s, %s)
            ON CONFLICT (organization_id, kind) DO UPDATE
            SET name = excluded.name, media_type = excluded.media_type, content = excluded.content
            """,
            (organization_id, kind.value, picture.name, picture.type.value, picture.content),
        )

    def picture(self, organization_id: UUID, name: str) -> Picture | None:
        row = self._connection.execute(
            """
            SELECT p.media_type, p.content
            FROM   branding_pictures p
            JOIN   organizations o ON o.id = p.organization_id AND o.status = 'active'
            WHERE  p.organization_id = %s AND p.name = %s
            LIMIT  1
            """,
            (organization_id, name),
        ).fetchone()
        return Picture(type=PictureType(row[0]), content=bytes(row[1])) if row is not None else None


def _branded(organization_id: UUID, *, name: str, **columns: Any) -> BrandedOrganization:
    return BrandedOrganization(organization_id=organization_id, name=name, branding=Branding(**columns))


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
