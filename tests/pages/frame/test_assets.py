"""The files that pages load."""

from __future__ import annotations

import gzip
import re

import pytest

from core.colors import BLACK, DARK_SURFACE, GROUND, WHITE, contrast
from entrypoints.pages.frame.assets import FONT, STYLES, asset_address, style_sheet
from entrypoints.pages.frame.platform_look import FOLDER
from tests.application import Client

STYLES_FOLDER = FOLDER / "styles"
SCRIPTS = sorted((FOLDER / "scripts").iterdir())
STYLE_SHEET_BYTES_MAX = 16 * 1024
SCRIPT_BYTES_MAX = 15 * 1024
FONT_BYTES_MAX = 60 * 1024
CONTENTS = {
    "gatehouse.css": style_sheet().encode(),
    "favicon.svg": (FOLDER / "favicon.svg").read_bytes(),
    FONT: (FOLDER / "fonts" / FONT).read_bytes(),
    **{file.name: file.read_bytes() for file in SCRIPTS},
}


def test_every_file_of_the_folder_is_served() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {"favicon.svg", "fonts", "scripts", "styles"}
    assert {file.name for file in STYLES_FOLDER.iterdir()} == set(STYLES)
    # The font with its licence.
    assert {file.name for file in (FOLDER / "fonts").iterdir()} == {FONT, "LICENSE.txt"}
    assert {file.suffix for file in SCRIPTS} == {".js"}


def test_what_every_page_loads_is_small() -> None:
    assert len(gzip.compress(style_sheet().encode())) <= STYLE_SHEET_BYTES_MAX
    assert len(CONTENTS[FONT]) <= FONT_BYTES_MAX
    assert {file.name for file in SCRIPTS if file.stat().st_size > SCRIPT_BYTES_MAX} == set()


def test_no_ground_of_a_page_is_nearer_to_a_text_than_that_for_which_the_colours_of_brands_are_made_readable() -> None:
    text = (STYLES_FOLDER / "base.css").read_text()
    light, _, dark = text.partition("prefers-color-scheme: dark")
    grounds = ("plain-ground", "surface", "side", "inset")

    def of(scheme: str, name: str) -> str:
        [color] = re.findall(rf"--{name}: (#[0-9a-f]+);", scheme)
        return color if len(color) == len(WHITE) else "#" + "".join(2 * digit for digit in color[1:])

    assert all(contrast(of(light, name), BLACK) >= contrast(GROUND, BLACK) for name in grounds)
    assert all(contrast(of(dark, name), WHITE) >= contrast(DARK_SURFACE, WHITE) for name in grounds)


async def test_the_style_sheet_names_the_font_which_a_sandboxed_page_may_load(client: Client) -> None:
    sheet = await client.get(asset_address("gatehouse.css"))
    font = await client.get(asset_address(FONT))

    assert f'url("{asset_address(FONT)}")' in sheet.text
    assert "font-display: swap" in sheet.text
    assert font.headers["Content-Type"] == "font/woff2"
    assert font.headers["Access-Control-Allow-Origin"] == "*"


async def test_every_file_is_served_unchanged_and_may_be_cached_forever(
    client: Client, subtests: pytest.Subtests
) -> None:
    for name, content in CONTENTS.items():
        with subtests.test(name=name):
            answer = await client.get(asset_address(name))

            assert answer.status == 200
            assert answer.content == content
            assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_the_media_types_are_those_of_a_style_sheet_a_script_and_an_image(client: Client) -> None:
    sheet = await client.get(asset_address("gatehouse.css"))
    script = await client.get(asset_address("passkeys.js"))
    picture = await client.get(asset_address("favicon.svg"))

    assert sheet.headers["Content-Type"] == "text/css; charset=utf-8"
    assert script.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert picture.headers["Content-Type"] == "image/svg+xml; charset=utf-8"


def test_the_address_of_a_file_changes_with_its_content() -> None:
    assert len({asset_address(name) for name in CONTENTS}) == len(CONTENTS)
    assert asset_address("gatehouse.css") != "/assets/gatehouse.css"


async def test_no_other_path_below_assets_is_served(client: Client, subtests: pytest.Subtests) -> None:
    for path in (
        "/assets/gatehouse.css",
        "/assets/gatehouse.0000000000000000.css",
        "/assets/",
        "/assets/%2e%2e%2fassets.py",
        "/assets/..%2f..%2fsettings.py",
        "/assets/%2e%2e/rendering.py",
        "/assets/..\\assets.py",
        "/assets//etc/passwd",
        "/assets/%00",
    ):
        with subtests.test(path=path):
            answer = await client.get(path)

            assert answer.status == 404
            assert answer.json["error_code"] == "NOT_FOUND"
