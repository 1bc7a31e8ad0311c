"""QR codes: SVG images that a page can embed unchanged."""

from __future__ import annotations

import pytest
from lxml import etree

from adapters.crypto.totp import PyotpTotp
from adapters.qr_codes import SegnoQrCodes

SVG = "{http://www.w3.org/2000/svg}"


async def render(content: str, title: str = "A code") -> etree._Element:
    return etree.fromstring(await SegnoQrCodes().svg(content, title=title))


async def test_a_code_is_a_square_image_with_a_title() -> None:
    image = await render("otpauth://totp/Gatehouse:ada%40example.com?secret=A&issuer=Gatehouse")

    assert image.tag == f"{SVG}svg"
    assert image.get("width") == image.get("height")
    assert image.findtext(f"{SVG}title") == "A code"


async def test_a_code_has_a_white_background_for_dark_pages() -> None:
    image = await render("anything")

    assert next(path.get("fill") for path in image.iter(f"{SVG}path")) == "#fff"


async def test_a_title_is_escaped() -> None:
    image = await render("anything", title="<script>&")

    assert image.findtext(f"{SVG}title") == "<script>&"


async def test_a_code_can_be_embedded_in_a_page_unchanged() -> None:
    svg = await SegnoQrCodes().svg("anything", title="A code")

    assert svg.startswith("<svg ")
    assert "script" not in svg


@pytest.mark.parametrize("account", ["ada@example.com", "ł" * 254, "𐌰" * 254], ids=["plain", "two bytes", "four bytes"])
async def test_the_longest_account_names_fit(account: str) -> None:
    totp = PyotpTotp()

    await render(totp.uri(totp.new_secret(), account).reveal())
