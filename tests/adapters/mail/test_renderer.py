"""Rendered mails: every template can be rendered, and no value changes the structure of a mail."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from jinja2 import Environment, meta

from adapters.gateways.mail_renderer import SUBJECT_CHARACTERS_MAX, TEMPLATES_FOLDER, JinjaMailRenderer
from core.mail.mail import MailMessage, MailRefused, MailTemplate
from tests.application import mail_renderer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from core.mail.mail import RenderedMail

BASE_URL = "https://id.example.com"
COLORS = {"accent", "on_accent", "dark_accent", "on_dark_accent"}
# The values that the renderer provides to every mail.
PROVIDED = {"base_url", "subject", "platform", "platform_logo"} | COLORS
# The templates that mails share.
SHARED = {"layout"}

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
    """Return the names of the values that the templates of a mail use."""
    environment = Environment()  # noqa: S701 - nothing is rendered with it
    sources = [(TEMPLATES_FOLDER / f"{template}.{kind}").read_text() for kind in ("txt", "html")]
    names = set[str]().union(*(meta.find_undeclared_variables(environment.parse(source)) for source in sources))
    # The layout defines it.
    return names - PROVIDED - {"button"}


def rendered(template: MailTemplate, value: str, *, base_url: str = BASE_URL) -> RenderedMail:
    values = dict.fromkeys(names_in(template), value)
    return mail_renderer(base_url).render(MailMessage(to="ada@example.org", template=template, values=values))


def folder_with(path: Path, *, text: str, html: str) -> Path:
    """Fill a folder with templates of the same text."""
    for template in MailTemplate:
        path.joinpath(f"{template}.txt").write_text(text)
        path.joinpath(f"{template}.html").write_text(html)
    return path


def render_from(folder: Path, **values: str) -> RenderedMail:
    message = MailMessage(to="ada@example.org", template=MailTemplate.TEST, values=values)
    return JinjaMailRenderer(base_url=BASE_URL, folder=folder).render(message)


def files_of(names: Iterable[str]) -> set[str]:
    return {f"{name}.{kind}" for name in names for kind in ("txt", "html")}


def test_the_vocabulary_and_the_files_match_exactly() -> None:
    files = {path.name for path in TEMPLATES_FOLDER.iterdir() if path.suffix in {".txt", ".html"}}

    assert files == files_of(MailTemplate) | files_of(SHARED)


@pytest.mark.parametrize("value", HOSTILE)
def test_no_value_adds_an_element_to_a_page(value: str) -> None:
    for template in MailTemplate:
        harmless = Page(rendered(template, "harmless").html)

        page = Page(rendered(template, value, base_url=f"{BASE_URL}/{value}").html)

        assert page.elements == harmless.elements, template


@pytest.mark.parametrize("value", HOSTILE)
def test_every_subject_is_one_line_of_bounded_length(value: str) -> None:
    for template in MailTemplate:
        subject = rendered(template, value).subject

        assert 0 < len(subject) <= SUBJECT_CHARACTERS_MAX, template
        assert subject == subject.strip(), template
        assert subject.splitlines() == [subject], template


def test_every_mail_can_be_read_as_plain_text() -> None:
    for template in MailTemplate:
        message = rendered(template, "https://id.example.com/somewhere")

        assert BASE_URL in message.text, template
        assert message.subject not in message.text, template
        assert not any(mark in message.text for mark in ("<", ">", "{", "}")), template
        # A link cannot be wrapped; everything around it can.
        assert max(len(line) for line in message.text.splitlines() if "://" not in line) <= 78, template


def test_every_mail_has_the_name_the_logo_and_the_colour_of_the_platform() -> None:
    renderer = JinjaMailRenderer(
        base_url=BASE_URL, platform="Zebra & Co", platform_color="#c00000", platform_logo="/assets/logo.1.png"
    )
    for template in MailTemplate:
        values = dict.fromkeys(names_in(template), "harmless")
        mail = renderer.render(MailMessage(to="ada@example.org", template=template, values=values))

        assert not any("Gatehouse" in part for part in (mail.subject, mail.text, mail.html)), template
        assert "Zebra & Co" in mail.text, template
        assert f'<img src="{BASE_URL}/assets/logo.1.png" alt=""' in mail.html, template
        assert "border-top: 3px solid #c00000" in mail.html, template


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

    with pytest.raises(MailRefused, match=r"test\.txt cannot be filled in: 'link' is undefined"):
        render_from(folder)


def test_templates_are_read_once(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, text="Before\n\ntext\n", html="")
    renderer = JinjaMailRenderer(base_url=BASE_URL, folder=folder)
    folder_with(tmp_path, text="After\n\ntext\n", html="")

    message = renderer.render(MailMessage(to="ada@example.org", template=MailTemplate.TEST, values={}))

    assert message.subject == "Before"
