"""The language of a page: the browser's, if there is a file for it, with texts, direction and plurals of its own."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from urllib.parse import urlencode

import pytest

from core.organizations.organizations import OrganizationStatus
from core.wording import Grouped, Wording
from entrypoints.pages.frame.languages import ENGLISH, LANGUAGES, Language, PoFileMalformed, entries, read_languages
from entrypoints.pages.frame.rendering import render, templates
from entrypoints.web.input.languages import LANGUAGE_COOKIE, asked_for
from tests.application import Client
from tests.world.domains import DOMAIN, insert_verified
from tests.world.visitor import FORM, LANGUAGE, Visitor, set_cookies
from tests.world.world import World

GREETING = """
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

# A comment of the translator.
#. A comment for the translator.
msgid "Good morning, %(name)s."
msgstr ""
"Guten Morgen, "
"%(name)s. <b>\\"Hallo\\"</b>"

msgid "One device"
msgid_plural "%(num)s devices"
msgstr[0] "Ein Gerät"
msgstr[1] "%(num)s Geräte"

msgid "Not translated yet"
msgstr ""

#, fuzzy
msgid "Skip to the content"
msgstr "Perhaps wrong"
"""


def language_in(folder: Path, tag: str) -> Language:
    """Return the language of a file with these texts."""
    (folder / f"{tag}.po").write_text(GREETING, "utf-8")
    return read_languages(folder)[tag]


async def test_the_language_that_the_browser_prefers_among_ours_decides(
    client: Client, subtests: pytest.Subtests
) -> None:
    for accepted, language in (
        ("de", "de"),
        ("de-AT, en;q=0.5", "de"),
        ("DE-de", "de"),
        ("en-US, de;q=0.9", "en"),
        ("fr, de;q=0.4, en;q=0.2", "de"),
        ("de;q=0, fr", "en"),
        ("fr", "en"),
        ("*", "en"),
        ("", "en"),
        ("\"'><x;q=2,,;", "en"),
    ):
        with subtests.test(accepted=accepted, language=language):
            answer = await client.get("/auth/magic-link?token=x", headers={"Accept-Language": accepted})

            assert f'<html lang="{language}" dir="ltr">' in answer.text
            assert answer.headers["Vary"] == "Accept-Language, Cookie"


def test_of_a_huge_tag_only_the_beginning_is_read() -> None:
    # Without a limit, what is left of a tag is looked up once for each of its subtags.
    assert asked_for("de-" + "-".join("a" * 1_000_000)) == "de"
    assert asked_for("a" * 35 + "-de de") == "de"


async def test_without_a_preferred_language_a_page_is_in_english(client: Client) -> None:
    answer = await client.get("/auth/magic-link?token=x")

    assert '<html lang="en" dir="ltr">' in answer.text


def test_another_language_is_only_a_file(tmp_path: Path) -> None:
    language = language_in(tmp_path, "nds")

    assert language.text("Good morning, %(name)s.", name="Ada") == 'Guten Morgen, Ada. <b>"Hallo"</b>'


def test_a_text_without_a_translation_or_with_a_doubtful_one_is_english(tmp_path: Path) -> None:
    language = language_in(tmp_path, "nds")

    assert language.text("Not translated yet") == "Not translated yet"
    assert language.text("Skip to the content") == "Skip to the content"
    assert language.known("100 % of a text that is in no file") == "100 % of a text that is in no file"


def test_a_text_with_a_number_has_the_plural_of_its_language(tmp_path: Path) -> None:
    source = '{{ ngettext("One device", "%(num)s devices", count) }}'
    german, english = (
        templates(language_in(tmp_path, "nds")).from_string(source),
        templates(ENGLISH).from_string(source),
    )

    assert [german.render(count=count) for count in (1, 2)] == ["Ein Gerät", "2 Geräte"]
    assert [english.render(count=count) for count in (1, 2)] == ["One device", "2 devices"]


def test_a_translation_may_contain_markup_and_its_values_cannot(tmp_path: Path) -> None:
    template = templates(language_in(tmp_path, "nds")).from_string('{{ _("Good morning, %(name)s.", name=name) }}')

    assert template.render(name="<i>") == 'Guten Morgen, &lt;i&gt;. <b>"Hallo"</b>'


@pytest.mark.parametrize("tag", ["ar", "he", "fa", "ar-EG", "ur"])
def test_a_language_written_from_right_to_left_turns_the_page(tmp_path: Path, tag: str) -> None:
    html = render("mail/mailbox.html", language_in(tmp_path, tag), mails=[], maximum=1, version="1")

    assert f'<html lang="{tag}" dir="rtl">' in html


@pytest.mark.parametrize("line", ["msgid missing quotes", "nonsense", 'msgctxt "elsewhere"'])
def test_a_file_in_another_form_is_not_read(line: str) -> None:
    with pytest.raises(PoFileMalformed):
        entries(f'msgid "A text"\n{line}\nmsgstr "Ein Text"\n')


class TestRefusals:
    """Finished English with values, in another language."""

    GERMAN = LANGUAGES["de"]

    def test_a_wording_is_translated_with_its_values(self) -> None:
        text = Wording("A name has %(minimum)s to %(maximum)s characters.", minimum=2, maximum=100)

        assert self.GERMAN.known(text) == "Ein Name hat 2 bis 100 Zeichen."
        assert ENGLISH.known(text) == text

    def test_values_are_written_as_the_language_does(self) -> None:
        parts = {"status": OrganizationStatus.SUSPENDED, "large": Grouped(12000), "ratio": 4.5, "on": date(2026, 3, 1)}
        nested = Wording("it has expired")

        shown = self.GERMAN.known(Wording("%(status)s %(large)s %(ratio)s %(on)s %(nested)s", **parts, nested=nested))

        assert shown == "gesperrt 12.000 4,5 1. März 2026 Es ist abgelaufen"
        assert ENGLISH.known(Wording("%(large)s %(ratio)s %(on)s", **parts)) == "12,000 4.5 1 March 2026"

    @pytest.mark.parametrize(
        ("stored", "shown"),
        [
            ("The receiver answered 503: nothing.", "Der Empfänger hat mit 503 geantwortet: nichts."),
            (
                "The receiver answered 301. Redirects are not followed: change the endpoint.",
                "Der Empfänger hat mit 301 geantwortet. Weiterleitungen wird nicht gefolgt: Ändern Sie die Adresse.",
            ),
            (
                "The receiver cannot be reached: it refused the connection.",
                "Der Empfänger ist nicht erreichbar: Er hat die Verbindung abgelehnt.",
            ),
            (
                "The certificate of the receiver is not valid: it has expired.",
                "Das Zertifikat ist ungültig (Empfänger): Es ist abgelaufen.",
            ),
            ("A sentence of an earlier version.", "A sentence of an earlier version."),
            ("", ""),
        ],
    )
    def test_a_sentence_that_was_stored_is_recognized(self, stored: str, shown: str) -> None:
        assert self.GERMAN.recognized(stored) == shown
        assert ENGLISH.recognized(stored) == stored

    def test_a_sentence_with_much_of_another_system_takes_no_more_time_than_its_length(self) -> None:
        # A pattern that is tried again for every length of each value would not come to an end.
        hostile = (
            "The receiver answered 500: " + "Only x x organization can be x; this one is x invites you to join " * 150
        )

        for stored in (hostile, hostile.removeprefix("The receiver answered 500: ")):
            assert self.GERMAN.recognized(f"{stored}!") == f"{stored}!"

    def test_a_date_stands_in_a_german_sentence_as_it_is_spoken(self) -> None:
        day = "3. Mai 2026"

        assert self.GERMAN.text("Signed in %(moment)s", moment=day) == "Angemeldet am 3. Mai 2026"
        assert "endet am 3. Mai 2026" in self.GERMAN.text("The present period ends %(moment)s", moment=day)

    async def test_a_page_shows_the_problem_of_a_field_in_the_language(self, visitor: Visitor) -> None:
        visitor.headers["Accept-Language"] = "de"

        page = await visitor.submit(await visitor.open("/app/register"), email="a@example.com", password="short")

        assert "Ein Passwort hat mindestens 8 Zeichen." in page.text

    async def test_programs_read_english(self, client: Client) -> None:
        answer = await client.post(
            "/api/auth/register",
            body={"email": "a@example.com", "password": "short"},
            headers={"Accept-Language": "de"},
        )

        assert answer.json["details"] == [{"field": "password", "message": "A password has at least 8 characters."}]


class TestTheSwitch:
    """The form below every page that chooses a language."""

    async def test_keeps_the_choice_and_comes_back_to_the_page(self, visitor: Visitor) -> None:
        visitor.headers["Accept-Language"] = "en"
        page = await visitor.open("/app/sign-in?return_to=/app/account")

        german = await visitor.switch(page, "de")

        assert '<html lang="de"' in german.text
        assert '<input type="hidden" name="return_to" value="/app/sign-in?return_to=/app/account">' in german.text
        assert '<html lang="de"' in (await visitor.open("/app/register")).text
        assert '<html lang="en"' in (await visitor.switch(german, "en")).text

    async def test_keeps_the_link_of_a_form_that_is_shown_again(self, world: World, visitor: Visitor) -> None:
        invited = "invited@example.com"
        world.member(world.organization(), world.user("owner@example.com"), "owner")
        owner = await world.sign_in("owner@example.com")
        await world.client.post(
            "/api/organizations/acme/invitations",
            body={"email": invited, "role": "member"},
            token=owner.access_token,
        )
        invitation = (await world.mails())[-1].values
        await world.register("new@example.com", "a password of some length")
        registration = (await world.mail()).values["token"]
        await world.client.post("/api/auth/forgot-password", body={"email": "owner@example.com"})
        reset = (await world.mail()).values["token"]
        accept = f"/app/invitations/accept?token={invitation['token']}&proof={invitation['proof']}"
        shown = [
            await visitor.submit(await visitor.open(accept), "/app/invitations/accept", password="x"),
            await visitor.submit(
                await visitor.open(f"/auth/verify-email?token={registration}"),
                "/auth/verify-email/confirm",
                password="wrong",
            ),
            await visitor.submit(
                await visitor.open(f"/auth/reset-password?token={reset}"), new_password="x", repeated="y"
            ),
        ]

        german = [await visitor.switch(page, "de") for page in shown]

        assert [page.status for page in shown] == [400, 401, 400]
        assert [(page.status, '<html lang="de"' in page.text) for page in german] == [(200, True)] * 3

    async def test_the_cookie_lasts_a_year_and_names_the_language_alone(self, client: Client) -> None:
        answer = await client.request(
            "POST", LANGUAGE, data=b"language=de&return_to=/app", headers={"Content-Type": FORM}
        )

        [cookie] = set_cookies(answer)
        assert answer.status == 303
        assert re.sub("Expires=[^;]*; ", "", cookie) == (
            "gatehouse_language=de; Max-Age=31536000; HttpOnly; Path=/; SameSite=Lax"
        )

    async def test_each_language_has_its_own_name(self, visitor: Visitor) -> None:
        page = await visitor.open("/app/sign-in")

        assert (
            '<button class="language" type="submit" name="language" value="de" lang="de" dir="ltr">Deutsch' in page.text
        )
        assert '<span class="language" lang="en" dir="ltr" aria-current="true">English' in page.text

    async def test_the_account_that_is_signed_in_keeps_it_for_other_browsers(
        self, world: World, visitor: Visitor
    ) -> None:
        world.user()
        await visitor.switch(await visitor.sign_in(), "de")

        elsewhere = await Visitor(world.client).sign_in()

        assert world.value("SELECT language FROM users") == "de"
        assert '<html lang="de"' in elsewhere.text

    async def test_is_there_under_a_custom_domain_too(self, world: World, visitor: Visitor) -> None:
        insert_verified(world, world.organization())
        visitor.headers["Host"] = DOMAIN

        german = await visitor.switch(await visitor.open("/app/sign-in"), "de")

        assert '<html lang="de"' in german.text

    async def test_the_session_of_one_organization_changes_nothing_of_the_account(
        self, world: World, visitor: Visitor
    ) -> None:
        world.user()
        page = await visitor.sign_in()
        world.connection.execute("UPDATE sessions SET confined_to = %s", (world.organization(),))

        german = await visitor.switch(page, "de")

        assert '<html lang="de"' in german.text
        assert world.value("SELECT language FROM users") is None

    async def test_another_site_cannot_choose(self, visitor: Visitor) -> None:
        refused = await visitor.post(LANGUAGE, {"language": "de"}, headers={"Sec-Fetch-Site": "cross-site"})

        assert refused.status == 403
        assert LANGUAGE_COOKIE not in visitor.cookies

    @pytest.mark.parametrize(
        "wanted", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""]
    )
    async def test_it_leads_nowhere_else(self, client: Client, wanted: str) -> None:
        data = urlencode({"language": "de", "return_to": wanted}).encode()

        answer = await client.request("POST", LANGUAGE, data=data, headers={"Content-Type": FORM})

        assert answer.headers["Location"] == "/app"

    async def test_a_language_that_is_not_offered_is_not_kept(self, client: Client) -> None:
        answer = await client.request(
            "POST", LANGUAGE, data=b"language=xx&return_to=/app/sign-in", headers={"Content-Type": FORM}
        )

        assert (answer.status, answer.headers["Location"]) == (303, "/app/sign-in")
        assert "Set-Cookie" not in answer.headers

    async def test_a_cookie_of_another_value_means_nothing(self, client: Client) -> None:
        answer = await client.get("/app/sign-in", headers={"Cookie": "gatehouse_language=../../de"})

        assert '<html lang="en"' in answer.text
