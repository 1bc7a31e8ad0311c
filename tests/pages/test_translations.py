"""The catalogue: every text of pages, refusals and mails goes through it, and every language translates them all.

A text that is missing is printed as an entry for the file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, nodes

from core.accounts.links import LinkUnusable
from core.errors import NotFound, PayloadTooLarge, Refusal, RequestTimedOut, ServiceUnavailable
from core.organizations.organizations import BUILT_IN_ROLES, OrganizationStatus
from core.sign_in.reasons import SignInReason
from core.wording import Wording
from entrypoints import billing_settings, capabilities, pages, settings
from entrypoints.pages.frame.languages import LANGUAGES, entries
from entrypoints.pages.frame.refusals import ON_PAGES
from entrypoints.pages.frame.rendering import TEMPLATES
from entrypoints.settings import Settings
from entrypoints.web.input.languages import TRANSLATIONS
from entrypoints.web.serving.answering.answers import InternalFailure
from tests import refusal_texts
from tests.adapters.mail.texts import texts_of_mails

PAGES = Path(pages.__file__).parent
# Documentation of the interface for developers, generated from English docstrings.
IN_ENGLISH = {
    name for name in TEMPLATES.list_templates(extensions=["html"]) if name.startswith(("manual/", "reference/"))
}
NAMES = {"Gatehouse", "UTC"}
# The functions of templates and of handlers that take an English text.
IN_TEMPLATES = {"_", "gettext", "ngettext"}
IN_HANDLERS = {"translated": 1, "marked": 0, "step": 0}
# The arguments of components that are for the browser.
FOR_BROWSERS = {"autocomplete", "href", "id", "inputmode", "name", "type", "value"}
READ_ALOUD = {"aria-label", "title", "alt", "placeholder"}
# The refusals that every page may answer with.
OF_EVERY_PAGE = {InternalFailure, LinkUnusable, NotFound, PayloadTooLarge, RequestTimedOut, ServiceUnavailable}
WORD = re.compile(r"[^\W\d_]{2,}")
PLACEHOLDER = re.compile(r"%\((\w+)\)s")
TAG = re.compile(r"</?\w+")


class Words(HTMLParser):
    """The texts that a person sees or hears, among the literal parts of a template."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)
        self.close()

    def handle_data(self, data: str) -> None:
        """Record a text between tags."""
        self._record(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the attributes that are read aloud or shown."""
        for name, value in attrs:
            if name in READ_ALOUD:
                self._record(value or "")

    def _record(self, text: str) -> None:
        if set(WORD.findall(text)) - NAMES:
            self.found.append(text.strip())


def template_names() -> list[str]:
    """Return the names of the templates whose texts are translated."""
    return sorted(set(TEMPLATES.list_templates(extensions=["html"])) - IN_ENGLISH)


@cache
def tree(name: str) -> nodes.Template:
    """Return the syntax tree of a template."""
    source, *_ = _loader().get_source(TEMPLATES, name)
    return TEMPLATES.parse(source)


def _loader() -> Any:
    return TEMPLATES.loader


def literal_html(name: str) -> str:
    """Return the literal parts of a template in their order, with a digit in the place of every value."""
    parts: list[str] = []
    of_classes = {
        output for block in tree(name).find_all(nodes.Block) if block.name == "body_class" for output in block.body
    }
    for output in tree(name).find_all(nodes.Output):
        if output in of_classes:
            continue
        parts += [node.data if isinstance(node, nodes.TemplateData) else "0" for node in output.nodes]
    return "".join(parts)


def texts_of_templates() -> Iterator[str]:
    """Return every text in a template; a plural follows its singular after a zero character."""
    for name in TEMPLATES.list_templates(extensions=["html"]):
        for call in tree(name).find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name in IN_TEMPLATES:
                strings = [part.value for part in call.args if isinstance(part, nodes.Const) and part.value != 0]
                assert strings, f"{name}:{call.lineno}: a text must be written where it is used"
                yield "\0".join(str(one) for one in strings)


def texts_of_handlers() -> Iterator[str]:
    """Return every text in the modules of pages."""
    for file in PAGES.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IN_HANDLERS:
                given = node.args[IN_HANDLERS[node.func.id]]
                if isinstance(given, ast.Constant):
                    yield str(given.value)


def refusals_of_pages() -> set[type[Refusal]]:
    """Return the refusals whose messages pages show."""
    routes = capabilities.routes(is_development=True)
    with_pages = [route for route in routes if route.refusal_page is not None and route.refusal_body is None]
    return OF_EVERY_PAGE | {refusal for route in with_pages for refusal in route.refuses}


def as_in_catalogue(message: str) -> str:
    """Return the text by which the catalogue has a message."""
    return message.template if isinstance(message, Wording) else message


@cache
def catalogue() -> frozenset[str]:
    """Return every text that a page or a mail may show."""
    return frozenset(
        {*texts_of_templates(), *texts_of_handlers(), *refusal_texts.texts(), *texts_of_mails()}
        | {row.sentence for row in settings.rows(Settings())}
        | {billing_settings.SANDBOX_ADVICE, billing_settings.NOTHING_FOR_SALE_ADVICE}
        | {*BUILT_IN_ROLES, *OrganizationStatus, *(reason.text for reason in SignInReason)}
        | {as_in_catalogue(ON_PAGES.get(refusal, refusal.default_message)) for refusal in refusals_of_pages()}
    )


def as_entry(text: str) -> str:
    """Return an entry without a translation."""
    singular, *plural = (one.replace('"', '\\"') for one in text.split("\0"))
    if plural:
        return f'msgid "{singular}"\nmsgid_plural "{plural[0]}"\nmsgstr[0] ""\nmsgstr[1] ""\n'
    return f'msgid "{singular}"\nmsgstr ""\n'


def test_every_word_of_a_template_is_in_the_catalogue() -> None:
    found = {name: Words(literal_html(name)).found for name in template_names()}

    assert {name: words for name, words in found.items() if words} == {}


def test_no_component_is_given_a_text_that_is_not_in_the_catalogue() -> None:
    found = [
        text.value
        for name in template_names()
        for call in tree(name).find_all(nodes.Call)
        if isinstance(call.node, nodes.Getattr)
        for text in [*call.args, *(keyword.value for keyword in call.kwargs if keyword.key not in FOR_BROWSERS)]
        if isinstance(text, nodes.Const) and isinstance(text.value, str) and re.search(r"[A-Z]|\w ", text.value)
    ]

    assert [text for text in found if "%" not in text] == []


def test_no_handler_gives_a_page_a_text_that_is_not_in_the_catalogue() -> None:
    found = [
        f"{file.name}:{keyword.value.lineno}"
        for file in PAGES.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.endswith("page")
        for keyword in call.keywords
        for part in (keyword.value.values if isinstance(keyword.value, ast.JoinedStr) else [keyword.value])
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value
    ]

    assert found == []


@pytest.mark.parametrize("tag", sorted(LANGUAGES.keys() - {"en"}))
def test_a_language_translates_every_text_and_nothing_else(tag: str) -> None:
    translated = entries((TRANSLATIONS / f"{tag}.po").read_text("utf-8")).keys() - {""}

    missing, left_over = sorted(catalogue() - translated), sorted(translated - catalogue())

    assert not missing, "missing:\n\n" + "\n".join(as_entry(text) for text in missing)
    assert not left_over, "left over:\n\n" + "\n".join(left_over)


@pytest.mark.parametrize("tag", sorted(LANGUAGES.keys() - {"en"}))
def test_a_translation_has_the_values_and_the_markup_of_its_text(tag: str) -> None:
    for english, translation in entries((TRANSLATIONS / f"{tag}.po").read_text("utf-8")).items():
        for form in translation.split("\0") if english else ():
            assert set(PLACEHOLDER.findall(form)) <= set(PLACEHOLDER.findall(english)), form
            assert PLACEHOLDER.sub("", form).count("%") == PLACEHOLDER.sub("", english.split("\0")[0]).count("%"), form
            assert sorted(TAG.findall(form)) == sorted(TAG.findall(english.split("\0")[0])), form


def test_no_sentence_of_a_refusal_forgets_its_values() -> None:
    assert refusal_texts.composed_texts() == []


def test_no_page_imports_what_only_programs_read() -> None:
    for_programs = [path.removesuffix(".py").replace("/", ".") for path in refusal_texts.FOR_PROGRAMS]
    modules = {file.relative_to(refusal_texts.ROOT).as_posix(): file.read_text("utf-8") for file in PAGES.rglob("*.py")}

    found = [
        (path, name)
        for path, source in modules.items()
        for name in for_programs
        if name.startswith("core.") and re.search(rf"(?m)^(?:from|import) {re.escape(name)}\b", source)
    ]

    assert found == []


def test_the_search_for_refusals_finds_the_message_of_every_class_that_a_page_may_show() -> None:
    ours = {as_in_catalogue(refusal.default_message) for refusal in refusals_of_pages()}

    missing = [text for text in ours - refusal_texts.texts() if not re.search(r"(GET|POST) /", text)]

    assert missing == []


def test_no_page_tells_a_person_to_send_a_request() -> None:
    assert [text for text in catalogue() if re.search(r"(GET|POST|PATCH|PUT|DELETE) /", text)] == []


def test_the_catalogue_notices_a_text_outside_it() -> None:
    tree_of_one = Environment(autoescape=True).parse('<p title="Press">{{ value }} <b>apples</b></p>')
    parts = [part for output in tree_of_one.find_all(nodes.Output) for part in output.nodes]

    html = "".join(part.data if isinstance(part, nodes.TemplateData) else "0" for part in parts)

    assert Words(html).found == ["Press", "apples"]
