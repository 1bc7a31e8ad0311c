"""The branding of an organization: set, served, and used by pages and mails."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import pytest

from core.colors import DARK_SURFACE, contrast
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations.settings import branding
from core.organizations.settings.branding import Branding
from entrypoints.pages.frame.brands import Brand
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.pictures import chunk, data_url, drawn_png
from tests.world.team import Team
from tests.world.world import World, assert_refused

PNG = drawn_png(4, 3)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>'
UNSET: dict[str, Any] = dict.fromkeys(
    ("logo", "icon", "primary_color", "background_color", "support_email", "terms_url", "privacy_url")
)
TEXTS = {
    "primary_color": "#14544a",
    "background_color": "#ffffff",
    "support_email": "help@acme.example",
    "terms_url": "https://acme.example/terms",
    "privacy_url": "https://acme.example/privacy",
}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


async def change(team: Team, **body: Any) -> Answer:
    return await team.request("owner", "PATCH", "/branding", body=body)


async def file_of(team: Team, address: str) -> Answer:
    """Return what is served at an address of a branding."""
    return await team.world.client.get(address.removeprefix(team.world.installation.settings.base_url))


class TestRecord:
    """GET and PATCH /branding."""

    async def test_a_branding_is_empty_until_it_is_set(self, team: Team) -> None:
        answer = await team.request("admin", "GET", "/branding")

        assert answer.json == UNSET | {"updated_at": None}

    async def test_named_fields_change_null_removes_one_and_all_is_recorded(self, team: Team) -> None:
        first = await change(team, **TEXTS)
        second = await change(team, terms_url=None, primary_color="#2A4B8D")

        assert first.json == UNSET | TEXTS | {"updated_at": "2026-02-03T04:05:06Z"}
        assert second.json == first.json | {"terms_url": None, "primary_color": "#2a4b8d"}
        assert (await team.request("owner", "GET", "/branding")).json == second.json
        [_, (organization_id, actor, target, details)] = team.world.audit_entries("branding.updated")
        assert (organization_id, actor) == (team.organization_id, team.ids["owner"])
        assert target == str(team.organization_id)
        assert details == {
            "changes": {
                "primary_color": {"from": "#14544a", "to": "#2a4b8d"},
                "terms_url": {"from": "https://acme.example/terms", "to": None},
            }
        }

    async def test_changing_nothing_records_nothing(self, team: Team) -> None:
        await change(team, **TEXTS)

        await change(team, **TEXTS)
        await change(team)

        assert len(team.world.audit_entries("branding.updated")) == 1

    async def test_invalid_input_is_refused_with_the_field(self, team: Team, subtests: pytest.Subtests) -> None:
        for field, value in (
            *(("primary_color", "red"), ("primary_color", "#ffff00"), ("background_color", "#0000001")),
            *(("support_email", "help"), ("terms_url", "javascript:alert(1)"), ("terms_url", "/terms")),
            *(("privacy_url", "https://user@acme.example/"), ("privacy_url", "https://a b"), ("privacy_url", "")),
            *(("privacy_url", "https://acme.example:99999/"), ("privacy_url", "https://acme.example/" + "a" * 2000)),
            *(("logo", "https://evil.example/logo.png"), ("logo", "data:text/html;base64,PGI+"), ("logo", "")),
            *(("icon", "data:image/png;base64,***"), ("icon", "data:image/png,abc"), ("icon", data_url(b"GIF89a"))),
            *(("logo", data_url(b"<svg/>", "image/svg+xml")), ("logo", data_url(bytes(256 * 1024 + 1)))),
            ("logo", data_url(drawn_png(3, 2, data=[zlib.compress(bytes(50_000_000))]))),
        ):
            with subtests.test(field=field, value=value):
                answer = await change(team, **{field: value})

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.invalid_fields == [field]
                assert (await team.request("owner", "GET", "/branding")).json["updated_at"] is None

    async def test_all_invalid_fields_are_named(self, team: Team) -> None:
        answer = await change(team, primary_color="red", terms_url="x", logo="x", icon="y")

        assert answer.invalid_fields == ["primary_color", "terms_url", "logo", "icon"]

    @pytest.mark.parametrize(
        ("first", "second", "field"),
        [
            ({}, {"primary_color": "#767676", "background_color": "#767676"}, "primary_color"),
            ({"primary_color": "#14544a"}, {"background_color": "#000000"}, "background_color"),
            ({"background_color": "#000000"}, {"primary_color": "#14544a"}, "primary_color"),
        ],
    )
    async def test_colours_without_contrast_are_refused(
        self, team: Team, first: dict[str, Any], second: dict[str, Any], field: str
    ) -> None:
        await change(team, **first)

        answer = await change(team, **second)

        assert answer.status == 400
        assert answer.invalid_fields == [field]

    async def test_a_body_over_one_mebibyte_is_refused(self, team: Team) -> None:
        assert_refused(await change(team, logo="x" * 1024 * 1024), 413, "PAYLOAD_TOO_LARGE")

    async def test_a_caller_without_the_capability_learns_nothing_about_the_input(self, team: Team) -> None:
        answer = await team.request("member", "PATCH", "/branding", body={"logo": data_url(b"GIF89a")})

        assert_refused(answer, 403, "FORBIDDEN")

    async def test_changes_at_once_are_all_kept(self, team: Team) -> None:
        await team.token("owner")

        answers = await at_once(
            *[lambda name=name, value=value: change(team, **{name: value}) for name, value in TEXTS.items()],
            lambda: change(team, logo=data_url(PNG)),
        )

        shown = (await team.request("owner", "GET", "/branding")).json
        assert statuses_of(answers) == [200] * 6
        assert {name: shown[name] for name in TEXTS} == TEXTS
        assert shown["logo"] is not None


class TestPictures:
    """Pictures on our own origin."""

    @pytest.mark.parametrize(("content", "media_type"), [(PNG, "image/png"), (SVG, "image/svg+xml")])
    async def test_a_picture_is_served_for_ever_and_can_do_nothing(
        self, team: Team, content: bytes, media_type: str
    ) -> None:
        answer = await change(team, logo=data_url(content, media_type))

        served = await file_of(team, answer.json["logo"])
        assert served.status == 200
        assert served.content == content
        assert served.headers["Content-Type"] == media_type
        assert served.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert served.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
        assert served.headers["X-Content-Type-Options"] == "nosniff"
        assert served.headers["Cross-Origin-Resource-Policy"] == "cross-origin"

    async def test_what_is_served_is_rebuilt_and_named_by_its_content(self, team: Team) -> None:
        plain = (await change(team, logo=data_url(PNG))).json["logo"]

        hidden = drawn_png(4, 3, extra=[chunk(b"tEXt", b"<script>")]) + b"<script>"
        same = (await change(team, logo=data_url(hidden))).json["logo"]
        other = (await change(team, logo=data_url(drawn_png(5, 3)))).json["logo"]

        assert plain == same != other
        assert (await file_of(team, plain)).status == 404
        assert (await file_of(team, other)).content == drawn_png(5, 3)

    async def test_an_address_of_the_branding_itself_leaves_the_picture(self, team: Team) -> None:
        address = (await change(team, logo=data_url(PNG), icon=data_url(SVG, "image/svg+xml"))).json["logo"]

        answer = await change(team, logo=address, icon=None)

        assert (answer.json["logo"], answer.json["icon"]) == (address, None)
        assert (await file_of(team, address)).status == 200

    async def test_no_picture_is_served_under_another_organization(self, team: Team, world: World) -> None:
        address = (await change(team, logo=data_url(PNG))).json["logo"]
        globex = world.organization("globex")

        answer = await file_of(team, address.replace(str(team.organization_id), str(globex)))

        assert answer.status == 404

    async def test_an_organization_that_is_not_active_shows_nothing(self, team: Team, world: World) -> None:
        address = (await change(team, logo=data_url(PNG))).json["logo"]
        world.set_organization_status(team.organization_id, "suspended")

        assert (await file_of(team, address)).status == 404
        assert (await world.client.get(f"{team.path}/branding/public")).status == 404


class TestPublicPart:
    """GET /branding/public."""

    async def test_everybody_sees_the_branding_and_the_name(self, team: Team, world: World) -> None:
        shown = (await change(team, **TEXTS, logo=data_url(PNG))).json

        answer = await world.client.get(f"{team.path}/branding/public")

        assert answer.status == 200
        del shown["updated_at"]
        assert answer.json == shown | {"name": "Acme"}

    async def test_an_organization_without_branding_has_its_name_and_an_unknown_one_is_not_found(
        self, team: Team, world: World
    ) -> None:
        answer = await world.client.get(f"{team.path}/branding/public")

        assert answer.json == UNSET | {"name": "Acme"}
        assert (await world.client.get("/api/organizations/nowhere/branding/public")).status == 404


class TestUse:
    """Mails and pages whose context is the organization."""

    async def test_the_pages_of_a_mailed_link_have_its_colours_and_logo(self, team: Team, world: World) -> None:
        address = (await change(team, **TEXTS, logo=data_url(PNG), icon=data_url(PNG))).json["logo"]
        await world.client.post(
            "/api/auth/magic-link/request", body={"email": "member@example.com", "org_slug": "acme"}
        )
        token = (await world.mail()).values["token"]

        page = await world.client.get(f"/auth/magic-link?token={token}")
        german = await world.client.get(f"/auth/magic-link?token={token}", headers={"Accept-Language": "de"})

        path = address.removeprefix(world.installation.settings.base_url)
        assert f'<img class="brand-logo" src="{path}" alt=""><span>Acme</span>' in page.text
        assert "provided by Gatehouse" in page.text
        assert "bereitgestellt von Gatehouse" in german.text
        assert f'<link rel="icon" href="{path}">' in page.text
        assert '<a href="https://acme.example/terms" rel="noreferrer">Terms of use</a>' in page.text
        assert '<a href="https://acme.example/terms" rel="noreferrer">Nutzungsbedingungen</a>' in german.text
        [sheet] = [part.split('"')[0] for part in page.text.split('href="') if part.split('"')[0].endswith(".css")][1:]
        served = await world.client.get(sheet)
        assert served.headers["Content-Type"] == "text/css; charset=utf-8"
        assert "--accent: #14544a; --accent-hover: #11473f; --on-accent: #ffffff;" in served.text
        assert (await world.client.get(sheet.replace(".css", "0.css"))).status == 404

    async def test_a_dark_page_has_the_primary_colour_as_light_as_it_has_to_be(self, team: Team, world: World) -> None:
        await change(team, primary_color="#14544a", background_color="#ffffff")
        organization = await world.installation.database.read(branding.brand_of, team.organization_id)
        assert organization is not None

        light, dark = Brand(organization, None).colors.splitlines()
        readable = Brand(replace(organization, branding=Branding(primary_color="#8a8a8a")), None).colors.splitlines()[1]

        assert "--ground: #ffffff; --on-ground: #000000; --accent: #14544a;" in light
        assert "prefers-color-scheme: dark" in dark
        assert "--ground" not in dark
        assert contrast(dark.partition("--accent: ")[2][:7], DARK_SURFACE) >= 4.5
        assert "--accent: #8a8a8a;" in readable

    @pytest.mark.parametrize(
        ("template", "has_links"), [(MailTemplate.MAGIC_LINK, False), (MailTemplate.TRIAL_ENDING, True)]
    )
    async def test_mails_have_its_logo_and_only_those_without_a_secret_its_links(
        self, team: Team, world: World, template: MailTemplate, has_links: bool
    ) -> None:
        address = (await change(team, **TEXTS, logo=data_url(PNG))).json["logo"]
        values: dict[str, Any] = {
            "token": "t",
            "place": "Acme",
            "first_proof": "",
            "service": "Shop",
            "organization": "Acme",
        }
        database = world.installation.database
        await database.transact(mail.send, "ada@example.org", template, organization_id=team.organization_id, **values)

        [claimed] = await database.transact(mail.claim, 10)
        rendered = world.installation.mail_renderer.render(claimed.message, claimed.brand)

        assert f'<img src="{address}" alt=""' in rendered.html
        assert ">Acme</span>" in rendered.html
        for text in (rendered.html, rendered.text):
            assert ("https://acme.example/terms" in text) is has_links
            assert ("help@acme.example" in text) is has_links
        if not has_links:
            assert "background: #14544a; color: #ffffff" in rendered.html

    async def test_a_logo_that_mail_programs_do_not_show_is_left_out(self, team: Team, world: World) -> None:
        await change(team, logo=data_url(SVG, "image/svg+xml"))
        database = world.installation.database
        values: dict[str, Any] = {"service": "Shop", "organization": "Acme"}
        await database.transact(
            mail.send,
            "ada@example.org",
            MailTemplate.TRIAL_ENDING,
            organization_id=team.organization_id,
            **values,
        )

        [claimed] = await database.transact(mail.claim, 10)

        assert claimed.brand is not None
        assert claimed.brand.logo is None
        assert "<img" not in world.installation.mail_renderer.render(claimed.message, claimed.brand).html
