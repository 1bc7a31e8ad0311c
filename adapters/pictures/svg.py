"""SVG: rebuilt from elements and attributes that only draw. What is not in the lists below is dropped.

There are no scripts, styles, links, embedded pictures, animations or references to anything but gradients, clips and
masks of the same file. Files with a document type, which could define entities, are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from lxml import etree

from core.organizations.settings.pictures import PictureInvalid
from core.wording import Wording

if TYPE_CHECKING:
    from lxml.etree import _Element as Element  # pyright: ignore[reportPrivateUsage] - the class of every element

ELEMENTS_MAX: Final = 5000
DEPTH_MAX: Final = 50
_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "{http://www.w3.org/1999/xlink}href"
_GRADIENTS: Final = frozenset({"linearGradient", "radialGradient"})
_TEXTS: Final = frozenset({"title", "desc", "text", "tspan"})
_ELEMENTS: Final = (
    frozenset(
        {"svg", "g", "defs", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "stop", "clipPath"}
    )
    | {"mask"}
    | _GRADIENTS
    | _TEXTS
)
# The properties that may also stand in a `style` attribute.
_PROPERTIES: Final = frozenset(
    {
        *("clip-path", "clip-rule", "color", "display", "fill", "fill-opacity", "fill-rule", "font-family"),
        *("font-size", "font-style", "font-weight", "letter-spacing", "mask", "mask-type", "opacity", "paint-order"),
        *("stop-color", "stop-opacity", "stroke", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap"),
        *("stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "stroke-width", "text-anchor", "visibility"),
        *("dominant-baseline", "word-spacing", "shape-rendering", "text-rendering", "vector-effect"),
    }
)
_ATTRIBUTES: Final = _PROPERTIES | {
    *("id", "d", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "fx", "fy", "fr", "dx", "dy"),
    *("width", "height", "viewBox", "preserveAspectRatio", "points", "offset", "pathLength", "transform", "rotate"),
    *("gradientUnits", "gradientTransform", "spreadMethod", "clipPathUnits", "maskUnits", "maskContentUnits"),
    *("textLength", "lengthAdjust"),
}
# No markup, escapes or comments, and only the functions that are checked below; a URL of any scheme has a colon.
_VALUE: Final = re.compile(r"[\w\s.,#%()+'\"/-]*", re.ASCII)
_ID: Final = re.compile(r"[A-Za-z_][\w.-]{0,100}", re.ASCII)
_LOCAL_REFERENCE: Final = re.compile(r"url\(\s*['\"]?#[A-Za-z_][\w.-]{0,100}['\"]?\s*\)", re.ASCII)
_URL: Final = re.compile(r"url|image|src|attr|var|expression", re.IGNORECASE)


def cleaned_svg(content: bytes) -> bytes:
    """Return the picture with what only draws; raise `PictureInvalid` when there is none."""
    root = _parsed(content)
    if root.tag != f"{{{_NAMESPACE}}}svg":
        raise PictureInvalid("This is not an SVG file: its root element is not svg in the namespace of SVG.")
    budget = [ELEMENTS_MAX]
    cleaned = _rebuilt(root, budget, DEPTH_MAX)
    assert cleaned is not None, "the root element is in the list of elements"
    if cleaned.get("viewBox") is None and (cleaned.get("width") is None or cleaned.get("height") is None):
        raise PictureInvalid("The picture has no size. Export it with a viewBox.")
    return etree.tostring(cleaned, encoding="utf-8")


def _parsed(content: bytes) -> Element:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PictureInvalid("An SVG file is text in UTF-8.") from None
    if re.search(r"<!\s*(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise PictureInvalid("The SVG file has a document type. Export it without one.")
    parser = etree.XMLParser(
        # What the file says about its encoding does not count: the check above has read it as UTF-8.
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(text.encode(), parser)
    except etree.XMLSyntaxError:
        raise PictureInvalid("The SVG file is not well-formed XML. Export it again.") from None


def _rebuilt(element: Element, budget: list[int], depth: int) -> Element | None:
    """Return a copy of an element with what is allowed in it; None when the element itself is not."""
    name = etree.QName(element)
    if name.namespace != _NAMESPACE or name.localname not in _ELEMENTS:
        return None
    budget[0] -= 1
    if budget[0] < 0 or depth == 0:
        raise PictureInvalid(
            Wording(
                "A picture has at most %(maximum)s elements, %(depth)s deep. Make it simpler.",
                maximum=ELEMENTS_MAX,
                depth=DEPTH_MAX,
            )
        )
    rebuilt = etree.Element(f"{{{_NAMESPACE}}}{name.localname}", nsmap={None: _NAMESPACE})
    for attribute, value in _allowed_attributes(element, name.localname):
        rebuilt.set(attribute, value)
    has_text = name.localname in _TEXTS
    rebuilt.text = element.text if has_text else None
    for child in element:
        copied = _rebuilt(child, budget, depth - 1) if isinstance(child.tag, str) else None
        if copied is not None:
            copied.tail = child.tail if has_text else None
            rebuilt.append(copied)
    return rebuilt


def _allowed_attributes(element: Element, name: str) -> Iterator[tuple[str, str]]:
    for attribute, value in element.attrib.items():
        attribute, value = str(attribute), str(value)  # noqa: PLW2901 - the library types them as text or bytes
        if attribute == "style":
            yield from _properties(value)
        elif attribute in {"href", _XLINK}:
            # A gradient may take its stops from another one of the same file.
            if name in _GRADIENTS and value.startswith("#") and _ID.fullmatch(value[1:]):
                yield "href", value
        elif attribute == "id":
            if _ID.fullmatch(value):
                yield attribute, value
        elif attribute in _ATTRIBUTES and _is_harmless(value):
            yield attribute, value


def _properties(style: str) -> Iterator[tuple[str, str]]:
    """Yield the declarations of a `style` attribute as attributes, which mean the same and load nothing."""
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name in _PROPERTIES and value and _is_harmless(value):
            yield name, value


def _is_harmless(value: str) -> bool:
    without_references = _LOCAL_REFERENCE.sub("", value)
    return _VALUE.fullmatch(without_references) is not None and _URL.search(without_references) is None
