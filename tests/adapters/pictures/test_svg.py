"""SVG: what is served only draws. Everything active, external or unknown is dropped, or the file is refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from adapters.pictures.svg import DEPTH_MAX, ELEMENTS_MAX, cleaned_svg
from core.organizations.settings.pictures import PictureInvalid

NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
RECT = '<rect width="1" height="1"/>'


def svg(body: str, attributes: str = 'viewBox="0 0 1 1"') -> bytes:
    return f"<svg {NAMESPACES} {attributes}>{body}</svg>".encode()


def cleaned(body: str) -> str:
    """Return what is left of the content of a picture."""
    text = cleaned_svg(svg(body)).decode()
    found = re.fullmatch(r'<svg xmlns="http://www\.w3\.org/2000/svg" viewBox="0 0 1 1"(?:/>|>(.*)</svg>)', text)
    assert found is not None, text
    return found[1] or ""


@pytest.mark.parametrize(
    "body",
    [
        RECT,
        '<path d="M0 0L1 1z" fill="#14544a" stroke-width="2"/>',
        '<g transform="translate(1,2) rotate(45)"><circle cx="1" cy="2" r="3" fill="rgb(1, 2, 3)"/></g>',
        '<defs><linearGradient id="a"><stop offset="0" stop-color="red"/></linearGradient></defs>'
        '<rect width="1" height="1" fill="url(#a)"/>',
        '<title>Acme &amp; Sons</title><text x="1" font-family="\'Open Sans\', serif">Acme <tspan>Inc</tspan>.</text>',
        '<linearGradient id="b" href="#a"/>',
    ],
)
def test_what_draws_is_kept(body: str) -> None:
    assert cleaned(body) == body


@pytest.mark.parametrize(
    "body",
    [
        "<script>alert(1)</script>",
        '<script href="https://evil.example/x.js"/>',
        "<style>@import url(https://evil.example/x.css)</style>",
        '<image href="https://evil.example/x.png"/>',
        '<image href="data:image/svg+xml;base64,PHN2Zy8+"/>',
        '<use href="https://evil.example/x.svg#a"/>',
        '<use href="#a"/>',
        "<foreignObject><b xmlns='http://www.w3.org/1999/xhtml'><iframe src='javascript:x'/></b></foreignObject>",
        '<a href="javascript:alert(1)"><rect/></a>',
        '<animate attributeName="href" values="javascript:alert(1)"/>',
        '<set attributeName="onmouseover" to="alert(1)"/>',
        '<filter id="f"><feImage href="https://evil.example/x.png"/></filter>',
        "<!-- a comment --><?xml-stylesheet href='x.css'?>",
        '<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
        '<handler type="application/ecmascript">alert(1)</handler>',
    ],
)
def test_what_is_active_or_external_is_dropped(body: str) -> None:
    assert cleaned(body) == ""
    assert cleaned(f"<g>{body}{RECT}</g>") == f"<g>{RECT}</g>"


@pytest.mark.parametrize(
    "attribute",
    [
        'onload="alert(1)"',
        'onclick="alert(1)"',
        'href="#a"',
        'xlink:href="javascript:alert(1)"',
        'fill="url(https://evil.example/x.svg#a)"',
        'fill="url(//evil.example#a)"',
        "fill=\"url('#a') url(x)\"",
        'fill="URL(x)"',
        'fill="u\\72l(x)"',
        'mask="url(data:image/svg+xml,x#a)"',
        'style="background:url(https://evil.example/)"',
        'style="fill:url(https://evil.example/)"',
        'style="fill:expression(alert(1))"',
        'style="behavior:url(x.htc)"',
        'class="a"',
        'id="a b"',
        'data-x="1"',
        'x:y="1" xmlns:x="urn:x"',
        'xml:base="https://evil.example/"',
    ],
)
def test_an_attribute_that_does_more_than_draw_is_dropped(attribute: str) -> None:
    assert cleaned(f'<rect width="1" {attribute}/>') == '<rect width="1"/>'


def test_a_style_becomes_attributes() -> None:
    assert cleaned('<rect style="fill: #fff; stroke:url(#a);-x:1;opacity"/>') == '<rect fill="#fff" stroke="url(#a)"/>'


def test_a_gradient_refers_to_its_own_file_only() -> None:
    assert cleaned('<linearGradient id="a" xlink:href="x.svg#b"/>') == '<linearGradient id="a"/>'
    assert cleaned('<linearGradient id="a" xlink:href="#b"/>') == '<linearGradient id="a" href="#b"/>'


def test_text_outside_of_texts_is_dropped() -> None:
    assert cleaned(f"hidden<g>hidden{RECT}hidden</g>hidden") == f"<g>{RECT}</g>"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not XML",
        b"<svg",
        b"\xff\xfe<\x00s\x00v\x00g\x00",
        b'<?xml version="1.0" encoding="utf-7"?>+ADw-svg+AD4-',
        b"<svg/>",
        b"<html xmlns='http://www.w3.org/1999/xhtml'/>",
        svg(RECT, ""),
        svg(RECT, 'width="1"'),
        b"<!DOCTYPE svg SYSTEM 'https://evil.example/x.dtd'>" + svg(RECT),
        b"<!DOCTYPE svg [<!ENTITY a 'a'><!ENTITY b '&a;&a;'>]>" + svg("<text>&b;</text>"),
        b"<!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>" + svg("<text>&a;</text>"),
        svg("<text>&undefined;</text>"),
        svg("<g>" * DEPTH_MAX + "</g>" * DEPTH_MAX),
        svg(RECT * ELEMENTS_MAX),
        svg("<g>" * 5000 + "</g>" * 5000),
    ],
)
def test_what_is_no_picture_is_refused(content: bytes) -> None:
    with pytest.raises(PictureInvalid):
        cleaned_svg(content)


def test_a_declared_encoding_does_not_change_what_is_read() -> None:
    content = b'<?xml version="1.0" encoding="utf-16"?>' + svg(RECT)

    assert RECT.encode() in cleaned_svg(content)


def test_cleaning_twice_changes_nothing_more() -> None:
    once = cleaned_svg(svg(f'<g style="fill:red" onclick="x">{RECT}<title>ä</title></g>'))

    assert cleaned_svg(once) == once


@given(st.text(alphabet="<>/=\"'& abgnorscriptvx:#();!-?", max_size=60))
def test_whatever_is_sent_nothing_is_left_but_what_draws(body: str) -> None:
    try:
        text = cleaned_svg(svg(body))
    except PictureInvalid:
        return

    root = etree.fromstring(text)
    assert not {etree.QName(one).localname for one in root.iter()} & {"script", "a", "image", "style"}
    assert all(not str(name).startswith("on") for one in root.iter() for name in one.attrib)
