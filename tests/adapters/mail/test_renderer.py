"""Rendered mails: every template can be rendered, and no value changes the structure of a mail."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import meta

from adapters.gateways.mail_renderer import SUBJECT_CHARACTERS_MAX, JinjaMailRenderer
from core.mail.brands import MailBrand
from core.mail.mail import MailMessage, MailRefused, MailTemplate, RenderedMail
from entrypoints.pages.frame.languages import LANGUAGES
from tests.adapters.mail.texts import template_names, tree
from tests.application import mail_renderer

BASE_URL = "https://id.example.com"
COLORS = {"accent", "on_accent", "dark_accent", "on_dark_accent"}
# The values that the renderer provides to every mail.
OF_LANGUAGE = {"_", "gettext", "is_rtl", "language"}
PROVIDED = {"base_url", "brand", "layout", "mail", "platform", "platform_logo", "subject"} | OF_LANGUAGE | COLORS
# What it derives from a value, and from what.
DERIVED = {"where": "place", "valid_for": None}
# The templates that mails share.
SHARED = {"layout.html", "layout.txt", "parts.html", "parts.txt"}

HOSTILE = [
    '<script>alert("x")</script>',
    "\"><img src=x onerror='alert(1)'>",
    "{{ 7 * 7 }}{% include 'layout.html' %}",
    "Ada\r\nBcc: eve@example.org\r\n\r\nDear customer",
    "Ada\u2028\u2029\x00\x1b[31m\u202egro.elpmaxe\u2066",
    "w" * 10_000,
    "👩‍👩‍👧 שלום 東京",
    "",
]


class Page(HTMLParser):
    """A page as a browser parses it: its elements with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, frozenset[str]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, frozenset(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@cache
def names_in(template: MailTemplate) -> set[str]:
    """Return the names of the values that the template of a mail uses."""
    names = {DERIVED.get(name, name) for name in meta.find_undeclared_variables(tree(f"{template}.html"))}
    return {name for name in names if name is not None} - PROVIDED


def rendered(
    template: MailTemplate, value: str, *, base_url: str = BASE_URL, language: str | None = None
) -> RenderedMail:
    values = dict.fromkeys(names_in(template), value)
    message = MailMessage(to="ada@example.org", template=template, values=values, language=language)
    return mail_renderer(base_url).render(message)


def branded(name: str) -> MailBrand:
    """Return the brand of an organization with a name."""
    return MailBrand(
        name=name,
        logo=None,
        primary_color=None,
        on_primary_color=None,
        support_email=None,
        terms_url=None,
        privacy_url=None,
    )


def folder_with(path: Path, *, text: str, html: str) -> Path:
    """Fill a folder with templates that give the parts of each mail these texts."""
    for template in MailTemplate:
        path.joinpath(f"{template}.html").write_text("{% extends layout %}")
    for kind, layout in (("txt", text), ("html", html)):
        path.joinpath(f"layout.{kind}").write_text(layout)
        path.joinpath(f"parts.{kind}").write_text("")
    return path


def render_from(folder: Path, **values: str) -> RenderedMail:
    return renderer_of(folder).render(message_with(**values))


def renderer_of(folder: Path) -> JinjaMailRenderer:
    return JinjaMailRenderer(base_url=BASE_URL, languages=LANGUAGES, folder=folder)


def message_with(**values: str) -> MailMessage:
    return MailMessage(to="ada@example.org", template=MailTemplate.TEST, values=values)


def test_the_vocabulary_and_the_files_match_exactly() -> None:
    assert set(template_names()) == {f"{template}.html" for template in MailTemplate} | SHARED


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_adds_an_element_to_a_page(value: str, language: str) -> None:
    for template in MailTemplate:
        # Without a value, some mails have another text.
        harmless = Page(rendered(template, "harmless" if value else "", language=language).html)

        page = Page(rendered(template, value, base_url=f"{BASE_URL}/{value}", language=language).html)

        assert page.elements == harmless.elements, template


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("value", HOSTILE)
def test_every_subject_is_one_line_of_bounded_length(value: str, language: str) -> None:
    for template in MailTemplate:
        subject = rendered(template, value, language=language).subject

        assert 0 < len(subject) <= SUBJECT_CHARACTERS_MAX, template
        assert subject == subject.strip(), template
        assert subject.splitlines() == [subject], template


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_mail_can_be_read_as_plain_text(language: str) -> None:
    for template in MailTemplate:
        message = rendered(template, "https://id.example.com/somewhere", language=language)

        assert BASE_URL in message.text, template
        assert message.subject not in message.text, template
        assert not any(mark in message.text for mark in ("<", ">", "{", "}")), template
        # A link cannot be wrapped; everything around it can.
        assert max(len(line) for line in message.text.splitlines() if "://" not in line) <= 78, template


def test_every_mail_has_the_name_the_logo_and_the_colour_of_the_platform() -> None:
    renderer = JinjaMailRenderer(
        base_url=BASE_URL,
        languages=LANGUAGES,
        platform="Zebra & Co",
        platform_color="#c00000",
        platform_logo="/assets/logo.1.png",
    )
    for template in MailTemplate:
        values = dict.fromkeys(names_in(template), "harmless")
        mail = renderer.render(MailMessage(to="ada@example.org", template=template, values=values))

        assert not any("Gatehouse" in part for part in (mail.subject, mail.text, mail.html)), template
        assert "Zebra & Co" in mail.text, template
        assert f'<img src="{BASE_URL}/assets/logo.1.png" alt=""' in mail.html, template
        assert "border-top: 3px solid #c00000" in mail.html, template


def test_a_button_has_the_colour_of_the_organization_else_of_the_platform_in_both_schemes() -> None:
    renderer = JinjaMailRenderer(base_url=BASE_URL, languages=LANGUAGES, platform_color="#c00000")
    values = dict.fromkeys(names_in(MailTemplate.VERIFY_EMAIL), "harmless")
    message = MailMessage(to="ada@example.org", template=MailTemplate.VERIFY_EMAIL, values=values)

    of_platform = renderer.render(message, branded("Acme")).html
    of_organization = renderer.render(message, replace(branded("Acme"), primary_color="#ffd400")).html

    assert "background: #c00000; color: #ffffff" in of_platform
    assert "background: #ffd400; color: #000000" in of_organization
    for html in (of_platform, of_organization):
        assert html.count('class="button"') == 1
        assert ".button { background: #" in html


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_of_a_brand_adds_an_element_to_a_page(name: str, language: str) -> None:
    values = dict.fromkeys(names_in(MailTemplate.TRIAL_ENDING), "harmless")
    message = MailMessage(to="a@example.org", template=MailTemplate.TRIAL_ENDING, values=values, language=language)
    renderer = mail_renderer(BASE_URL)

    mail = renderer.render(message, branded(name))

    assert Page(mail.html).elements == Page(renderer.render(message, branded("harmless")).html).elements
    assert not set("\r\x1b\u2028\u202e") & set(mail.html)


def test_an_address_that_is_the_name_of_an_organization_is_not_shown_above_a_mail() -> None:
    message = MailMessage(to="ada@example.org", template=MailTemplate.TEST, values={}, language="de")
    mail = mail_renderer(BASE_URL).render(message, branded("Win at evil.example/now"))

    assert "evil.example" not in mail.html + mail.text
    assert "eine Organisation" in mail.html


def test_a_mail_about_an_account_that_an_earlier_version_queued_leads_to_the_page_of_signing_in() -> None:
    message = MailMessage(to="ada@example.org", template=MailTemplate.ACCOUNT_EXISTS, values={"place": "Shop"})
    mail = mail_renderer(BASE_URL).render(message)

    assert f"{BASE_URL}/app/sign-in\n" in mail.text
    assert f"{BASE_URL}/app/forgot-password\n" in mail.text
    assert f'href="{BASE_URL}/app/sign-in"' in mail.html


def test_no_page_loads_resources_or_runs_scripts() -> None:
    for template in MailTemplate:
        html = rendered(template, "harmless").html

        elements = {tag for tag, _ in Page(html).elements}
        assert not elements & {"img", "link", "script", "iframe", "object", "form", "base"}, template
        assert "url(" not in html, template
        assert "@import" not in html, template


def test_every_page_shows_the_addresses_behind_its_links() -> None:
    for template in MailTemplate:
        page = Page(rendered(template, "https://id.example.com/somewhere").html)

        has_links = any(tag == "a" for tag, _ in page.elements)
        assert not has_links or "https://id.example.com" in page.text, template


def test_line_breaks_in_a_value_become_spaces_in_the_text(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="Hello {{ name }}\n\nDear {{ name }},\n", html="{{ name }}")

    message = render_from(folder, name="Ada\r\n\r\nDear customer\u2028click here")

    assert message.subject == "Hello Ada Dear customer click here"
    assert message.text == "Dear Ada Dear customer click here,\n"


def test_bidirectional_control_characters_are_removed(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="{{ name }}\n\n{{ name }}\n", html="{{ name }}")

    message = render_from(folder, name="safe\u202egro.live\u202c\u2066!")

    assert (message.subject, message.html) == ("safe gro.live !", "safe gro.live !")


def test_zero_width_joiners_are_kept(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="{{ name }}\n\n{{ name }}\n", html="{{ name }}")

    assert render_from(folder, name="👩‍👩‍👧 می‌خواهم").subject == "👩‍👩‍👧 می‌خواهم"


def test_html_is_escaped_and_text_is_not(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="{{ name }}\n\n{{ name }}\n", html="<a title='{{ name }}'>")

    message = render_from(folder, name="R&D's <b>")

    assert (message.subject, message.text) == ("R&D's <b>", "R&D's <b>\n")
    assert message.html == "<a title='R&amp;D&#39;s &lt;b&gt;'>"


def test_a_long_subject_is_cut_and_ends_with_an_ellipsis(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="{{ name }}\n\ntext\n", html="")

    subject = render_from(folder, name="東" * 1_000).subject

    assert subject == "東" * (SUBJECT_CHARACTERS_MAX - 1) + "…"


def test_no_value_of_a_mail_replaces_a_value_of_the_renderer(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="{{ base_url }}\n\ntext\n", html="{{ base_url }}")

    assert render_from(folder, base_url="https://evil.example").html == BASE_URL


def test_a_mail_without_a_required_value_is_refused_with_the_name_of_the_value(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="Hello\n\n{{ link }}\n", html="")

    with pytest.raises(MailRefused, match=r"test\.html cannot be filled in: 'link' is undefined"):
        render_from(folder)


def test_templates_are_read_once(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="Before\n\ntext\n", html="")
    renderer = renderer_of(folder)
    folder_with(tmp_path, text="After\n\ntext\n", html="")

    message = renderer.render(MailMessage(to="ada@example.org", template=MailTemplate.TEST, values={}))

    assert message.subject == "Before"


def test_a_template_is_compiled_when_a_mail_needs_it(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="Hello {{ name }}\n\nDear {{ name }},\n", html="{{ name }}")
    (folder / f"{MailTemplate.WELCOME}.html").write_text("{% broken %}")

    assert render_from(folder, name="Ada").subject == "Hello Ada"


def test_files_that_change_after_the_start_change_no_mail(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="Hello {{ name }}\n\nDear {{ name }},\n", html="{{ name }}")
    renderer = renderer_of(folder)
    folder_with(tmp_path, text="{{ new }}", html="{{ new }}")

    assert renderer.render(message_with(name="Ada")).subject == "Hello Ada"
