"""The name, the logo and the colour of the platform on its pages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

import core
from adapters.crypto.passkeys import PyWebAuthn
from adapters.crypto.totp import PyotpTotp
from core.colors import DARK_SURFACE, contrast
from core.organizations.settings.pictures import Picture, PictureType
from core.platform_brand import NAME_DEFAULT, PlatformBrand
from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.pages.frame.platform_look import look_of
from entrypoints.web.serving.application import Application
from tests.application import Client
from tests.pictures import drawn_png

PNG = Picture(type=PictureType.PNG, content=drawn_png(40, 30))
SVG = Picture(
    type=PictureType.SVG, content=b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8"/></svg>'
)
BRAND = PlatformBrand(name="Zebra & Co", color="#c00000", logo=PNG)
CORE = Path(core.__file__ or "").parent
# Where the product itself is meant: by its default name, and for operators, who know it by that.
OF_THE_PRODUCT = {"platform_brand.py", "platform/backups.py", "platform/health_figures.py"}


@pytest.fixture
def branded(installation: Installation) -> Client:
    """A client of a platform with a brand."""
    return Client(Application(replace(installation, platform=BRAND), capabilities.routes(is_development=True)))


def test_no_refusal_names_the_product() -> None:
    found = {
        f"{file.relative_to(CORE)}: {text}"
        for file in CORE.rglob("*.py")
        if str(file.relative_to(CORE)) not in OF_THE_PRODUCT
        for text in texts_of(file)
        if NAME_DEFAULT in text
    }

    assert found == set()


def texts_of(file: Path) -> Iterator[str]:
    """Yield the texts of a module that are no docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            yield node.value


async def test_a_page_has_the_name_the_logo_and_the_colour_and_loads_them(branded: Client) -> None:
    look = look_of(BRAND)

    page = await branded.get("/app/sign-in")

    assert "<title>Sign in · Zebra &amp; Co</title>" in page.text
    assert f'<img class="platform-logo" src="{look.logo}" alt=""><span>Zebra &amp; Co</span>' in page.text
    assert f'<link rel="icon" href="{look.logo}">' in page.text
    assert f'<link rel="stylesheet" href="{look.style_sheet}">' in page.text
    logo, sheet = await branded.get(look.logo or ""), await branded.get(look.style_sheet or "")
    assert (logo.headers["Content-Type"], logo.content) == ("image/png", PNG.content)
    # On the page of a mail program.
    assert logo.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert logo.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert logo.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "--accent: #c00000;" in sheet.text


async def test_without_settings_no_such_file_is_served(branded: Client, client: Client) -> None:
    address = look_of(BRAND).logo or ""

    assert (await branded.get(address)).status == 200
    assert (await client.get(address)).status == 404
    assert "platform-logo" not in (await client.get("/app/sign-in")).text


def test_without_a_logo_the_icon_has_the_colour() -> None:
    look = look_of(PlatformBrand(color="#c00000"))
    [icon] = [file for file in look.files.values() if file.address == look.icon]

    assert look.logo is None
    assert b'fill="#c00000"' in icon.content


def test_mails_show_a_logo_that_mail_programs_show() -> None:
    assert look_of(PlatformBrand(logo=PNG)).mail_logo == look_of(PlatformBrand(logo=PNG)).logo
    assert look_of(PlatformBrand(logo=SVG)).mail_logo is None


def test_a_dark_page_has_the_colour_as_light_as_it_has_to_be() -> None:
    look = look_of(PlatformBrand(color="#14544a"))
    [sheet] = [file.content.decode() for file in look.files.values() if file.address == look.style_sheet]
    _, dark = sheet.splitlines()

    assert contrast(dark.partition("--accent: ")[2][:7], DARK_SURFACE) >= 4.5


def test_authenticator_apps_and_devices_show_the_name() -> None:
    totp, webauthn = PyotpTotp(issuer="Zebra & Co"), PyWebAuthn(rp_id="id.example", rp_name="Zebra & Co", origin="x")

    uri = urlsplit(totp.uri(totp.new_secret(), "ada@example.com").reveal())
    options = webauthn.creation_options(b"c", user_handle=b"u", user_name="ada", excluded=[])

    assert unquote(uri.path) == "/Zebra & Co:ada@example.com"
    assert parse_qs(uri.query)["issuer"] == ["Zebra & Co"]
    assert options["rp"] == {"name": "Zebra & Co", "id": "id.example"}
