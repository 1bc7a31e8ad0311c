"""The branding in the console: the editor, the preview that saves nothing, and the earlier versions."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from markupsafe import escape

from core.colors import DARK_SURFACE, contrast
from core.organizations.access import Capability
from core.organizations.settings.branding import VERSIONS_MAX
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.multipart import CONTENT_TYPE, form_data
from tests.pictures import chunk, data_url, drawn_png
from tests.shown_text import shows
from tests.world.builder import EMAIL
from tests.world.organization_keys import KEY, insert_organization_key
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

PAGE = "/app/organizations/acme/branding"
PREVIEW = f"{PAGE}/preview"
AGAIN = f"{PAGE}/use-again"
PNG = drawn_png(4, 3)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>'
HOSTILE_SVG = SVG.replace(b"<rect", b'<script>alert(1)</script><rect onload="alert(1)"')
COLOR = "#14544a"


@dataclass
class Editor:
    """The page of a member who may change the branding of Acme."""

    world: World
    visitor: Visitor
    organization_id: UUID

    async def open(self) -> Answer:
        """Open the page."""
        return await self.visitor.open(PAGE)

    async def send(
        self, path: str = PAGE, files: dict[str, bytes] | None = None, page: Answer | None = None, **fields: str
    ) -> Answer:
        """Send the form of a page, or of a fresh one, with these files and fields filled in."""
        form = next(one for one in forms_of(page or await self.open()) if one.action == PAGE)
        sent = {name: value for name, value in form.fields.items() if name not in {"logo", "icon"}}
        data = form_data(sent | fields, files or {})
        answer = await self.visitor.send("POST", path, data=data, headers={"Content-Type": CONTENT_TYPE})
        return await self.visitor.open(answer.headers["Location"]) if answer.status == 303 else answer

    async def preview(self, files: dict[str, bytes] | None = None, **fields: str) -> Answer:
        """Send it to the frame."""
        return await self.send(PREVIEW, files, None, **fields)

    async def use_again(self, number: int, page: Answer) -> Answer:
        """Press the button of a version."""
        assert f'name="version" value="{number}" form="use-again"' in page.text
        form = next(one for one in forms_of(page) if one.action == AGAIN)
        return await self.visitor.post(AGAIN, form.fields | {"version": str(number)})

    @property
    def numbers(self) -> list[int]:
        """The versions that are kept, newest first."""
        rows = self.world.connection.execute(
            "SELECT number FROM branding_versions WHERE organization_id = %s ORDER BY number DESC",
            (self.organization_id,),
        )
        return [number for (number,) in rows.fetchall()]

    @property
    def kept_pictures(self) -> int:
        """How many pictures are kept with the versions."""
        return self.world.value("SELECT count(*) FROM branding_version_pictures")

    def saved(self, column: str) -> Any:
        """Return a saved field; None without a branding."""
        found = self.world.connection.execute(
            "SELECT to_jsonb(b) ->> %s FROM brandings b WHERE organization_id = %s", (column, self.organization_id)
        ).fetchone()
        return found[0] if found is not None else None


@pytest.fixture
async def editor(world: World, visitor: Visitor) -> Editor:
    """The owner of Acme in a browser."""
    acme = world.organization("acme", name="Acme Tools")
    world.member(acme, world.user(), "owner")
    await visitor.sign_in()
    return Editor(world, visitor, acme)


def style_of(page: Answer) -> str:
    """Return the style in a framed page."""
    [style] = re.findall(r"<style>(.*?)</style>", page.text, re.DOTALL)
    return style


def policy_of(page: Answer) -> dict[str, str]:
    """Return the security policy of a page, by its directives."""
    parts = [part.strip().partition(" ") for part in page.headers["Content-Security-Policy"].split(";")]
    return {name: value for name, _, value in parts}


class TestSaving:
    """The form."""

    async def test_what_is_filled_in_is_saved_and_shown_and_named_in_the_audit_log(self, editor: Editor) -> None:
        page = await editor.send(
            files={"logo": PNG, "icon": SVG},
            primary_color=" #14544A ",
            background_color="#ffffff",
            support_email="help@acme.example",
            terms_url="https://acme.example/terms",
            privacy_url="https://acme.example/privacy",
        )

        assert "The branding is saved." in page.text
        assert f'value="{COLOR}"' in page.text
        assert page.text.count('<p class="picture"><img src="/branding/') == 2
        [(_, _, _, details)] = editor.world.audit_entries("branding.updated")
        assert details["changes"]["primary_color"] == {"from": None, "to": COLOR}
        assert '\'{"primary_color":"#14544a"' in unescape(page.text)

    async def test_an_empty_field_removes_what_is_saved_and_a_picture_stays_until_it_is_removed(
        self, editor: Editor
    ) -> None:
        await editor.send(files={"logo": PNG}, primary_color=COLOR, support_email="help@acme.example")

        kept = await editor.send(support_email="", primary_color="")
        removed = await editor.send(remove_logo="on")

        assert 'class="picture"' in kept.text
        assert editor.saved("support_email") is None
        assert editor.saved("primary_color") is None
        assert 'class="picture"' not in removed.text

    async def test_a_form_without_a_file_may_be_sent_as_any_other(self, editor: Editor) -> None:
        await editor.visitor.submit(await editor.open(), PAGE, primary_color=COLOR)

        assert editor.saved("primary_color") == COLOR

    async def test_every_problem_stands_beside_its_field_and_what_was_typed_and_sent_stays(
        self, editor: Editor
    ) -> None:
        page = await editor.send(
            files={"logo": PNG, "icon": b"GIF89a"}, primary_color="red", terms_url="<b>", support_email="help"
        )

        assert page.status == 400
        assert [
            name for name in ("primary_color", "icon", "support_email", "terms_url") if f"{name}-problem" in page.text
        ]
        assert len(re.findall(r'id="(?:primary_color|icon|support_email|terms_url)-problem"', page.text)) == 4
        assert 'value="red"' in page.text
        assert 'value="&lt;b&gt;"' in page.text
        assert f'name="logo_sent" value="{data_url(PNG)}"' in page.text
        assert editor.numbers == []
        mended = await editor.send(page=page, primary_color=COLOR, terms_url="", support_email="")
        assert "The branding is saved." in mended.text
        assert 'src="/branding/' in mended.text

    async def test_a_problem_is_told_in_german(self, editor: Editor) -> None:
        editor.visitor.headers["Accept-Language"] = "de"

        page = await editor.send(primary_color="#ffff00")

        assert page.status == 400
        assert "Kontrast" in page.text
        assert not shows(page.text.lower().replace("kontrast", ""), "contrast")

    async def test_pictures_are_rebuilt_and_too_large_ones_are_refused(self, editor: Editor) -> None:
        hidden = drawn_png(4, 3, extra=[chunk(b"tEXt", b"<script>")]) + b"<script>"

        saved = await editor.send(files={"logo": hidden, "icon": HOSTILE_SVG})
        large = await editor.send(files={"logo": PNG + bytes(256 * 1024)})

        [logo, icon] = re.findall(r'<p class="picture"><img src="([^"]+)"', saved.text)
        assert (await editor.visitor.open(logo)).content == PNG
        assert not shows((await editor.visitor.open(icon)).text, "alert")
        assert (large.status, "A picture has at most 256 KiB." in large.text) == (400, True)

    async def test_what_a_form_carries_is_judged_like_a_file(self, editor: Editor) -> None:
        for sent in ("data:text/html;base64,PGI+", "javascript:alert(1)", data_url(b"<b>", "image/svg+xml")):
            page = await editor.send(logo_sent=sent)

            assert page.status == 400, sent
            assert sent not in unescape(page.text)

    async def test_a_body_above_one_mebibyte_is_refused(self, editor: Editor) -> None:
        for path in (PAGE, PREVIEW):
            assert (await editor.send(path, files={"logo": bytes(1024 * 1024)})).status == 413

    async def test_of_two_people_the_second_sees_what_the_first_has_saved_and_loses_nothing(
        self, editor: Editor
    ) -> None:
        opened = await editor.open()
        await editor.send(primary_color=COLOR)

        refused = await editor.send(page=opened, files={"logo": PNG}, primary_color="#c00000")

        assert refused.status == 409
        assert "The branding was changed meanwhile." in refused.text
        assert f"Saved now: {COLOR}" in refused.text
        assert 'value="#c00000"' in refused.text
        assert editor.saved("primary_color") == COLOR
        again = await editor.send(page=refused)
        assert "The branding is saved." in again.text
        assert editor.saved("primary_color") == "#c00000"
        assert 'class="picture"' in again.text

    async def test_of_two_forms_that_are_sent_at_once_one_is_saved(self, editor: Editor) -> None:
        [form] = [one for one in forms_of(await editor.open()) if one.action == PAGE]

        def save(color: str) -> Callable[[], Awaitable[Answer]]:
            return lambda: editor.visitor.post(PAGE, form.fields | {"primary_color": color}, is_followed=False)

        answers = await at_once(save(COLOR), save("#c00000"), save("#2a4b8d"))

        assert statuses_of(answers) == [303, 409, 409]
        assert editor.numbers == [2, 1]


class TestPreview:
    """What the frame shows."""

    async def test_it_shows_what_is_not_saved_and_saves_and_records_nothing(self, editor: Editor) -> None:
        for view, words in (
            ("sign_in", "Sign in to your application"),
            ("registration", "Create an account"),
            ("mail", "Sign in to “Acme Tools”"),
        ):
            colors = {"primary_color": "#c00000", "background_color": "#fff8e0"}
            page = await editor.preview(files={"logo": PNG}, **colors, view=view)

            assert page.status == 200, view
            assert words in page.text, view
            assert "Acme Tools" in page.text, view
            assert "#c00000" in (style_of(page) if view != "mail" else page.text), view
            assert f'src="{data_url(PNG)}"' in page.text, view
            assert '<div class="previewed" inert>' in page.text, view
            assert "<script" not in page.text, view
        assert (editor.saved("primary_color"), editor.numbers) == (None, [])
        assert editor.world.value("SELECT count(*) FROM branding_pictures") == 0
        assert editor.world.audit_entries("branding.updated") == []

    async def test_its_policy_allows_no_script_no_form_and_no_other_frame(self, editor: Editor) -> None:
        page = await editor.preview(primary_color=COLOR)
        mail = await editor.preview(primary_color=COLOR, view="mail")
        around = await editor.open()

        assert policy_of(page) | {"style-src": ""} == {
            "default-src": "'none'",
            "style-src": "",
            "font-src": "'self'",
            "img-src": "'self' data:",
            "form-action": "'none'",
            "frame-ancestors": "'self'",
            "base-uri": "'none'",
            "sandbox": "",
        }
        assert re.fullmatch(r"'self' 'sha256-[\w+/=]+'", policy_of(page)["style-src"])
        assert policy_of(mail) == policy_of(page) | {"style-src": "'self' 'unsafe-inline'"}
        assert page.headers["X-Frame-Options"] == "SAMEORIGIN"
        assert page.headers["Cache-Control"] == "no-store"
        assert policy_of(around)["frame-src"] == "'self'"
        assert policy_of(around)["frame-ancestors"] == "'none'"
        assert (
            f'<iframe class="preview-frame" name="preview" src="{PREVIEW}" title="Preview of the branding">'
            in around.text
        )
        assert editor.visitor.cookies["gatehouse_session"] not in page.text
        [token] = set(re.findall('name="form_token" value="([^"]+)"', around.text))
        assert token not in page.text

    async def test_a_hostile_name_stays_text(self, editor: Editor) -> None:
        name = '</head></body><script src="/x"></script><link rel="stylesheet" href="/x"> autofocus <input autofocus>'
        editor.world.connection.execute("UPDATE organizations SET name = %s", (name,))

        for view in ("sign_in", "registration", "mail"):
            page = await editor.preview(primary_color=COLOR, view=view, terms_url="https://acme.example/?a=<b>")

            assert page.status == 200, view
            assert escape(name) in page.text, view
            found = [page.text.count(one) for one in ("</head>", "</body>", "<script", "</div>\n</body>")]
            assert found == [1, 1, 0, 1], view

    async def test_it_is_in_a_light_or_in_a_dark_scheme_whatever_the_browser_prefers(self, editor: Editor) -> None:
        for view in ("sign_in", "mail"):
            light = await editor.preview(primary_color=COLOR, view=view)
            dark = await editor.preview(primary_color=COLOR, view=view, dark="on")

            for page, scheme, other in ((light, "light", "dark"), (dark, "dark", "light")):
                assert "prefers-color-scheme" not in page.text, view
                assert f'<meta name="color-scheme" content="{scheme}">' in page.text, view
                assert f"gatehouse-{other}." not in page.text, view
            [sheet] = re.findall(r'href="(/assets/gatehouse-dark[^"]+)"', dark.text) or [None]
            if view == "sign_in":
                assert sheet is not None
                served = await editor.visitor.open(sheet)
                assert "prefers-color-scheme" not in served.text
                assert "color-scheme: dark;" in served.text

    async def test_contrasts_are_told_in_words(self, editor: Editor) -> None:
        good = await editor.preview(primary_color=COLOR, background_color="#ffffff")
        low = await editor.preview(primary_color="#ffcc00")
        edge = await editor.preview(primary_color="#767676")

        assert f"Contrast of the main colour and white: {contrast(COLOR, '#ffffff'):.1f}, good" in good.text
        assert "On dark pages the main colour is lightened to #" in good.text
        assert "Text on buttons is white" in good.text
        assert "Text on the background colour is black" in good.text
        assert low.status == 400
        assert '<li class="bad">Contrast of the main colour and white: 1.5, too low.' in low.text
        assert "Text on buttons is black" in low.text
        assert "Dark pages have the main colour as it is" in low.text
        assert "Links on a light page are darkened to #" in edge.text
        assert contrast("#767676", DARK_SURFACE) < 4.5
        assert "Links on a light page have the main colour" in good.text

    async def test_a_refused_value_is_told_in_the_frame_in_the_language_of_the_page(self, editor: Editor) -> None:
        editor.visitor.headers["Accept-Language"] = "de"

        page = await editor.preview(
            files={"icon": b"GIF89a"}, primary_color="<script>", support_email="x", view="registration"
        )

        assert page.status == 400
        assert '<html lang="de"' in page.text
        assert page.text.count('<li class="bad">') == 3
        assert "Hauptfarbe: Eine Farbe" in page.text
        assert "<script" not in page.text

    async def test_without_a_branding_it_shows_the_look_of_the_platform(self, editor: Editor) -> None:
        page = await editor.visitor.open(PREVIEW)
        mail = await editor.visitor.open(f"{PREVIEW}?view=mail")

        assert "this is the look of the platform" in page.text
        assert "Acme Tools" not in page.text
        assert "Acme Tools" not in mail.text

    async def test_the_saved_branding_is_shown_first(self, editor: Editor) -> None:
        await editor.send(files={"logo": SVG}, primary_color="#c00000")

        page = await editor.visitor.open(f"{PREVIEW}?scheme=dark")
        mail = await editor.visitor.open(f"{PREVIEW}?view=mail")

        assert f'src="/branding/{editor.organization_id}/' in page.text
        assert "--accent: #c00000;" in style_of(page)
        assert "mails leave this logo out" in mail.text
        assert "<img" not in mail.text

    async def test_it_is_refused_without_the_token_and_from_another_site(self, editor: Editor) -> None:
        page = await editor.open()

        without = await editor.preview(form_token="", primary_color=COLOR)
        foreign = await editor.visitor.submit(page, PAGE, headers={"Sec-Fetch-Site": "cross-site"})
        data = form_data(forms_of(page)[0].fields, {})
        cross = await editor.visitor.send(
            "POST", PREVIEW, data=data, headers={"Content-Type": CONTENT_TYPE, "Sec-Fetch-Site": "cross-site"}
        )

        assert [without.status, foreign.status, cross.status] == [403, 403, 403]
        for framed in (without, cross):
            assert "There is no preview now" in framed.text
            assert policy_of(framed)["frame-ancestors"] == "'self'"
            assert policy_of(framed)["sandbox"] == "allow-top-navigation-by-user-activation"
            assert f'href="{PAGE}" target="_top"' in framed.text

    async def test_an_unknown_page_or_version_is_refused_in_the_frame(self, editor: Editor) -> None:
        assert (await editor.preview(view="other")).status == 400
        assert (await editor.visitor.open(f"{PREVIEW}?view=other")).status == 400
        for number in ("7", "x", "9" * 39):
            page = await editor.visitor.open(f"{PREVIEW}?version={number}")
            assert (page.status, "There is no such version" in page.text) == (404, True)


class TestVersions:
    """What was saved before."""

    async def test_each_change_is_listed_with_who_made_it_and_what_it_changed(self, editor: Editor) -> None:
        await editor.send(primary_color=COLOR)
        page = await editor.send(files={"logo": PNG}, terms_url="https://acme.example/terms")

        assert editor.numbers == [3, 2, 1]
        rows = page.text.partition('id="versions"')[2].split('<tr role="row">')[2:]
        assert len(rows) == 3
        assert "In use" in rows[0]
        assert EMAIL in rows[0]
        assert "Logo, Terms of use" in rows[0]
        assert "Main colour" in rows[1]
        # What a new organization has, which is the work of no person.
        assert "Unknown" in rows[2]
        assert "The oldest that is kept" in rows[2]
        assert EMAIL not in rows[2]

    async def test_a_version_is_looked_at_and_used_again_with_its_pictures(self, editor: Editor) -> None:
        await editor.send(files={"logo": PNG, "icon": SVG}, primary_color=COLOR)
        page = await editor.send(files={"logo": drawn_png(5, 3)}, primary_color="#c00000", remove_icon="on")

        looked = await editor.visitor.open(f"{PREVIEW}?version=2")
        used = await editor.use_again(2, page)

        assert f'src="{data_url(PNG)}"' in looked.text
        assert f"--accent: {COLOR};" in style_of(looked)
        assert "This version of the branding is used again." in used.text
        assert editor.saved("primary_color") == COLOR
        [logo, icon] = re.findall(r'<p class="picture"><img src="([^"]+)"', used.text)
        assert (await editor.visitor.open(logo)).content == PNG
        assert b"<rect" in (await editor.visitor.open(icon)).content
        assert editor.numbers == [4, 3, 2, 1]
        assert len(editor.world.audit_entries("branding.updated")) == 3
        # The picture of two versions is kept once.
        assert editor.kept_pictures == 3

    async def test_the_look_of_a_new_organization_comes_back(self, editor: Editor) -> None:
        page = await editor.send(files={"logo": PNG}, primary_color=COLOR)

        await editor.use_again(1, page)

        assert editor.saved("primary_color") is None
        assert editor.world.value("SELECT count(*) FROM branding_pictures") == 0

    async def test_the_version_that_is_saved_already_is_left_as_it_is(self, editor: Editor) -> None:
        await editor.send(primary_color=COLOR)
        await editor.send(primary_color="#c00000")
        page = await editor.send(primary_color=COLOR)

        await editor.use_again(2, page)

        assert editor.numbers == [4, 3, 2, 1]

    async def test_of_two_people_the_second_is_told(self, editor: Editor) -> None:
        page = await editor.send(primary_color=COLOR)
        await editor.send(primary_color="#c00000")

        refused = await editor.use_again(1, page)

        assert (refused.status, editor.saved("primary_color")) == (409, "#c00000")
        assert "The branding was changed meanwhile." in refused.text

    async def test_a_version_that_is_below_today_s_contrast_is_refused(self, editor: Editor) -> None:
        await editor.send(primary_color=COLOR)
        page = await editor.send(primary_color="#c00000")
        editor.world.connection.execute("UPDATE branding_versions SET primary_color = '#ffff00' WHERE number = 2")

        refused = await editor.use_again(2, page)

        assert (refused.status, "must be 4.5 at least" in refused.text) == (400, True)
        unknown = await editor.visitor.post(
            AGAIN, {**forms_of(page)[-1].fields, "version": "9" * 20, "seen_version": "3"}
        )
        assert unknown.status == 404

    async def test_the_last_20_are_kept_with_the_pictures_of_these(self, editor: Editor) -> None:
        await editor.send(files={"logo": PNG})
        for number in range(VERSIONS_MAX - 1):
            await editor.send(files={"logo": drawn_png(5, 3)}, primary_color=f"#c000{number:02x}")

        assert editor.numbers == list(range(21, 1, -1))
        assert editor.kept_pictures == 2
        await editor.send(primary_color=COLOR)
        assert editor.numbers == list(range(22, 2, -1))
        assert editor.kept_pictures == 1

    async def test_the_page_with_all_versions_is_small(self, editor: Editor) -> None:
        for number in range(VERSIONS_MAX):
            await editor.send(
                primary_color=f"#c000{number:02x}", terms_url=f"https://acme.example/{number}", support_email=EMAIL
            )

        page = await editor.open()
        assert page.text.count('<tr role="row">') == VERSIONS_MAX + 1
        assert len(page.content) < 40 * 1024

    async def test_what_was_saved_before_versions_were_kept_is_kept_with_the_next_change(self, editor: Editor) -> None:
        await editor.send(primary_color=COLOR, files={"logo": PNG})
        editor.world.connection.execute("DELETE FROM branding_versions")
        editor.world.connection.execute("DELETE FROM branding_version_pictures")

        page = await editor.send(primary_color="#c00000", files={"logo": SVG})
        await editor.use_again(1, page)

        assert editor.saved("primary_color") == COLOR
        assert editor.kept_pictures == 2

    async def test_the_interface_makes_versions_too_and_does_not_ask_for_the_seen_one(
        self, editor: Editor, world: World
    ) -> None:
        opened = await editor.open()
        tokens = await world.sign_in(EMAIL)
        for color in (COLOR, "#c00000", "#c00000"):
            answer = await world.client.request(
                "PATCH", "/api/organizations/acme/branding", body={"primary_color": color}, token=tokens.access_token
            )
            assert answer.status == 200

        assert editor.numbers == [3, 2, 1]
        assert (await editor.send(page=opened, primary_color=COLOR)).status == 409

    async def test_a_change_by_a_key_is_named_with_the_maker_of_the_key(self, editor: Editor, world: World) -> None:
        owner = world.value("SELECT id FROM users WHERE email = %s", EMAIL)
        insert_organization_key(world, editor.organization_id, owner, KEY, permissions=Capability)
        body = {"primary_color": COLOR}
        answer = await world.client.request(
            "PATCH", "/api/organizations/acme/branding", body=body, headers={"X-Api-Key": KEY}
        )

        rows = (await editor.open()).text.partition('id="versions"')[2].split('<tr role="row">')[2:]

        assert answer.status == 200, answer.text
        assert EMAIL in rows[0]
        assert "with a key of the organization" in rows[0]
        assert "with a key of the organization" not in rows[1]

    async def test_a_role_that_does_not_see_members_is_not_told_who_it_was(self, editor: Editor, world: World) -> None:
        await editor.send(primary_color=COLOR)
        world.custom_role(editor.organization_id, "designer", "org.settings.manage")
        world.member(editor.organization_id, world.user("eli@example.com"), "designer")
        eli = Visitor(world.client)
        await eli.sign_in("eli@example.com")

        page = await eli.open(PAGE)

        assert page.status == 200
        assert EMAIL not in page.text
        assert "Not shown" in page.text

    async def test_the_versions_end_with_their_organization_and_name_no_account_that_is_deleted(
        self, editor: Editor, world: World
    ) -> None:
        await editor.send(primary_color=COLOR, files={"logo": PNG})

        world.connection.execute("UPDATE branding_versions SET made_by = NULL")
        page = await editor.open()
        versions = page.text.partition('id="versions"')[2]
        world.connection.execute("DELETE FROM organizations WHERE id = %s", (editor.organization_id,))

        assert "Unknown" in versions
        assert EMAIL not in versions
        assert (editor.numbers, editor.kept_pictures) == ([], 0)


class TestWhoMay:
    """Other organizations, and roles without the capability."""

    async def test_another_organization_and_its_versions_are_not_found(self, editor: Editor, world: World) -> None:
        await editor.send(primary_color=COLOR)
        globex = world.organization("globex")
        world.member(globex, world.user("gil@example.com"), "owner")
        gil = Visitor(world.client)
        await gil.sign_in("gil@example.com")

        assert (await gil.open(PAGE)).status == 403
        assert (await gil.open(PREVIEW)).status == 403
        own = "/app/organizations/globex/branding"
        assert (await gil.open(own)).status == 200
        assert (await gil.open(f"{own}/preview?version=2")).status == 404
        fields = {**forms_of(await gil.open(own))[0].fields, "version": "2", "seen_version": "0"}
        assert (await gil.post(f"{own}/use-again", fields)).status == 404

    async def test_a_member_sees_that_the_section_is_closed_and_opens_nothing(
        self, editor: Editor, world: World
    ) -> None:
        world.member(editor.organization_id, world.user("eli@example.com"), "member")
        eli = Visitor(world.client)
        await eli.sign_in("eli@example.com")

        overview = await eli.open("/app/organizations/acme")

        assert "Branding <small>(needs <code>org.settings.manage</code>)" in overview.text
        assert (await eli.open(PAGE)).status == 403
        assert (await eli.open(PREVIEW)).status == 403
        token = forms_of(overview)[0].fields["form_token"]
        for path in (PAGE, PREVIEW, AGAIN):
            assert (await eli.post(path, {"form_token": token, "primary_color": COLOR})).status == 403
        assert editor.numbers == []
