"""Who made the credentials of an organization: they stay when the maker leaves, and a mail tells the owner.

The operation that makes a credential judges what its maker may do. Setup links are not among these credentials: they
end with the rights of their maker (`link_callers.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.parts import in_parts

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# More are counted, not listed.
LISTED_MAX: Final = 50
# What separates credentials in the value of a mail, which is one line.
SEPARATOR: Final = "; "


class MadeCredentialKind(StrEnum):
    """A kind of credential, by the words for people."""

    SCIM_TOKEN = "SCIM token"  # noqa: S105 - a kind of token
    API_KEY = "API key"
    SIEM_STREAM = "SIEM stream"
    WEBHOOK = "webhook"
    CONNECTION = "connection"
    WORKLOAD = "workload"
    CLIENT_SECRET = "client secret"  # noqa: S105 - a kind of secret


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCredential:
    """A credential and who made it; `label` is its prefix, its host or its service, never a text of its maker."""

    kind: MadeCredentialKind
    label: str
    maker_email: str

    def __str__(self) -> str:
        """Return how a mail names it."""
        return f"{self.kind} {self.label}, made by {self.maker_email}"


def record_maker(
    uow: UnitOfWork, kind: MadeCredentialKind, organization_id: UUID, credential_id: UUID, user_id: UUID
) -> None:
    """Record who made a credential, or changed where it leads.

    SCIM tokens, API keys and workloads are stored with their maker.
    """
    uow.made_credentials.set_maker(kind, organization_id, credential_id, user_id)


def tell_owner(uow: UnitOfWork, organization_id: UUID, leaving: Sequence[UUID]) -> None:
    """Mail the owner which valid credentials of the leaving members stay, if there are any.

    Called before their memberships end, because their accounts may end with them.
    """
    found = [one for part in in_parts(leaving) for one in uow.made_credentials.of_makers(organization_id, part)]
    if not found:
        return
    listed = [str(credential) for credential in found[:LISTED_MAX]]
    if len(found) > LISTED_MAX:
        listed.append(f"and {len(found) - LISTED_MAX} more")
    owner = uow.mail_servers.owner_contact(organization_id)
    mail.send(
        uow,
        owner.email,
        MailTemplate.CREDENTIALS_LEFT,
        organization_id=organization_id,
        organization=owner.organization_name,
        credentials=SEPARATOR.join(listed),
    )
