"""Setting up provisioning with a setup link (decisions 13.7): tokens for the directory, and what it failed to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations import access, setup_links
from core.organizations.access import Capability
from core.organizations.authority import Authority
from core.organizations.setup_links import OpenSetup, Part
from core.scim import tokens
from core.scim.log import ProvisioningLogEntry
from core.scim.tokens import FoundGroups, ScimToken, TokenEnds
from core.secrets import Secret

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TOKEN_NAME: Final = "Setup link"  # noqa: S105 - the name of a token
FAILURES_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimSetup:
    """The tokens of the organization, and what its directory failed to do lately; both newest first."""

    setup: OpenSetup
    tokens: Sequence[ScimToken]
    failures: Sequence[ProvisioningLogEntry]


def show(uow: UnitOfWork, cookie: str) -> ScimSetup:
    """Return what the holder of a link sees; raise `SetupLinkDead`."""
    setup = setup_links.present(uow, cookie, Part.SCIM)
    return ScimSetup(
        setup=setup,
        tokens=uow.scim_tokens.of_organization(setup.organization_id),
        failures=uow.scim_log.failures(setup.organization_id, limit=FAILURES_MAX),
    )


def create_token(uow: UnitOfWork, cookie: str) -> Secret:
    """Create a token for the directory and return its secret, which cannot be read again.

    It outlives the link; the organization sees and revokes it like every other. It manages groups if the link has rules
    for them, and gives, changes and removes the roles of the link and `member` alone.
    """
    setup = setup_links.lock(uow, cookie, Part.SCIM)
    groups = FoundGroups.DIRECTORY if Part.GROUPS in setup.parts else FoundGroups.ORGANIZATION
    _, secret = tokens.add(
        uow,
        setup.organization_id,
        name=TOKEN_NAME,
        expires_at=None,
        groups=groups,
        created_by=setup.created_by,
        authority=_authority(uow, setup),
        **setup.recorded,
    )
    return secret


def show_ends(uow: UnitOfWork, cookie: str, token_id: UUID) -> tuple[OpenSetup, TokenEnds]:
    """Return what ends with a token, to the holder of a link; raise `ScimTokenUnknown`."""
    setup = setup_links.present(uow, cookie, Part.SCIM)
    return setup, tokens.ends_of(uow, setup.organization_id, token_id)


def revoke_token(uow: UnitOfWork, cookie: str, token_id: UUID) -> None:
    """Delete a token of the organization, which loses access at once; raise `ScimTokenUnknown`.

    Also one that a member has made: the staff who enter tokens at the directory know which of them it uses.
    """
    setup = setup_links.lock(uow, cookie, Part.SCIM)
    tokens.drop(uow, setup.organization_id, token_id, **setup.recorded)


def _authority(uow: UnitOfWork, setup: OpenSetup) -> Authority:
    """Return what a token that is made with a link may do."""
    allowed = [access.capabilities_of_role(uow, setup.organization_id, role) for role in setup.roles]
    return Authority.of_link(setup.roles, frozenset[Capability]().union(*allowed))
