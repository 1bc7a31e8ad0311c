"""The mail renderer: fills in the templates of `mail_templates/`, which are read once at the start.

The first line of a mail's text is its subject. Values are escaped in the HTML part. In both parts a value is one line:
values are names, addresses and links, and a name with line breaks could add paragraphs of its own to a mail.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, UndefinedError, select_autoescape

from core.colors import readable_on, text_color_on
from core.mail.mail import MailRefused, MailTemplate, RenderedMail
from core.platform_brand import NAME_DEFAULT

if TYPE_CHECKING:
    from core.mail.brands import MailBrand
    from core.mail.mail import MailMessage

TEMPLATES_FOLDER = Path(__file__).with_name("mail_templates")
# Mail programs cut longer subjects in their lists.
SUBJECT_CHARACTERS_MAX = 150
# That of the product, as on its pages.
COLOR_DEFAULT: Final = "#14544a"
# The ground of the text in a dark scheme, in `mail_templates/layout.html`.
DARK_SHEET: Final = "#1f242a"

# Control characters, line separators, and the marks that reverse the writing direction and so disguise a text.
_UNSAFE_CHARACTERS = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


class JinjaMailRenderer:
    """The port `MailRenderer`; `platform_logo` is the path of a picture on our own origin that mail programs show."""

    def __init__(
        self,
        *,
        base_url: str,
        platform: str = NAME_DEFAULT,
        platform_color: str | None = None,
        platform_logo: str | None = None,
        folder: Path = TEMPLATES_FOLDER,
    ) -> None:
        environment = Environment(
            loader=FileSystemLoader(folder),
            autoescape=select_autoescape(["html"]),
            undefined=StrictUndefined,
            auto_reload=False,
        )
        self._of_platform = {"base_url": base_url, "platform": platform, "platform_logo": platform_logo}
        self._platform_color = platform_color or COLOR_DEFAULT
        self._texts = {template: environment.get_template(f"{template}.txt") for template in MailTemplate}
        self._pages = {template: environment.get_template(f"{template}.html") for template in MailTemplate}

    def render(self, message: MailMessage, brand: MailBrand | None = None) -> RenderedMail:
        """Fill in the template; raise `MailRefused` when a value that it needs is missing."""
        values: dict[str, Any] = {
            name: _UNSAFE_CHARACTERS.sub(" ", value).strip() for name, value in message.values.items()
        }
        accent = (brand.primary_color if brand is not None else None) or self._platform_color
        values |= {**self._of_platform, "brand": brand, **_colors(accent)}
        subject, text = _split(_fill(self._texts[message.template], values))
        html = _fill(self._pages[message.template], {**values, "subject": subject})
        return RenderedMail(subject=subject, text=text, html=html)


def _colors(accent: str) -> dict[str, str]:
    """Return the colour of buttons and the one of text on them, in a light scheme and in a dark one."""
    dark = readable_on(accent, DARK_SHEET)
    return {
        "accent": accent,
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
    subject, _, body = text.partition("\n")
    if len(subject) > SUBJECT_CHARACTERS_MAX:
        subject = f"{subject[: SUBJECT_CHARACTERS_MAX - 1]}…"
    return subject, body.strip() + "\n"
