"""The mail renderer: fills in the templates of `mail_templates/`, which are read once at the start and compiled when
they are first needed.

A mail has one template for both of its parts: `layout.txt` and `parts.txt` make plain text of it, `layout.html` and
`parts.html` HTML. Its texts are English, and translated from the same catalogue as pages (ops/decisions/0023). The
first line of the plain text is the subject. Values are escaped in the HTML part. In both parts a value is one line:
values are names, addresses and links, and a name with line breaks could add paragraphs of its own to a mail.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import structlog
from jinja2 import DictLoader, Environment, StrictUndefined, Template, UndefinedError, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from core.accounts.one_time_tokens import TokenPurpose
from core.colors import WHITE, readable_on, text_color_on
from core.credentials import user_agents
from core.customers import claiming
from core.invitations import invitations
from core.mail.brands import MailBrand
from core.mail.mail import NEUTRAL_NAMES, MailMessage, MailRefused, MailTemplate, RenderedMail
from core.organizations.departures import SEPARATOR, MadeCredentialKind
from core.organizations.organizations import BUILT_IN_ROLES
from core.organizations.takeover_mails import KINDS as TAKEOVER_KINDS
from core.platform_brand import NAME_DEFAULT
from core.tables import PartialTable
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

log = structlog.get_logger(__name__)
# How long the link in a mail is valid.
LIFETIMES: Final = PartialTable(
    {
        MailTemplate.CHOOSE_PASSWORD: TokenPurpose.RESET_PASSWORD.lifetime,
        MailTemplate.RESET_PASSWORD: TokenPurpose.RESET_PASSWORD.lifetime,
        MailTemplate.INVITATION_ACCEPTED: TokenPurpose.RESET_PASSWORD.lifetime,
        MailTemplate.VERIFY_EMAIL: TokenPurpose.VERIFY_EMAIL.lifetime,
        MailTemplate.VERIFY_NEW_EMAIL: TokenPurpose.CHANGE_EMAIL.lifetime,
        MailTemplate.EMAIL_CHANGE_REQUESTED: TokenPurpose.DROP_EMAIL_CHANGE.lifetime,
        MailTemplate.EMAIL_CHANGED: TokenPurpose.UNDO_EMAIL_CHANGE.lifetime,
        MailTemplate.MAGIC_LINK: TokenPurpose.MAGIC_LINK.lifetime,
        MailTemplate.MEMBERSHIP_ADDED: TokenPurpose.CONFIRM_MEMBERSHIP.lifetime,
        MailTemplate.WELCOME: TokenPurpose.CONFIRM_MEMBERSHIP.lifetime,
        MailTemplate.INVITATION: invitations.LIFETIME,
        MailTemplate.CUSTOMER_CLAIM: claiming.LIFETIME,
    }
)
# What `smtp.py` and the courier say about the mail server of an organization, beside the sentences of `failures.py`.
REASONS: Final = (
    "The mail server closed the connection before it had answered.",
    "The mail server did not answer in time.",
    "The mail server did not take the mail within %(seconds)s seconds.",
    "The mail server offers no encryption, so no mail was sent to it.",
    "The mail server offers no encryption, so the login was not sent to it.",
    "The mail server offers no login (AUTH) of a kind that can be used.",
    "The mail server refused the login (%(code)s).",
    "The mail server sent no valid SMTP answer.",
)
_ANSWERED: Final = "The mail server answered "
_PLACEHOLDER: Final = re.compile(r"%(?:%|\((\w+)\)s)")
LINE_CHARACTERS_MAX: Final = 72
# The forms in which the outbox has times and days; both are in UTC.
_MOMENT: Final = "%Y-%m-%d %H:%M UTC"
_DAY: Final = "%Y-%m-%d"
# How `core/organizations/departures.py` lists credentials in a value.
_MADE: Final = re.compile(rf"(?P<kind>{'|'.join(MadeCredentialKind)}) (?P<label>.+), made by (?P<maker>\S+)")
# How `core/organizations/takeover_mails.py` lists what was withdrawn, and what was made before.
_KINDS: Final = "|".join(sorted(TAKEOVER_KINDS, key=len, reverse=True))
_OF_TAKEOVER: Final = re.compile(
    rf"(?P<place>\S+): (?P<kind>{_KINDS}) (?P<label>.+?)(?:, made on (?P<at>[\d-]+ [\d:]+ UTC))?"
)
_MORE: Final = re.compile(r"and (\d{1,9}) more")
# Control characters, line separators, and the marks that reverse the writing direction and so disguise a text.
_UNSAFE_CHARACTERS: Final = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


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


def one_line(value: str) -> str:
    """Return a value without line breaks and without what disguises a text."""
    return _UNSAFE_CHARACTERS.sub(" ", value).strip()


def wrapped(text: str) -> str:
    """Return a paragraph in lines that mail programs show as they are; a link is never broken."""
    return textwrap.fill(text, LINE_CHARACTERS_MAX, break_long_words=False, break_on_hyphens=False)


def aligned(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return pairs of a label and a value as lines in which the values stand below each other."""
    width = max(len(label) for label, _ in pairs) + 3
    return [f"{label:<{width}}{value}" for label, value in pairs]


def _takes(text: str, values: Mapping[str, object]) -> bool:
    """Whether a text has no other placeholders than those for values."""
    return "%" not in _PLACEHOLDER.sub(lambda found: "" if found[1] in {None, *values} else "%", text)


