"""The input of pages: the links in mails, and the forms that people submit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import msgspec

from core.errors import UnsupportedMediaType
from entrypoints.web.decoding import Query, decode_query
from entrypoints.web.hidden import SecretBody

if TYPE_CHECKING:
    from entrypoints.web.calls import Call

FORM: Final = "application/x-www-form-urlencoded"

Shape = TypeVar("Shape")


class MailedLink(SecretBody, Query, kw_only=True):
    """The query of a link in a mail."""

    token: Annotated[str, msgspec.Meta(description="The token of the link.", examples=["$LINK_TOKEN"])]


class MailedLinkForm(SecretBody, kw_only=True):
    """The form of a page that a mailed link opens."""

    token: str = ""


async def read_form(call: Call, shape: type[Shape]) -> Shape:
    """Read a form; raise `UnsupportedMediaType` for another kind of body.

    Its fields are encoded like those of a query string.
    """
    data = await call.request.get_data(as_text=False)
    assert isinstance(data, bytes), "the body is not bytes, although it was requested as bytes"
    if data and call.request.mimetype != FORM:
        raise UnsupportedMediaType(f"Send the form as {FORM}.")
    return decode_query(data, shape)
