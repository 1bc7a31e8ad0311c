"""The files that pages load."""

from __future__ import annotations

import pytest

from entrypoints.pages.frame.asset_files import FOLDER
from entrypoints.pages.frame.assets import STYLES, asset_address
from tests.application import Client

STYLES_FOLDER = FOLDER / "styles"
STYLE_SHEET = b"\n".join((STYLES_FOLDER / name).read_bytes() for name in STYLES)
CONTENTS = {
    "gatehouse.css": STYLE_SHEET,
    "branding.js": (FOLDER / "scripts" / "branding.js").read_bytes(),
    "carried_form.js": (FOLDER / "scripts" / "carried_form.js").read_bytes(),
    "copying.js": (FOLDER / "scripts" / "copying.js").read_bytes(),
    "first_sign_in.js": (FOLDER / "scripts" / "first_sign_in.js").read_bytes(),
    "keys.js": (FOLDER / "scripts" / "keys.js").read_bytes(),
    "live_log.js": (FOLDER / "scripts" / "live_log.js").read_bytes(),
    "new_passkey.js": (FOLDER / "scripts" / "new_passkey.js").read_bytes(),
    "page.js": (FOLDER / "scripts" / "page.js").read_bytes(),
    "passkeys.js": (FOLDER / "scripts" / "passkeys.js").read_bytes(),
    "reference.js": (FOLDER / "scripts" / "reference.js").read_bytes(),
    "registration.js": (FOLDER / "scripts" / "registration.js").read_bytes(),
    "signal_passkeys.js": (FOLDER / "scripts" / "signal_passkeys.js").read_bytes(),
    "favicon.svg": (FOLDER / "favicon.svg").read_bytes(),
}


def test_every_file_of_the_folder_is_served() -> None:
    assert {file.name for file in FOLDER.iterdir()} == {"favicon.svg", "scripts", "styles"}
    scripts = {name for name in CONTENTS if name.endswith(".js")}
    assert {file.name for file in (FOLDER / "scripts").iterdir()} == scripts
    assert {file.name for file in STYLES_FOLDER.iterdir()} == set(STYLES)


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
