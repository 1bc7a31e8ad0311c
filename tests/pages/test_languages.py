"""The language of a page: the browser's, if there is a file for it, with texts, direction and plurals of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from entrypoints.pages.languages import ENGLISH, Language, read_languages
from entrypoints.pages.po_files import PoFileMalformed, entries
from entrypoints.pages.rendering import render, templates

if TYPE_CHECKING:
    from pathlib import Path

    from tests.application import Client

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
            assert answer.headers["Vary"] == "Accept-Language"


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
    html = render("mailbox.html", language_in(tmp_path, tag), mails=[], maximum=1, version="1")

    assert f'<html lang="{tag}" dir="rtl">' in html


@pytest.mark.parametrize("line", ["msgid missing quotes", "nonsense", 'msgctxt "elsewhere"'])
def test_a_file_in_another_form_is_not_read(line: str) -> None:
    with pytest.raises(PoFileMalformed):
        entries(f'msgid "A text"\n{line}\nmsgstr "Ein Text"\n')
