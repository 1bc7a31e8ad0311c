"""What pages say of the setup of a customer: what it waits for, what fails, why, and what the vendor does about it."""

from collections.abc import Callable, Sequence
from typing import Final

from core.customers.found_customers import CustomerInDetail
from core.customers.setup_progress import CustomerTrouble, MadeSoFar, SetupStep, TroubleKind
from core.lazy_dataclasses import dataclass
from core.organizations.link_callers import Part
from core.tables import PartialTable
from core.wording import Wording
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.sign_in.upstream.provider_problems import TO_MEMBERS

STEPS: Final = {
    SetupStep.LINK_UNOPENED: marked("The setup link was not opened yet."),
    SetupStep.LINK_OPENED: marked("The setup link was opened. No identity provider is connected yet."),
    SetupStep.TEST: marked("The connection waits for a test sign-in."),
    SetupStep.DOMAIN: marked("A mail domain waits for its TXT record."),
    SetupStep.DIRECTORY: marked("The directory has not called yet."),
    SetupStep.SIGN_IN: marked("It waits for the first sign-in."),
}
# The parts that a vendor sets up, as its own pages call them.
PARTS: Final = {
    Part.UPSTREAM.value: marked("Connections"),
    Part.MAIL_DOMAIN.value: marked("Mail domains"),
    Part.SCIM.value: marked("Directory (SCIM)"),
    Part.GROUPS.value: marked("Roles by groups"),
}
_TITLES: Final = {
    TroubleKind.ORGANIZATION_REJECTED: marked("Its organization was rejected."),
    TroubleKind.ORGANIZATION_SUSPENDED: marked("Its organization is suspended."),
    TroubleKind.CONNECTION_FAILING: marked("The connection %(name)s fails."),
    TroubleKind.CONNECTION_OFF: marked("The connection %(name)s was switched off."),
    TroubleKind.DOMAIN_FAILING: marked("The mail domain %(name)s is being lost."),
    TroubleKind.DOMAIN_UNPROVED: marked("The mail domain %(name)s is not proved."),
    TroubleKind.DIRECTORY_EXPIRED: marked("The directory has stopped."),
    TroubleKind.DIRECTORY_REFUSED: marked("The last call of the directory was refused."),
}
_ADVICE: Final = PartialTable(
    {
        TroubleKind.ORGANIZATION_REJECTED: marked(
            "The platform has rejected it, so nothing works for it. Ask the platform."
        ),
        TroubleKind.ORGANIZATION_SUSPENDED: marked("While it is suspended, nothing works for it. Ask the platform."),
        TroubleKind.CONNECTION_OFF: marked(
            "The account that set it up was taken over, and a change of its address was undone. Check where the"
            " connection leads, delete it, and make another one."
        ),
        TroubleKind.DOMAIN_FAILING: marked(
            "The TXT record is gone. Seven days after it went the domain counts no longer. Have the customer publish it"
            " again."
        ),
        TroubleKind.DOMAIN_UNPROVED: marked(
            "The TXT record was not found. Have the customer publish it, then check the domain again."
        ),
        TroubleKind.DIRECTORY_EXPIRED: marked(
            "Its token has expired. Make another one, and have the customer enter it in the directory."
        ),
    }
)


# The page of each part below the customer's page, the text about it, and how many there are.
_ROWS: Final[Sequence[tuple[Part, str, str, Callable[[MadeSoFar], int]]]] = (
    (
        Part.UPSTREAM,
        "/connections",
        marked("Its identity provider signs its people in to this service."),
        lambda made: made.connections,
    ),
    (
        Part.MAIL_DOMAIN,
        "/mail-domains",
        marked("Their addresses lead to a connection, before a person has signed in."),
        lambda made: made.mail_domains,
    ),
    (
        Part.SCIM,
        "/scim-tokens",
        marked("Its directory adds and removes the people who may use this service for it."),
        lambda made: made.scim_tokens,
    ),
    (
        Part.GROUPS,
        "/group-rules",
        marked("Its groups give roles of this service."),
        lambda made: made.group_rules,
    ),
)


# The text about each part for the vendor.
ABOUT: Final = PartialTable({part: about for part, _, about, _ in _ROWS})


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """A part of the setup for a customer, with its page below the customer's, and how many there are."""

    title: str
    about: str
    path: str
    count: int
    is_open: bool


def rows_of_parts(found: CustomerInDetail) -> Sequence[PartRow]:
    """Return the parts of the setup of a customer, those included that the vendor may not set up."""
    made = found.progress.made
    return [
        PartRow(
            title=PARTS[part.value],
            about=about,
            path=path,
            count=count(made) if made is not None else 0,
            is_open=part in found.parts,
        )
        for part, path, about, count in _ROWS
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTrouble:
    """What fails at a customer, in a sentence, with what to do; `trouble` says since when, and its details."""

    trouble: CustomerTrouble
    title: str | Wording
    advice: str


def shown_troubles(troubles: Sequence[CustomerTrouble]) -> Sequence[ShownTrouble]:
    """Return what fails at a customer, in words."""
    return [ShownTrouble(trouble=one, title=_title(one), advice=_advice(one)) for one in troubles]


def _title(trouble: CustomerTrouble) -> str | Wording:
    text = _TITLES[trouble.kind]
    return Wording(text, name=trouble.name) if "%(name)s" in text else text


def _advice(trouble: CustomerTrouble) -> str:
    """Return what to do; empty for a refused call of the directory, whose answer says it."""
    if trouble.problem is not None:
        return TO_MEMBERS[trouble.problem]
    return _ADVICE.get(trouble.kind, "")
