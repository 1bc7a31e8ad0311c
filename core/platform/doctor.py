"""What `gatehouse doctor` lists of organizations: credentials without a right, and names with web addresses.

The credentials stay, because the systems of their organization may need them, and only the organization knows which.
The names in mails and on pages are older than the rule against web addresses in names (`core/text.py`). They keep
working, and mails have a neutral word in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, capabilities_of
from core.organizations.departures import MadeCredentialKind
from core.services.api_keys import CAPABILITIES, Permission
from core.services.service_access import OF_MANAGERS
from core.text import mentions_web_address

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# What the maker of each kind must be allowed to do; an API key also requires what its permissions require.
_OPERATIONS: Final = {
    MadeCredentialKind.SCIM_TOKEN: Operation.SCIM_TOKEN_CREATE,
    MadeCredentialKind.API_KEY: Operation.API_KEY_CREATE,
    MadeCredentialKind.WORKLOAD: Operation.WORKLOAD_CREATE,
    MadeCredentialKind.SIEM_STREAM: Operation.SIEM_CONFIGURE,
    MadeCredentialKind.WEBHOOK: Operation.WEBHOOK_CONFIGURE,
    MadeCredentialKind.CONNECTION: Operation.CONNECTION_CONFIGURE,
    MadeCredentialKind.CLIENT_SECRET: Operation.SERVICE_SECRET_ROTATE,
}


assert set(_OPERATIONS) == set(MadeCredentialKind), (
    "a kind of credential does not say what its maker must be allowed to do"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCredential:
    """A valid credential whose maker is neither owner nor admin now.

    `role` is the maker's present role, None after they have left, and `role_permissions` what it allows if it is a
    custom role. `permissions` belong to an API key. `kept_role` is the role that the maker of a SCIM token had,
    `kept_permissions` what it allowed if it was a custom role, and `manages_service` whether a grant lets the maker
    manage its service.
    """

    organization_slug: str
    kind: MadeCredentialKind
    label: str
    role: str | None
    role_permissions: list[str] | None
    permissions: list[str]
    kept_role: str | None
    kept_permissions: list[str] | None
    manages_service: bool

    @property
    def has_right(self) -> bool:
        """Whether the maker may still do everything that the credential allows."""
        return self.role is not None and self._needed <= self._present(self.role)

    def __str__(self) -> str:
        """Return the text for operators."""
        return f"{self.organization_slug}: {self.kind} {self.label}"

    @property
    def _needed(self) -> frozenset[Capability]:
        needed = _OPERATIONS[self.kind].capabilities
        needed = needed.union(*(CAPABILITIES[Permission(permission)] for permission in self.permissions))
        if self.kept_role is not None:
            needed |= capabilities_of(self.kept_role, self.kept_permissions)
        return needed

    def _present(self, role: str) -> frozenset[Capability]:
        present = capabilities_of(role, self.role_permissions)
        if self.manages_service:
            present |= OF_MANAGERS
        if self.kind is MadeCredentialKind.CLIENT_SECRET and Capability.SERVICES_CREATE in present:
            # The first secret is made with its service.
            present |= OF_MANAGERS
        return present


def without_right(uow: UnitOfWork) -> Sequence[KeptCredential]:
    """List the valid credentials whose maker has left, or may not do any more what they allow."""
    return [credential for credential in uow.left_credentials.candidates() if not credential.has_right]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicName:
    """A name, and its owner: the slugs of a service, and the id of a thing without a slug."""

    place: str
    name: str


def breaking_the_rule(uow: UnitOfWork) -> Sequence[PublicName]:
    """List the names of services, plans and connections that contain a web address."""
    return [one for one in uow.public_names.dotted() if mentions_web_address(one.name)]
