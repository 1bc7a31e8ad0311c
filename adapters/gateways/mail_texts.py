"""The texts of a mail in the language of its reader, with the values that stand in them: dates, durations, names.

Values are texts in the outbox, as every version of Gatehouse writes and reads them. Names that a person or an
organization has chosen are never translated; the words in place of a missing name are.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import structlog

from core.accounts.one_time_tokens import TokenPurpose
from core.credentials import user_agents
from core.customers import claiming
from core.invitations import invitations
from core.mail.mail import NEUTRAL_NAMES, MailTemplate
from core.organizations.departures import SEPARATOR, MadeCredentialKind
from core.organizations.organizations import BUILT_IN_ROLES
from core.organizations.takeover_mails import KINDS as TAKEOVER_KINDS
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.languages import TextLanguage

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
