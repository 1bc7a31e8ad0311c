"""Pictures that organizations upload: how they are sent, and the limits on them.

An adapter rebuilds each picture from its harmless parts, so what is served is never what was uploaded.
"""

from __future__ import annotations

import base64
import hashlib
from enum import StrEnum
from typing import Final
from uuid import UUID

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.wording import Wording

PICTURE_BYTES_MAX: Final = 256 * 1024
# On our own origin, so that no browser and no mail program asks another one for it.
PATH: Final = "/branding"
PNG_BEGIN: Final = b"\x89PNG\r\n\x1a\n"
_SCHEME: Final = "data:"
_ENCODING: Final = ";base64"


class PictureType(StrEnum):
    """The media types of pictures."""

    PNG = "image/png"
    SVG = "image/svg+xml"


_SUFFIXES: Final = {PictureType.PNG: "png", PictureType.SVG: "svg"}


class PictureKind(StrEnum):
    """What a picture is for."""

    LOGO = "logo"
    ICON = "icon"


class PictureInvalid(Exception):
    """A picture cannot be used; the text tells its sender why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture; its name changes with its content, so that it may be cached for ever."""

    type: PictureType
    content: bytes

    @property
    def name(self) -> str:
        """The name under which it is served."""
        return f"{hashlib.sha256(self.content).hexdigest()[:32]}.{_SUFFIXES[self.type]}"

    @property
    def data_url(self) -> str:
        """The picture as an address that carries it, which `parse_data_url` reads."""
        return f"{_SCHEME}{self.type}{_ENCODING},{base64.b64encode(self.content).decode()}"


def picture_path(organization_id: UUID, name: str) -> str:
    """Return the path under which a picture of a branding is served."""
    return f"{PATH}/{organization_id}/{name}"


def parse_data_url(url: str, field: str) -> Picture:
    """Return the picture in a `data:` URL as it was sent; raise `BadRequest` for the field when there is none."""
    head, comma, data = url.partition(",")
    media_type = head.removeprefix(_SCHEME).removesuffix(_ENCODING)
    is_known = media_type in list(PictureType)
    if not (comma and is_known and head.startswith(_SCHEME) and head.endswith(_ENCODING)):
        raise BadRequest.of_field(
            field, "Send a PNG as data:image/png;base64,… or an SVG as data:image/svg+xml;base64,…, or null for none."
        )
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        raise BadRequest.of_field(field, "The picture is not valid base64.") from None
    return _bounded(Picture(type=PictureType(media_type), content=content), field)


def parse_file(content: bytes, field: str) -> Picture:
    """Return the picture in a file as it was sent; raise `BadRequest` for the field when it is too large.

    The name of a file proves nothing: what does not begin as a PNG is taken for an SVG.
    """
    kind = PictureType.PNG if content.startswith(PNG_BEGIN) else PictureType.SVG
    return _bounded(Picture(type=kind, content=content), field)


def _bounded(picture: Picture, field: str) -> Picture:
    if len(picture.content) > PICTURE_BYTES_MAX:
        raise BadRequest.of_field(
            field, Wording("A picture has at most %(kibibytes)s KiB.", kibibytes=PICTURE_BYTES_MAX // 1024)
        )
    return picture