class MailTexts:
    """The functions and filters of the templates of one part of a mail, in one language.

    Values are texts in the outbox, as every version of Gatehouse writes and reads them. Names that a person or an
    organization has chosen are never translated; the words in place of a missing name are.

    `literal` makes a translation what the part puts in as it is: markup in HTML, where the values in it are escaped.
    """

    def __init__(self, language: TextLanguage, literal: Callable[[str], str] = str) -> None:
        self._language = language
        self._translations = language.translations
        self._literal = literal

    def gettext(self, english: str, /, **values: object) -> str:
        """Return the translation of a text, with its values."""
        return self._filled(self._translations.gettext(english), english, values)

    def ngettext(self, singular: str, plural: str, number: int, /, **values: object) -> str:
        """Return the translation of a text in the form for that number, which is the value `num`."""
        english = singular if number == 1 else plural
        return self._filled(self._translations.ngettext(singular, plural, number), english, {"num": number, **values})

    def _filled(self, translated: str, english: str, values: Mapping[str, object]) -> str:
        if not _takes(translated, values):
            # Operators add languages. A mistake in one must not hold up mails, so the text stays English.
            log.error("mail.translation_unusable", language=self._language.tag, text=english)
            translated = english
        return self._literal(translated) % values

    def known(self, english: str) -> str:
        """Return the translation of a finished text; the text itself where the catalogue does not have it."""
        return self._language.known(english)

    def named(self, kind: str, value: str) -> str:
        """Return a name; translated where a neutral word stands in its place."""
        return self.known(value) if value == NEUTRAL_NAMES.get(kind) else value

    def where(self, place: str, platform: str) -> str:
        """Return the name of a place in quotation marks, or the platform's without a place."""
        return self.gettext("“%(name)s”", name=place) if place else platform

    def moment(self, value: str) -> str:
        """Return a stored time or day as the language writes it; another value unchanged."""
        for form in (_MOMENT, _DAY):
            try:
                time = datetime.strptime(value, form).replace(tzinfo=UTC)
            except ValueError:
                continue
            day = self._language.day(time)
            return day if form == _DAY else self.gettext("%(date)s, %(time)s UTC", date=day, time=f"{time:%H:%M}")
        return value

    def duration(self, span: timedelta) -> str:
        """Return a duration in its largest unit of which there are several, or in hours or minutes."""
        minutes = int(span.total_seconds()) // 60
        if minutes % 1440 == 0 and minutes > 1440:
            return self.ngettext("%(num)s day", "%(num)s days", minutes // 1440)
        if minutes % 60 == 0:
            return self.ngettext("%(num)s hour", "%(num)s hours", minutes // 60)
        return self.ngettext("%(num)s minute", "%(num)s minutes", minutes)

    def address(self, value: str) -> str:
        """Return an IP address, or the word for one that is not known."""
        return self.gettext("unknown") if value == "unknown" else value

    def role_name(self, role: str) -> str:
        """Return the name of a role; the roles that every organization has are translated."""
        return self.known(role) if role in BUILT_IN_ROLES else role

    def device_name(self, name: str) -> str:
        """Return the name of a device or passkey; translated where it is one that Gatehouse has made."""
        described = user_agents.described_by(name)
        if described is None:
            return self.gettext("Unknown device") if name == user_agents.UNKNOWN else name
        return self.gettext("%(browser)s on %(system)s", browser=described[0], system=described[1])

    def reason(self, reason: str) -> str:
        """Return why the mail server of an organization takes no mail."""
        if reason.startswith(_ANSWERED):
            # The words of the server itself.
            return self.gettext("The mail server answered %(answer)s", answer=reason.removeprefix(_ANSWERED))
        return self._language.recognized(reason)

    def credentials_left(self, listed: str) -> list[str]:
        """Return the credentials that members have left behind, one line for each, and how many more there are."""
        return [self._credential(one) for one in listed.split(SEPARATOR)]

    def kept_members(self, listed: str) -> list[str]:
        """Return the addresses of members who stay, one line for each, and how many more there are."""
        return [self._more(one) for one in listed.split(SEPARATOR)]

    def takeover_lines(self, listed: str) -> list[str]:
        """Return what an undone takeover has made or changed, one line for each, and how much more there is."""
        return [self._of_takeover(one) for one in listed.split(SEPARATOR)]

    def _of_takeover(self, named: str) -> str:
        if found := _OF_TAKEOVER.fullmatch(named):
            place, kind, label, at = found["place"], self.known(found["kind"]), found["label"], found["at"]
            if at is None:
                return self.gettext("%(place)s: %(kind)s %(label)s", place=place, kind=kind, label=label)
            return self.gettext(
                "%(place)s: %(kind)s %(label)s, made on %(at)s", place=place, kind=kind, label=label, at=self.moment(at)
            )
        return self._more(named)

    def _credential(self, named: str) -> str:
        if made := _MADE.fullmatch(named):
            kind, label, maker = self.known(made["kind"]), made["label"], made["maker"]
            return self.gettext("%(kind)s %(label)s, made by %(maker)s", kind=kind, label=label, maker=maker)
        return self._more(named)

    def _more(self, named: str) -> str:
        if more := _MORE.fullmatch(named):
            return self.ngettext("and %(num)s more", "and %(num)s more", int(more[1]))
        return named
