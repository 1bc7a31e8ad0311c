"""QR codes: pictures that a page can show as they are."""

from __future__ import annotations

import pytest
from lxml import etree

from adapters.crypto.totp import PyotpTotp
from adapters.qr_codes import SegnoQrCodes

SVG = "{http://www.w3.org/2000/svg}"


async def drawn(content: str, title: str = "A code") -> etree._Element:
    return etree.fromstring(await SegnoQrCodes().svg(content, title=title))


async def test_a_code_is_a_square_picture_with_a_title() -> None:
    picture = await drawn("otpauth://totp/Gatehouse:ada%40example.com?secret=A&issuer=Gatehouse")

    assert picture.tag == f"{SVG}svg"
    assert picture.get("width") == picture.get("height")
    assert picture.findtext(f"{SVG}title") == "A code"


async def test_it_stands_on_white_so_that_it_can_be_read_on_a_dark_page() -> None:
    picture = await drawn("anything")

    assert next(path.get("fill") for path in picture.iter(f"{SVG}path")) == "#fff"


async def test_a_title_is_text() -> None:
    picture = await drawn("anything", title="<script>&")

    assert picture.findtext(f"{SVG}title") == "<script>&"


async def test_it_can_be_embedded_in_a_page_as_it_is() -> None:
    svg = await SegnoQrCodes().svg("anything", title="A code")

    assert svg.startswith("<svg ")
    assert "script" not in svg


@pytest.mark.parametrize("account", ["ada@example.com", "ł" * 254, "𐌰" * 254], ids=["plain", "two bytes", "four bytes"])
async def test_every_account_fits(account: str) -> None:
    totp = PyotpTotp()

    await drawn(totp.uri(totp.new_secret(), account).reveal())
