"""Writes letters from the templates in `mail_templates/`, read once at the start.

The first line of a letter's text is its subject. In the page everything is escaped; in both, a value is one line,
because values are names, addresses and links, and a name with line breaks could write a letter of its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, UndefinedError, select_autoescape

from core.mail.mail import MailRefused, MailTemplate, RenderedMail

if TYPE_CHECKING:
    from core.mail.mail import MailMessage

TEMPLATES_FOLDER = Path(__file__).with_name("mail_templates")
# Longer ones are cut in every list of letters anyway.
SUBJECT_CHARACTERS_MAX = 150

# Controls, line separators, and the marks that turn the direction of writing and so make a text read as another.
_UNSEEMLY = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


class JinjaMailRenderer:
    """The port `MailRenderer`."""

    def __init__(self, *, base_url: str, folder: Path = TEMPLATES_FOLDER) -> None:
        environment = Environment(
            loader=FileSystemLoader(folder),
            autoescape=select_autoescape(["html"]),
            undefined=StrictUndefined,
            auto_reload=False,
        )
        self._base_url = base_url
        self._texts = {template: environment.get_template(f"{template}.txt") for template in MailTemplate}
        self._pages = {template: environment.get_template(f"{template}.html") for template in MailTemplate}

    def render(self, message: MailMessage) -> RenderedMail:
        """Fill the template in; raise `MailRefused` when a value that it needs is missing."""
        values = {name: _UNSEEMLY.sub(" ", value).strip() for name, value in message.values.items()}
        values["base_url"] = self._base_url
        subject, text = _split(_fill(self._texts[message.template], values))
        html = _fill(self._pages[message.template], {**values, "subject": subject})
        return RenderedMail(subject=subject, text=text, html=html)


def _fill(template: Template, values: dict[str, str]) -> str:
    try:
        return template.render(values)
    except UndefinedError as error:
        raise MailRefused(f"The template {template.name} cannot be filled in: {error.message}.") from error


def _split(text: str) -> tuple[str, str]:
    subject, _, body = text.partition("\n")
    if len(subject) > SUBJECT_CHARACTERS_MAX:
        subject = f"{subject[: SUBJECT_CHARACTERS_MAX - 1]}…"
    return subject, body.strip() + "\n"
