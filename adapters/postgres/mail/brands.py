"""The brands of mails, from the brandings of their organizations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.colors import text_color_on
from core.mail.brands import MailBrand
from core.organizations.settings.pictures import picture_path


class PostgresMailBrands(Aggregate):
    """The port `MailBrands`."""

    def of(self, organization_ids: Collection[UUID]) -> Mapping[UUID, MailBrand]:
        rows = self._rows(
            """
            SELECT o.id, o.name, b.primary_color, b.support_email, b.terms_url, b.privacy_url,
                   -- Few mail programs show another type of picture.
                   (SELECT p.name
                    FROM   branding_pictures p
                    WHERE  p.organization_id = o.id AND p.kind = 'logo' AND p.media_type = 'image/png') AS logo
            FROM   brandings b
            JOIN   organizations o ON o.id = b.organization_id AND o.status = 'active'
            WHERE  b.organization_id = ANY (%s)
            """,
            (list(organization_ids),),
        )
        return {row["id"]: _brand(**row) for row in rows}


def _brand(*, id: UUID, logo: str | None, primary_color: str | None, **others: Any) -> MailBrand:  # noqa: A002 - a column
    return MailBrand(
        logo=picture_path(id, logo) if logo is not None else None,
        primary_color=primary_color,
        on_primary_color=text_color_on(primary_color) if primary_color is not None else None,
        **others,
    )
