"""Pages: their headers, their components, and that no value can become markup."""

import re
from functools import cache
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Template, UndefinedError

from entrypoints.installation import Installation
from entrypoints.pages.frame.rendering import TEMPLATES, TEMPLATES_FOLDER, Page, breakable, inline, page, prose, render
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.application import Answer, serving

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}javascript:alert(1)"
COMPONENTS = """
{% import "frame/components.html" as ui %}
{% call ui.notice("bad", value) %}<p>{{ value }}</p>{% endcall %}{{ ui.notice("good", value) }}
{{ ui.button(value) }}{{ ui.button(value, href="/?" ~ value, quiet=true) }}
{{ ui.field("email", value, type="email", value=value, hint=value, problem=value) }}
{{ ui.facts([(value, value)]) }}{{ ui.code(value, value) }}{{ ui.table(value, [value], [[value]]) }}
"""


class Tags(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the element."""
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]


async def shown(installation: Installation, template: str, **values: Any) -> Answer:
    """Return the answer of the application to a request for a page."""
    routes = Routes("pages", "One page.")

    @routes.get("/page")
    @public
    async def handler(call: Call) -> Page:
        """Return the page."""
        return page(call, template, **values)

    return await serving(installation, routes.routes).get("/page")


def components(value: str) -> str:
    """Render every component with this value in every place."""
    return _compiled().render(value=value)


@cache
def _compiled() -> Template:
    return TEMPLATES.from_string(COMPONENTS)


async def test_a_page_is_html_and_is_not_stored(installation: Installation) -> None:
    answer = await shown(installation, "mail/mailbox.html", mails=[], maximum=1)

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_a_page_runs_only_our_scripts_loads_nothing_from_other_origins_and_cannot_be_framed(
    installation: Installation,
) -> None:
    answer = await shown(installation, "mail/mailbox.html", mails=[], maximum=1)

    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        "style-src": "'self'",
        "font-src": "'self'",
        "script-src": "'self'",
        "img-src": "'self' data:",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    assert answer.headers["X-Frame-Options"] == "DENY"


def test_a_missing_value_of_a_template_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("mail/mailbox.html", maximum=1)


def test_a_hostile_value_is_text_in_every_component() -> None:
    html = components(HOSTILE)

    assert "<script" not in html
    assert Tags(html).names == Tags(components("harmless")).names
    assert Tags(html).attributes == Tags(components("harmless")).attributes


@given(st.text())
def test_no_value_makes_an_element_or_an_attribute(value: str) -> None:
    # An empty hint has no element, so the comparison is with a page of the same structure.
    harmless = "harmless" if value else ""

    html = components(value)

    assert Tags(html).names == Tags(components(harmless)).names
    assert Tags(html).attributes == Tags(components(harmless)).attributes


def test_a_field_with_a_problem_is_announced_to_screen_readers() -> None:
    html = TEMPLATES.from_string(
        '{% import "frame/components.html" as ui %}'
        '{{ ui.field("email", "Address", hint="Yours.", problem="Not one.") }}'
    ).render()

    assert 'aria-invalid="true"' in html
    assert 'aria-describedby="email-hint email-problem"' in html
    assert 'for="email"' in html
    assert 'id="email-problem">Not one.' in html


def test_code_is_marked_up_and_everything_else_in_prose_is_escaped() -> None:
    assert inline("a `<b>` & c") == "a <code>&lt;b&gt;</code> &amp; c"
    assert prose("one\nline\n\n<two>") == "<p>one\nline</p><p>&lt;two&gt;</p>"


def test_a_path_may_wrap_after_its_slashes_and_is_escaped() -> None:
    assert breakable("/a/<b>") == "/<wbr>a/<wbr>&lt;b&gt;"


SCRIPT = re.compile(r'<script src="{{ "[a-z_]+\.js" \| asset }}" defer></script>')


def test_no_template_has_an_inline_script_or_style_or_an_external_address() -> None:
    files = [file for kind in ("html", "svg", "css", "js") for file in TEMPLATES_FOLDER.rglob(f"*.{kind}")]

    assert {"base.html", "mark.svg", "page.js", "base.css"} <= {file.name for file in files}
    for file in files:
        text = SCRIPT.sub("", file.read_text().replace('xmlns="http://www.w3.org/2000/svg"', ""))

        assert "<script" not in text
        assert "style=" not in text
        assert "://" not in text
        assert "@import" not in text
        assert "| safe" not in text
