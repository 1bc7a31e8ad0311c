"""What brings people to pages: the links in letters, and the forms whose button they press."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import msgspec

from core.errors import UnsupportedMediaType
from entrypoints.web.decoding import Query, decode_query
from entrypoints.web.hidden import Hidden

if TYPE_CHECKING:
    from entrypoints.web.calls import Call

FORM: Final = "application/x-www-form-urlencoded"

Shape = TypeVar("Shape")


class MailedLink(Hidden, Query, kw_only=True):
    """What a link in a letter says."""

    token: Annotated[str, msgspec.Meta(description="The token of the link.", examples=["$LINK_TOKEN"])]


class MailedLinkForm(Hidden, kw_only=True):
    """What the button of a page behind a link sends."""

    token: str = ""


async def read_form(call: Call, shape: type[Shape]) -> Shape:
    """Read a form, whose fields are written like those of a query string."""
    data = await call.request.get_data(as_text=False)
    assert isinstance(data, bytes), "it was not asked for as text"
    if data and call.request.mimetype != FORM:
        raise UnsupportedMediaType(f"Send the form as {FORM}.")
    return decode_query(data, shape)
