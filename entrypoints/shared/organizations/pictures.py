"""Pictures of a branding as they are sent, rebuilt before they are used."""

from __future__ import annotations

from core.errors import BadRequest
from core.organizations.settings.pictures import Picture, PictureInvalid, PictureKind
from entrypoints.web.serving.calls import Call


async def rebuilt(call: Call, sent: Picture, kind: PictureKind) -> Picture:
    """Return a picture from its harmless parts; raise `BadRequest` for its field when it cannot be used."""
    try:
        return await call.installation.pictures.clean(sent)
    except PictureInvalid as invalid:
        raise BadRequest.of_field(kind, str(invalid)) from None
