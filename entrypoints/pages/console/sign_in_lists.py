"""The lists behind the plots of sign-ins, of an organization and of the platform: their filters, and their values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.audit.sign_in_counts import SignInFilter
from core.audit.sign_in_log import NO_SERVICE, FoundActiveUsers, FoundSignIns, LoggedSignIn
from core.ids import id_or_none
from core.limits import EMAIL_CHARACTERS_MAX
from core.positions import Position
from core.sign_in.reasons import SignInReason
from core.sign_in.sign_ins import SignInOutcome
from entrypoints.pages.console.csv_files import ROWS_AT_ONCE, CsvFile, listed_file
from entrypoints.pages.console.frame import PagedQuery, with_query
from entrypoints.pages.console.lists import ways
from entrypoints.pages.console.sign_in_plots import METHODS, REFUSED, SUCCEEDED, method_name, reason_name, service_name
from entrypoints.pages.frame.languages import Language, marked
from entrypoints.web.input.decoding import Query, number_of

OUTCOME_CHOICES: Final = (
    ("", marked("Every outcome")),
    (SUCCEEDED, marked("Succeeded")),
    (REFUSED, marked("Refused")),
)


def date_or_none(text: str) -> date | None:
    """Return the date that a text is in ISO form; None for any other."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


class FoundSignInsQuery(PagedQuery, kw_only=True):
    """Which sign-ins to show, and from where on."""

    outcome: Annotated[str, msgspec.Meta(description="`succeeded` or `refused`.", max_length=20)] = ""
    reason: Annotated[str, msgspec.Meta(description="Why they were refused, by its name.", max_length=60)] = ""
    method: Annotated[str, msgspec.Meta(description="How they were made, by its name.", max_length=60)] = ""
    service: Annotated[str, msgspec.Meta(description="The id of the service; zero for no service.", max_length=40)] = ""
    day: Annotated[str, msgspec.Meta(description="The only day, in UTC.", max_length=10)] = ""
    since: Annotated[str, msgspec.Meta(description="The first day, in UTC.", max_length=10)] = ""
    until: Annotated[str, msgspec.Meta(description="The last day, in UTC.", max_length=10)] = ""
    address: Annotated[str, msgspec.Meta(description="The address of the network.", max_length=64)] = ""
    person: Annotated[
        str, msgspec.Meta(description="The whole email address of the person.", max_length=EMAIL_CHARACTERS_MAX)
    ] = ""

    @property
    def asked(self) -> SignInFilter:
        """The filter; a damaged field asks for nothing."""
        return SignInFilter(
            succeeded={SUCCEEDED: True, REFUSED: False}.get(self.outcome),
            reason=self.reason or None,
            provider=self.method or None,
            service_id=id_or_none(self.service),
            address=self.address.strip() or None,
            email=self.person.strip() or None,
            since=date_or_none(self.first_day),
            until=date_or_none(self.last_day),
        )

    @property
    def first_day(self) -> str:
        """The first day, also of one."""
        return self.day or self.since

    @property
    def last_day(self) -> str:
        """The last day, also of one."""
        return self.day or self.until

    @property
    def kept(self) -> dict[str, str]:
        """The filter as it stands in an address."""
        names = ("outcome", "reason", "method", "service", "address", "person")
        return {name: getattr(self, name) for name in names} | {"since": self.first_day, "until": self.last_day}


class ActiveUsersQuery(Query, kw_only=True):
    """Of which days active users are shown, and from where on."""

    day: Annotated[str, msgspec.Meta(description="The last day, in UTC; today without it.", max_length=10)] = ""
    days: Annotated[str, msgspec.Meta(description="1, 7 or 30 days.", max_length=2)] = ""
    after: Annotated[str, msgspec.Meta(description="The id after which the page begins.", max_length=40)] = ""

    @property
    def last_day(self) -> date | None:
        """The last day; None for today."""
        return date_or_none(self.day)

    @property
    def number_of_days(self) -> int:
        """How many days; 0 for a damaged number."""
        return number_of(self.days)

    @property
    def after_id(self) -> UUID:
        """The id after which the page begins; the first one where it is damaged."""
        return id_or_none(self.after) or UUID(int=0)


def sign_ins_values(
    language: Language,
    query: FoundSignInsQuery,
    found: FoundSignIns,
    *,
    page: str,
    people: str,
    services: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Return the values of a page of sign-ins; `people` is the address below which the page links people."""
    reasons = sorted((reason_name(language, reason.value), reason.value) for reason in SignInReason)
    methods = [(provider, language.text(text)) for provider, text in METHODS.items()]
    if query.method and query.method not in METHODS:
        methods.append((query.method, method_name(language, query.method)))
    return {
        "query": query,
        "found": found,
        "page": page,
        "people": people,
        "file": with_query(f"{page}/sign-ins.csv", **query.kept),
        "outcomes": OUTCOMES,
        "choices": {
            "outcome": [(value, language.text(text)) for value, text in OUTCOME_CHOICES],
            "reason": [("", language.text(marked("Every reason"))), *((value, text) for text, value in reasons)],
            "method": [("", language.text(marked("Every method"))), *methods],
            "service": [
                ("", language.text(marked("Every service"))),
                (str(NO_SERVICE), service_name(language, NO_SERVICE, None)),
                *services,
            ]
            if services
            else [],
        },
        "methods": {one.id: method_name(language, one.provider, one.mailed_proof) for one in found.found},
        **ways(page, query.kept, after=query.after, following=found.next),
    }


_COLUMNS: Final[Mapping[str, Callable[[LoggedSignIn], object]]] = {
    "time": lambda one: one.created_at,
    "person": lambda one: one.email,
    "outcome": lambda one: one.outcome.value,
    "reason": lambda one: one.known_reason.value if one.known_reason is not None else None,
    "method": lambda one: one.provider,
    "mailed": lambda one: one.mailed_proof,
    "organization": lambda one: one.organization_name,
    "service": lambda one: one.service_name,
    "connection": lambda one: one.connection_name,
    "network": lambda one: one.ip_address,
    "device": lambda one: one.device if one.user_agent is not None else None,
    "request_id": lambda one: one.request_id,
}


async def sign_ins_file(
    name: str, query: FoundSignInsQuery, find: Callable[[Position | None], Awaitable[FoundSignIns]]
) -> CsvFile:
    """Return the response that streams what a filter finds; `find` returns `ROWS_AT_ONCE` sign-ins at most."""

    async def read(after: Position | None) -> Sequence[LoggedSignIn]:
        rows: list[LoggedSignIn] = []
        while len(rows) < ROWS_AT_ONCE:
            # A search looks at some days at a time, and may find fewer.
            part = await find(after)
            rows += part.found
            after = part.next
            if after is None:
                break
        return rows

    return await listed_file(name, _COLUMNS, read, after=query.position)


def active_users_values(query: ActiveUsersQuery, found: FoundActiveUsers, *, page: str, people: str) -> dict[str, Any]:
    """Return the values of a page of active users."""
    days = (found.period.end - found.period.start).days + 1
    kept = {"day": found.period.end.isoformat(), "days": str(days)}
    return {
        "found": found,
        "page": page,
        "people": people,
        "days": days,
        "day": kept["day"],
        **ways(page, kept, after=query.after, following=found.next),
    }


# What a badge says of each outcome, with its kind.
OUTCOMES: Final = {
    SignInOutcome.SUCCESS: ("good", marked("Signed in")),
    SignInOutcome.REFUSED: ("bad", marked("Refused")),
    SignInOutcome.SECOND_FACTOR_ASKED: ("info", marked("Not completed")),
}
