"""Bodies that several capabilities answer."""

from typing import ClassVar, Self

import msgspec

from core.errors import BadRequest


class DocumentBody(msgspec.Struct, kw_only=True):
    """A body with one field, the text of a document, which may be sent as it is with one of these media types."""

    documents: ClassVar[tuple[str, ...]]

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Return the body of a document; raise `BadRequest` when it is no text in UTF-8."""
        [field] = cls.__struct_fields__
        try:
            return msgspec.convert({field: data.decode("utf-8-sig")}, cls)
        except UnicodeDecodeError:
            raise BadRequest.of_field(field, "This is not text in UTF-8.") from None


class Empty(msgspec.Struct, kw_only=True):
    """The request succeeded."""


class Message(msgspec.Struct, kw_only=True):
    """What was done, in words for people."""

    message: str
