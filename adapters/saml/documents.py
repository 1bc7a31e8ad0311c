"""Reading XML from strangers: without DTDs, entities, network access, or sizes and depths beyond a bound.

Messages with comments are refused; comments in metadata are ignored.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from lxml import etree

from core.sign_in.upstream.provider_problems import ProviderProblem
from core.wording import Wording

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - the class of every element

DOCUMENT_BYTES_MAX: Final = 256 * 1024
DEPTH_MAX: Final = 40
ELEMENTS_MAX: Final = 5_000
# Before a signature is verified, its element is canonicalized, and that takes the square of these at every element.
NAMESPACES_MAX: Final = 40
ATTRIBUTES_MAX: Final = 200
TEXT_CHARACTERS_MAX: Final = 4_096

PROTOCOL: Final = "urn:oasis:names:tc:SAML:2.0:protocol"
ASSERTION: Final = "urn:oasis:names:tc:SAML:2.0:assertion"
METADATA: Final = "urn:oasis:names:tc:SAML:2.0:metadata"
SIGNATURE: Final = "http://www.w3.org/2000/09/xmldsig#"
ENCRYPTION: Final = "http://www.w3.org/2001/04/xmlenc#"
ENCRYPTION_11: Final = "http://www.w3.org/2009/xmlenc11#"

_ID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,255}")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?")
_MICROSECOND_DIGITS: Final = re.compile(r"(\.\d{6})\d+")
_BLANKS: Final = re.compile(rb"\s+")


class Unreadable(Exception):
    """The document is not what it should be; the text says why, as a sentence.

    The word says what kind of problem that is of the answer of an identity provider.
    """

    word = ProviderProblem.UNREADABLE


class Unsigned(Unreadable):
    """The document has no signature."""

    word = ProviderProblem.UNSIGNED


class WrongSignature(Unreadable):
    """The signature of the document is by another key, or the document was changed."""

    word = ProviderProblem.SIGNATURE


class WeakSignature(Unreadable):
    """The signature of the document is by an algorithm that is not accepted."""

    word = ProviderProblem.WEAK_SIGNATURE


class Undeciphered(Unreadable):
    """What the document has encrypted cannot be read by us."""

    word = ProviderProblem.UNDECIPHERED


def decode_base64(value: str) -> bytes:
    """Return the bytes of a value in base64, which may be wrapped in lines."""
    try:
        return base64.b64decode(_BLANKS.sub(b"", value.encode("ascii")), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise Unreadable("It is not valid base64.") from None


def inflate(data: bytes) -> bytes:
    """Return what was compressed for the redirect binding, if it is within the bound."""
    decompressor = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        inflated = decompressor.decompress(data, DOCUMENT_BYTES_MAX + 1)
    except zlib.error:
        raise Unreadable("It is not compressed with DEFLATE.") from None
    if len(inflated) > DOCUMENT_BYTES_MAX:
        raise Unreadable(Wording("It is larger than %(kibibytes)s KiB.", kibibytes=DOCUMENT_BYTES_MAX // 1024))
    if not decompressor.eof or decompressor.unused_data:
        raise Unreadable("It is not compressed with DEFLATE.")
    return inflated


def deflate(data: bytes) -> bytes:
    """Compress a message for the redirect binding."""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


def parse(data: bytes, bytes_max: int = DOCUMENT_BYTES_MAX, elements_max: int = ELEMENTS_MAX) -> Element:
    """Return the root element; raise `Unreadable` for anything that a message has no need of."""
    return _parsed(data, bytes_max, elements_max, is_message=True)


def parse_metadata(data: bytes, bytes_max: int, elements_max: int) -> Element:
    """Return the root element of metadata, without its comments and processing instructions; raise `Unreadable`.

    People write metadata, and comment on what they write. A message has no comments: what is left out of the signed
    text could cut a name in two.
    """
    return _parsed(data, bytes_max, elements_max, is_message=False)


def _parsed(data: bytes, bytes_max: int, elements_max: int, *, is_message: bool) -> Element:
    if len(data) > bytes_max:
        raise Unreadable(Wording("It is larger than %(kibibytes)s KiB.", kibibytes=bytes_max // 1024))
    # The parser reads UTF-8 whatever the declaration says, so this finds every DTD before it is parsed.
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise Unreadable("It contains a document type definition.")
    try:
        root = etree.fromstring(data, _parser(keeps_all=is_message))
    except (etree.XMLSyntaxError, ValueError):
        raise Unreadable("It is not well-formed XML in UTF-8.") from None
    _require_plain(root, elements_max)
    return root


def _parser(*, keeps_all: bool) -> etree.XMLParser[Element]:
    # A parser for each document, because its state must not be shared between threads.
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        no_network=True,
        huge_tree=False,
        remove_comments=not keeps_all,
        remove_pis=not keeps_all,
    )


def _require_plain(root: Element, elements_max: int) -> None:
    """Refuse comments, processing instructions, entities, and more or deeper content than a document has."""
    if root.getroottree().docinfo.doctype or root.getprevious() is not None or root.getnext() is not None:
        raise Unreadable("It contains more than one element with its contents.")
    declared = 0
    for event, _ in etree.iterwalk(root, events=("start-ns", "end-ns")):
        # By an element and those around it.
        declared += 1 if event == "start-ns" else -1
        if declared > NAMESPACES_MAX:
            raise Unreadable("It declares too many namespaces.")
    depth, elements = 0, 0
    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event in {"comment", "pi"} or not isinstance(node.tag, str):
            raise Unreadable("It contains a comment, an entity or a processing instruction.")
        depth += 1 if event == "start" else -1
        elements += event == "start"
        if depth > DEPTH_MAX or elements > elements_max or len(node.keys()) > ATTRIBUTES_MAX:
            raise Unreadable("It has too many elements or attributes, or they are nested too deeply.")


def require_unique_ids(root: Element) -> str:
    """Return the id of the root element; raise `Unreadable` when it has none, or another element has the same."""
    own = root.get("ID") or ""
    if not _ID.fullmatch(own):
        raise Unreadable("Its ID is missing or not valid.")
    for element in elements(root):
        if element is not root and own in {value for name, value in element.items() if name.lower().endswith("id")}:
            raise Unreadable("Two of its elements have the same ID.")
    return own


def elements(root: Element) -> Iterator[Element]:
    """List all elements of a document that was parsed here."""
    return root.iter("*")


def only(parent: Element, namespace: str, name: str) -> Element | None:
    """Return the child of that name; None without one. Raise `Unreadable` for two."""
    found = parent.findall(f"{{{namespace}}}{name}")
    if len(found) > 1:
        raise Unreadable(Wording("It has more than one %(name)s.", name=name))
    return found[0] if found else None


def required(parent: Element, namespace: str, name: str) -> Element:
    """Return the child of that name; raise `Unreadable` without one."""
    found = only(parent, namespace, name)
    if found is None:
        raise Unreadable(Wording("It has no %(name)s.", name=name))
    return found


def text(element: Element) -> str:
    """Return the text of an element that has nothing but text."""
    value = (element.text or "").strip()
    if len(element) or not 1 <= len(value) <= TEXT_CHARACTERS_MAX:
        raise Unreadable(Wording("Its %(name)s is empty or not a text.", name=etree.QName(element).localname))
    return value


def attribute(element: Element, name: str) -> str | None:
    """Return an attribute; None without one."""
    value = element.get(name)
    if value is not None and len(value) > TEXT_CHARACTERS_MAX:
        raise Unreadable(Wording("Its %(name)s is too long.", name=name))
    return value


def flag(element: Element, name: str) -> bool:
    """Return an attribute that is true or false; False without one."""
    value = element.get(name, "false").strip()
    if value not in {"true", "1", "false", "0"}:
        raise Unreadable(Wording("Its %(name)s is neither true nor false.", name=name))
    return value in {"true", "1"}


def moment(element: Element, name: str) -> datetime | None:
    """Return an attribute that is a time; None without one."""
    value = element.get(name)
    if value is None:
        return None
    if not _TIME.fullmatch(value.strip()):
        raise Unreadable(Wording("Its %(name)s is not a time.", name=name))
    try:
        read = datetime.fromisoformat(_MICROSECOND_DIGITS.sub(r"\1", value.strip()))
        # A time without a zone is in UTC (saml-core-2.0, 1.3.3).
        return (read if read.tzinfo is not None else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unreadable(Wording("Its %(name)s is not a time.", name=name)) from None
