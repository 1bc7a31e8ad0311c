"""The mail renderer: fills in the templates of `mail_templates/`, which are read once at the start and compiled when
they are first needed.

A mail has one template for both of its parts: `layout.txt` and `parts.txt` make plain text of it, `layout.html` and
`parts.html` HTML. Its texts are English, and translated from the same catalogue as pages (ops/decisions/0023). The
first line of the plain text is the subject. Values are escaped in the HTML part. In both parts a value is one line:
values are names, addresses and links, and a name with line breaks could add paragraphs of its own to a mail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import DictLoader, Environment, StrictUndefined, Template, UndefinedError, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from adapters.gateways.mail_texts import LIFETIMES, MailTexts, aligned, one_line, wrapped
from core.colors import WHITE, readable_on, text_color_on
from core.mail.brands import MailBrand
from core.mail.mail import NEUTRAL_NAMES, MailMessage, MailRefused, MailTemplate, RenderedMail
from core.platform_brand import NAME_DEFAULT
from core.text import mentions_web_address

if TYPE_CHECKING:
    from ports.languages import TextLanguage

TEMPLATES_FOLDER: Final = Path(__file__).with_name("mail_templates")
# The endings of the files of templates.
KINDS: Final = (".html", ".txt")
# The language of mails whose reader's is not known or not offered.
ENGLISH: Final = "en"
# The methods of `MailTexts` that are filters of templates.
FILTERS: Final = (
    "moment",
    "address",
    "role_name",
    "device_name",
    "reason",
    "credentials_left",
    "kept_members",
    "takeover_lines",
)
# Mail programs cut longer subjects in their lists.
SUBJECT_CHARACTERS_MAX: Final = 150
_EMPTY_LINES: Final = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")
# The product's colour, as on its pages.
COLOR_DEFAULT: Final = "#14544a"
# The ground of the text in a dark scheme, in `mail_templates/layout.html`.
DARK_SHEET: Final = "#191f1d"


class JinjaMailRenderer:
    """The port `MailRenderer`, with these languages by their tags, English among them.

    `platform_logo` is the path of a picture on our own origin that mail programs show.
    """

    def __init__(
        self,
        *,
        base_url: str,
        languages: Mapping[str, TextLanguage],
        platform: str = NAME_DEFAULT,
        platform_color: str | None = None,
        platform_logo: str | None = None,
        folder: Path = TEMPLATES_FOLDER,
    ) -> None:
        self._of_platform = {"base_url": base_url, "platform": platform, "platform_logo": platform_logo}
        self._platform_color = platform_color or COLOR_DEFAULT
        self._languages = languages
        self._text = _Part(folder, "txt", str)
        self._html = _Part(folder, "html", Markup)

    def render(self, message: MailMessage, brand: MailBrand | None = None) -> RenderedMail:
        """Fill in the template; raise `MailRefused` when a value that it needs is missing."""
        language = self._languages.get(message.language or ENGLISH) or self._languages[ENGLISH]
        accent = (brand.primary_color if brand is not None else None) or self._platform_color
        values: dict[str, Any] = {
            **{name: one_line(value) for name, value in message.values.items()},
            **self._of_platform,
            **_colors(accent),
            "brand": _shown(brand, language),
            "language": language,
            "is_rtl": language.direction == "rtl",
        }
        subject, text = _split(self._text.fill(message.template, language, values))
        html = self._html.fill(message.template, language, {**values, "subject": subject})
        return RenderedMail(subject=subject, text=text, html=html, language=language.tag)


class _Part:
    """The templates that make one part of a mail; their language comes with the values."""

    def __init__(self, folder: Path, kind: str, literal: Callable[[str], str]) -> None:
        self._kind = kind
        self._literal = literal
        self._template = _environment(folder, kind).get_template

    def fill(self, template: MailTemplate, language: TextLanguage, values: dict[str, Any]) -> str:
        """Return the part; raise `MailRefused` when a value is missing."""
        texts = MailTexts(language, self._literal)
        named = {name: texts.named(name, value) for name, value in values.items() if isinstance(value, str)}
        filled: dict[str, Any] = {
            **values,
            **named,
            "texts": texts,
            "gettext": texts.gettext,
            "ngettext": texts.ngettext,
            "_": texts.gettext,
            "layout": self._template(f"layout.{self._kind}"),
        }
        if "place" in named:
            filled["where"] = texts.where(named["place"], named["platform"])
        lifetime = LIFETIMES.get(template)
        if lifetime is not None:
            filled["valid_for"] = texts.duration(lifetime)
        filled["mail"] = self._template(f"parts.{self._kind}").make_module(filled)
        return _fill(self._template(f"{template}.html"), filled)


@cache
def _environment(folder: Path, kind: str) -> Environment:
    """Return what compiles the templates of a folder, each once, for one part of mails."""
    environment = Environment(
        extensions=["jinja2.ext.i18n"],
        loader=DictLoader({file.name: file.read_text("utf-8") for file in folder.iterdir() if file.suffix in KINDS}),
        autoescape=kind == "html",  # noqa: S701 - the other part is plain text
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["ext.i18n.trimmed"] = True
    extended: Any = environment
    extended.install_null_translations(newstyle=True)
    extended.filters |= {"wrapped": wrapped, "aligned": aligned, **{name: _of_texts(name) for name in FILTERS}}
    return environment


def _of_texts(name: str) -> Callable[[Context, str], object]:
    """Return the method of the texts with that name as a filter."""

    @pass_context
    def of_language(context: Context, value: str) -> object:
        return getattr(context["texts"], name)(value)

    return of_language


def _shown(brand: MailBrand | None, language: TextLanguage) -> MailBrand | None:
    """Return a brand whose name is one line, and has no address that mail programs would turn into a link."""
    if brand is None:
        return None
    name = one_line(brand.name)
    return replace(brand, name=language.known(NEUTRAL_NAMES["organization"]) if mentions_web_address(name) else name)


def _colors(accent: str) -> dict[str, str]:
    """Return the colours of buttons, of text on them and of links, in a light scheme and in a dark one."""
    dark = readable_on(accent, DARK_SHEET)
    return {
        "accent": accent,
        "text_accent": readable_on(accent, WHITE),
        "on_accent": text_color_on(accent),
        "dark_accent": dark,
        "on_dark_accent": text_color_on(dark),
    }


def _fill(template: Template, values: dict[str, Any]) -> str:
    try:
        return template.render(values)
    except UndefinedError as error:
        raise MailRefused(f"The template {template.name} cannot be filled in: {error.message}.") from error


def _split(text: str) -> tuple[str, str]:
    """Return the subject and the body of the plain text, without the empty lines that the templates leave."""
    subject, _, body = text.strip().partition("\n")
    if len(subject) > SUBJECT_CHARACTERS_MAX:
        subject = f"{subject[: SUBJECT_CHARACTERS_MAX - 1]}…"
    return subject.strip(), _EMPTY_LINES.sub("\n\n", body).strip() + "\n"
