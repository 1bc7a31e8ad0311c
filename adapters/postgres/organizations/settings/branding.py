"""Brandings and their pictures in the tables `brandings` and `branding_pictures`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.postgres.driver.rows import dict_row, kwargs_row
from adapters.postgres.transaction import Aggregate
from core.organizations.settings.branding import BrandedOrganization, Branding
from core.organizations.settings.pictures import Picture, PictureType

if TYPE_CHECKING:
    from uuid import UUID

    from core.organizations.settings.pictures import PictureKind


class PostgresBrandings(Aggregate):
    """The port `Brandings`."""

    def of(self, organization_id: UUID) -> Branding:
        found = (
            self._connection.cursor(row_factory=kwargs_row(Branding))
            .execute(
                """
                SELECT logo.name AS logo, icon.name AS icon, b.primary_color, b.background_color, b.support_email,
                       b.terms_url, b.privacy_url, b.updated_at
                FROM   brandings b
                LEFT JOIN branding_pictures logo ON logo.organization_id = b.organization_id AND logo.kind = 'logo'
                LEFT JOIN branding_pictures icon ON icon.organization_id = b.organization_id AND icon.kind = 'icon'
                WHERE  b.organization_id = %s
                """,
                (organization_id,),
            )
            .fetchone()
        )
        return found if found is not None else Branding()

    def brand(self, organization_id: UUID) -> BrandedOrganization | None:
        row = (
            self._connection.cursor(row_factory=dict_row)
            .execute(
                """
                SELECT o.name, logo.name AS logo, icon.name AS icon, b.primary_color, b.background_color,
                       b.support_email, b.terms_url, b.privacy_url, b.updated_at
                FROM   brandings b
                LEFT JOIN branding_pictures logo ON logo.organization_id = b.organization_id AND logo.kind = 'logo'
                LEFT JOIN branding_pictures icon ON icon.organization_id = b.organization_id AND icon.kind = 'icon'
                JOIN   organizations o ON o.id = b.organization_id AND o.status = 'active'
                WHERE  b.organization_id = %s
                """,
                (organization_id,),
            )
            .fetchone()
        )
        return _branded(organization_id, row) if row is not None else None

    def save(self, organization_id: UUID, branding: Branding) -> None:
        self._connection.execute_later(
            """
            INSERT INTO brandings (organization_id, primary_color, background_color, support_email, terms_url,
                                   privacy_url, updated_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            ON CONFLICT (organization_id) DO UPDATE
            SET primary_color = excluded.primary_color, background_color = excluded.background_color,
                support_email = excluded.support_email, terms_url = excluded.terms_url,
                privacy_url = excluded.privacy_url, updated_at = excluded.updated_at
            """,
            (
                organization_id,
                branding.primary_color,
                branding.background_color,
                branding.support_email,
                branding.terms_url,
                branding.privacy_url,
                branding.updated_at,
            ),
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


def _branded(organization_id: UUID, row: dict[str, Any]) -> BrandedOrganization:
    return BrandedOrganization(organization_id=organization_id, name=row.pop("name"), branding=Branding(**row))
