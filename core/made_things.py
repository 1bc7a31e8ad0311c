"""What people make in organizations that outlasts their own access, and what becomes of it with its maker.

Each kind names the tables that keep it with its maker, and the operations that make or change it: every operation that
is closed while impersonating, because its result would stay. For each event of its maker it says what follows:
the undo of a change of address, a lock, a deactivation by a directory, the end of the membership, a lower role, the
deletion of the account. `accounts/email_change_undo.py` and `accounts/locks.py` carry out what it says, and
`endings.py` takes from it what ends. `tests/core/test_made_things.py` fails for a table with a maker, an operation or a
credential that no kind names (ops/decisions/0089-what-becomes-of-what-members-make.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum
from typing import Final, TypeAlias

from core.organizations.access import Operation
from core.tables import PartialTable


class MakerEvent(StrEnum):
    """An event in the life of the person who made something."""

    UNDO = "the person undoes a change of the address, which was requested before this was made"
    LOCK = "the account is locked"
    DEACTIVATION = "a directory deactivates the member"
    REMOVAL = "the membership ends"
    DEMOTION = "the role allows less"
    DELETION = "the account is deleted"


class Outcome(StrEnum):
    """What becomes of something with an event."""

    ENDS = "it ends"
    OFF = "it is switched off, with the reason, and keeps its settings"
    FALLS_BACK = "what was added goes, and what was replaced comes back; where that is not known, it is empty and off"
    LISTED = "it cannot be undone: the mail lists it with the way to end it"
    JUDGED = "each use judges what the maker may do then"
    STAYS = "it is the organization's, which keeps it"


_Made: TypeAlias = tuple[str, Mapping[str, str], frozenset[Operation], Mapping[MakerEvent, Outcome]]
# With every event in the life of the maker, but a lower role, after which each use is judged.
_ENDS_WITH_MAKER: Final = dict.fromkeys(MakerEvent, Outcome.ENDS) | {MakerEvent.DEMOTION: Outcome.JUDGED}
_GIVES_WHILE_MAKER_MAY: Final = {
    **dict.fromkeys(MakerEvent, Outcome.JUDGED),
    MakerEvent.UNDO: Outcome.ENDS,
    MakerEvent.LOCK: Outcome.STAYS,
}


def _stays_unless_undone(undone: Outcome) -> Mapping[MakerEvent, Outcome]:
    """Return the outcomes of what belongs to the organization, which keeps it when its maker goes."""
    return dict.fromkeys(MakerEvent, Outcome.STAYS) | {MakerEvent.UNDO: undone}


_TAKEN_BACK: Final = _stays_unless_undone(Outcome.ENDS)
_SWITCHED_OFF: Final = _stays_unless_undone(Outcome.OFF)
_FALLS_BACK: Final = _stays_unless_undone(Outcome.FALLS_BACK)
_LISTED: Final = _stays_unless_undone(Outcome.LISTED)


def _made(words: str, outcomes: Mapping[MakerEvent, Outcome], *operations: Operation, **makers: str) -> _Made:
    """Return the values of a kind; `makers` are the columns that name the maker, by their tables."""
    return words, makers, frozenset(operations), outcomes


class MadeKind(Enum):
    """A kind of things that members make or change, by the words for people."""

    INVITATION = _made(
        "invitation", dict.fromkeys(MakerEvent, Outcome.ENDS), Operation.INVITATIONS_CHANGE, invitations="invited_by"
    )
    SETUP_LINK = _made("setup link", _ENDS_WITH_MAKER, Operation.SETUP_LINK_CREATE, setup_links="created_by")
    ORGANIZATION_KEY = _made(
        "key of the organization", _ENDS_WITH_MAKER, Operation.KEY_CREATE, organization_keys="created_by"
    )
    API_KEY = _made("API key", _TAKEN_BACK, Operation.API_KEY_CREATE, api_keys="created_by")
    WORKLOAD = _made("workload", _TAKEN_BACK, Operation.WORKLOAD_CREATE, workloads="created_by")
    SCIM_TOKEN = _made("SCIM token", _TAKEN_BACK, Operation.SCIM_TOKEN_CREATE, scim_tokens="created_by")
    CLIENT_SECRET = _made(
        "secret of a service",
        _TAKEN_BACK,
        Operation.SERVICE_CREATE,
        Operation.SERVICE_SECRET_ROTATE,
        services="client_secret_made_by",
    )
    WEBHOOK = _made("webhook", _SWITCHED_OFF, Operation.WEBHOOK_CONFIGURE, webhooks="made_by")
    SIEM_STREAM = _made("SIEM stream", _SWITCHED_OFF, Operation.SIEM_CONFIGURE, siem_streams="made_by")
    CONNECTION = _made(
        "upstream connection",
        _SWITCHED_OFF,
        Operation.CONNECTION_CONFIGURE,
        # A SCIM token that is adopted ends as every one does.
        Operation.MADE_FOR_US_ADOPT,
        upstream_connections="made_by",
    )
    GROUP_RULE = _made("rule of groups", _GIVES_WHILE_MAKER_MAY, Operation.GROUP_RULES_CHANGE, group_rules="made_by")
    DIRECTORY_PLACE = _made("place in a group of the directory", _FALLS_BACK)
    END_USER = _made("end user that an API key has added", _TAKEN_BACK)
    GRANT = _made("grant on a service", _FALLS_BACK, Operation.SERVICE_GRANTS_CHANGE, service_grants="granted_by")
    ROLE = _made(
        "role of a member",
        _FALLS_BACK,
        Operation.MEMBER_CHANGE,
        Operation.ROLES_CHANGE,
        Operation.OWNERSHIP_TRANSFER,
    )
    CUSTOMER = _made(
        "customer of a service",
        _TAKEN_BACK,
        Operation.CUSTOMER_OFFER,
        Operation.CUSTOMER_OWNER_NAME,
        Operation.CUSTOMERS_CHANGE,
    )
    # Also of a program: the maker of its key counts as the maker.
    CUSTOMER_SETUP = _made("setup made for customers", _SWITCHED_OFF, Operation.CUSTOMER_SETUP)
    CUSTOMER_PERSON = _made("roles of people of customers", _FALLS_BACK, Operation.CUSTOMER_PEOPLE_CHANGE)
    PRODUCT = _made(
        "product", _TAKEN_BACK, Operation.PRODUCT_ACCEPT, Operation.PRODUCTS_CHANGE, Operation.VENDOR_SETUP_CHANGE
    )
    SERVICE = _made("where a service leads", _FALLS_BACK, Operation.SERVICE_UPDATE)
    SAML = _made("SAML settings of a service", _FALLS_BACK, Operation.SAML_CHANGE)
    PROVIDER_CREDENTIALS = _made("credentials at a provider", _TAKEN_BACK, Operation.OAUTH_CREDENTIALS_SET)
    SIGN_IN = _made("session at a service", _ENDS_WITH_MAKER, Operation.SAML_LOGIN, Operation.SERVICE_TRY)
    JOB = _made("running bulk job", _ENDS_WITH_MAKER, bulk_jobs="maker_id")
    BRANDING_VERSION = _made("earlier branding", _LISTED, branding_versions="made_by")
    DOMAIN = _made("domain", _LISTED, Operation.DOMAIN_CHANGE, Operation.DOMAIN_ROUTES_CHANGE)
    METADATA = _made("metadata", _LISTED, Operation.ORGANIZATION_UPDATE, Operation.SERVICE_USER_CHANGE)
    MAIL_SERVER = _made("mail server", _LISTED, Operation.MAIL_SERVER_SET)
    SAML_CERTIFICATE = _made("SAML certificate", _LISTED, Operation.SAML_CERTIFICATE_CREATE)
    REMOVAL = _made(
        "what was deleted",
        _LISTED,
        Operation.ORGANIZATION_DELETE,
        Operation.ORGANIZATION_LEAVE,
        Operation.SERVICE_DELETE,
        Operation.PERSONAL_DATA_REMOVE,
        Operation.MADE_FOR_US_REMOVE,
    )

    makers: Mapping[str, str]
    operations: frozenset[Operation]
    outcomes: Mapping[MakerEvent, Outcome]

    def __new__(
        cls,
        words: str,
        makers: Mapping[str, str],
        operations: frozenset[Operation],
        outcomes: Mapping[MakerEvent, Outcome],
    ) -> MadeKind:
        member = object.__new__(cls)
        member._value_ = words
        member.makers = makers
        member.operations = operations
        member.outcomes = outcomes
        return member

    def becomes(self, event: MakerEvent) -> Outcome:
        """Return what becomes of it with an event in the life of its maker."""
        return self.outcomes[event]


# What the credentials of a takeover do; it is taken back like what the person does.
ACTS_OF_CREDENTIALS: Final[PartialTable[MadeKind, frozenset[MadeKind]]] = PartialTable(
    {
        MadeKind.SETUP_LINK: frozenset(
            {MadeKind.SCIM_TOKEN, MadeKind.CONNECTION, MadeKind.SAML, MadeKind.DOMAIN, MadeKind.SIEM_STREAM}
        ),
        # It makes and changes what its maker may, customers of the services included.
        MadeKind.ORGANIZATION_KEY: frozenset(MadeKind) - {MadeKind.JOB, MadeKind.SIGN_IN},
        MadeKind.API_KEY: frozenset(
            {
                MadeKind.END_USER,
                MadeKind.METADATA,
                MadeKind.SERVICE,
                MadeKind.CUSTOMER,
                MadeKind.CUSTOMER_PERSON,
                MadeKind.REMOVAL,
            }
        ),
        MadeKind.SCIM_TOKEN: frozenset({MadeKind.DIRECTORY_PLACE, MadeKind.ROLE, MadeKind.REMOVAL}),
        # It acts as a service, which opens nothing at Gatehouse, or as a key of the organization, possibly an honest
        # member's: the log names the workload beside the key, and the rows name who admitted it.
        MadeKind.WORKLOAD: frozenset({MadeKind.ORGANIZATION_KEY}),
        MadeKind.CLIENT_SECRET: frozenset({MadeKind.SIGN_IN}),
        # These send what happens elsewhere, and do nothing here.
        MadeKind.WEBHOOK: frozenset(),
        MadeKind.SIEM_STREAM: frozenset(),
        # Members who joined by it are suspended, and identities that were linked by it are unlinked.
        MadeKind.CONNECTION: frozenset({MadeKind.ROLE, MadeKind.SIGN_IN}),
    }
)
