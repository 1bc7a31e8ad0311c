"""What the mails about an undone takeover list: what was withdrawn, and what the owners and admins should look at.

The account gets one mail about all of its organizations, and every other owner and admin one about theirs. What was
made in the seven days before the takeover still works and is listed, because either person may have made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations.departures import SEPARATOR, MadeCredentialKind
from core.organizations.takeovers import Acting, MadeThing, RevertedAccess, Takeover
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LOOKED_BACK: Final = timedelta(days=7)
# Of each list; more are counted.
LISTED_MAX: Final = 50
# Of one organization, the owner first and then the longest-serving admins.
RECIPIENTS_MAX: Final = 100
# What a mail lists, beside the kinds of credentials; a mail shows them in its language.
KINDS: Final = (
    *MadeCredentialKind,
    *("invitation", "setup link", "management key", "suspended member", "rule of groups"),
    *("settings", "SAML settings", "credentials", "members of a group", "end users"),
    *("customer", "paused customer", "roles", "product", "settings of the product", "paused product"),
    *("external id", "link to an owner", "owner of a customer"),
)
# What no undo ends, with the place in the console where it is ended or made again.
GOES_ON: Final = PartialTable(
    {
        AuditAction.DOMAIN_SET: "/domain",
        AuditAction.DOMAIN_VERIFIED: "/domain",
        AuditAction.DOMAIN_ROUTE_CREATED: "/sign-in/mail-domains",
        AuditAction.DOMAIN_ROUTE_UPDATED: "/sign-in/mail-domains",
        AuditAction.DOMAIN_ROUTE_VERIFIED: "/sign-in/mail-domains",
        AuditAction.ORGANIZATION_SMTP_CONFIGURED: "/mail",
        AuditAction.BRANDING_UPDATED: "/branding",
        AuditAction.SAML_CERTIFICATE_CREATED: "/services",
        AuditAction.SERVICE_DELETED: "/services",
        AuditAction.GROUP_DELETED: "/provisioning",
        AuditAction.USER_DEACTIVATED: "/members",
        AuditAction.USER_REMOVED: "/members",
        AuditAction.USER_UPDATED: "/members",
        AuditAction.SUBSCRIPTION_CREATED: "/billing",
        AuditAction.SUBSCRIPTION_UPDATED: "/billing",
        AuditAction.SUBSCRIPTION_CANCELED: "/billing",
    }
)
_PLACES: Final[Mapping[str, str]] = {action.value: place for action, place in GOES_ON.items()}
# Details that say what an entry is about, none of them a text that its maker has chosen freely.
_NAMING: Final = ("service_slug", "domain", "host", "webhook_host")
_MOMENT: Final = "%Y-%m-%d %H:%M UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedThing:
    """Something that was made before a takeover and still works."""

    kind: str
    organization_id: UUID
    label: str
    made_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedChange:
    """An entry of an audit log about an act of the account; `what` names its target, and may be empty."""

    organization_id: UUID
    action: str
    what: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """An owner or admin of an organization; `language` is the tag of their language, None for an unknown one."""

    organization_id: UUID
    email: str
    language: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lists:
    """The three lists of a mail, each by the organization of a line."""

    withdrawn: Sequence[tuple[UUID, str]]
    made: Sequence[tuple[UUID, str]]
    changed: Sequence[tuple[UUID, str]]

    def values(self, organization_ids: Iterable[UUID]) -> dict[str, Any]:
        """Return the values of a mail about these organizations; empty texts where there is nothing to tell."""
        of = set(organization_ids)
        return {
            "withdrawn": _listed(line for one, line in self.withdrawn if one in of),
            "made": _listed(line for one, line in self.made if one in of),
            "changed": _listed(line for one, line in self.changed if one in of),
        }


def send(
    uow: UnitOfWork, takeover: Takeover, reverted: RevertedAccess, withdrawn: Sequence[MadeThing], *, email: str
) -> None:
    """Mail the account, at its address, and the other owners and admins what was withdrawn and what to look at."""
    organization_ids = list(reverted.organizations)
    lists = _lists(uow, takeover, reverted, withdrawn)
    user = uow.users.by_id(takeover.user_id)
    mail.send(
        uow,
        email,
        MailTemplate.TAKEOVER_UNDONE,
        account_language=user.language if user is not None else None,
        **lists.values(organization_ids),
    )
    for (address, language), of in _by_address(uow, takeover, organization_ids).items():
        values = lists.values(of)
        if any(values.values()):
            mail.send(
                uow,
                address,
                MailTemplate.MEMBER_TAKEOVER_UNDONE,
                account_language=language,
                member=email,
                **values,
            )


def _lists(uow: UnitOfWork, takeover: Takeover, reverted: RevertedAccess, withdrawn: Sequence[MadeThing]) -> _Lists:
    organization_ids = list(reverted.organizations)
    slugs = {one: organization.slug for one, organization in reverted.organizations.items()}
    made = uow.takeover_records.made_between(
        takeover.user_id, organization_ids, begin=takeover.since - LOOKED_BACK, end=takeover.since
    )
    changed = uow.takeover_records.changes_since(
        takeover.user_id, organization_ids, since=takeover.since, limit=LISTED_MAX + 1
    )
    return _Lists(
        withdrawn=[
            *((one.organization_id, f"{slugs[one.organization_id]}: {one.kind} {one.label}") for one in withdrawn),
            *(
                (one.organization_id, f"{slugs[one.organization_id]}: suspended member {one.email}")
                for one in reverted.suspended
            ),
        ],
        made=[
            (
                one.organization_id,
                f"{slugs[one.organization_id]}: {one.kind} {one.label}, made on {one.made_at.strftime(_MOMENT)}",
            )
            for one in made
        ],
        changed=[
            *((one.organization_id, _line(slugs, one)) for one in changed),
            *((one.organization_id, _line(slugs, one)) for one in _by_credentials(uow, reverted.acting)),
        ],
    )


def _by_credentials(uow: UnitOfWork, acting: Sequence[Acting]) -> Iterable[RecordedChange]:
    """Return what credentials of the takeover did and no undo ends."""
    of_credentials = [one for one in acting if one.named_by is not None]
    if not of_credentials:
        return []
    return [
        RecordedChange(
            organization_id=act.organization_id,
            action=act.action,
            what=" ".join(str(act.details[name]) for name in _NAMING if act.details.get(name)),
            at=act.at,
        )
        for act in uow.takeovers.acts(of_credentials, *GOES_ON)
    ]


def _line(slugs: Mapping[UUID, str], one: RecordedChange) -> str:
    slug = slugs[one.organization_id]
    place = _PLACES.get(one.action)
    where = f"(/app/organizations/{slug}{place})" if place is not None else ""
    return " ".join(part for part in (f"{slug}:", one.at.strftime(_MOMENT), one.action, one.what, where) if part)


def _by_address(
    uow: UnitOfWork, takeover: Takeover, organization_ids: Sequence[UUID]
) -> Mapping[tuple[str, str | None], list[UUID]]:
    """Return the organizations for each address that gets a mail."""
    found: dict[tuple[str, str | None], list[UUID]] = {}
    for one in uow.takeover_records.recipients(organization_ids, except_user_id=takeover.user_id, limit=RECIPIENTS_MAX):
        found.setdefault((one.email, one.language), []).append(one.organization_id)
    return found


def _listed(lines: Iterable[str]) -> str:
    every = list(lines)
    shown = every[:LISTED_MAX]
    if len(every) > LISTED_MAX:
        shown.append(f"and {len(every) - LISTED_MAX} more")
    return SEPARATOR.join(shown)
