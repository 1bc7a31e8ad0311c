"""Who may sign in by an identity of an organization's connection, and with which role.

The identity provider of an organization speaks for the people of that organization alone: its members, the end users of
its services, and the addresses of its verified mail domains. For anyone else, such as a person who has left, it opens
nothing, and the identity is unlinked. Every sign-in passes these rules (`rules.py`), also the second half of one, and
the child of a browser session.

An identity that the connection's word alone has linked opens only `member`, the role with which people join by the
connection, and roles of rules by the groups that it asserts, until its user has once typed a code that was mailed to
the address of the account. A user who has to set up a second factor types it before: the connection has no say about
the account's factors. So does a user who asks for it on the pages of the account, to change what only a confirmed user
may.
"""

from __future__ import annotations

from core.errors import Forbidden, Refusal
from core.lazy_dataclasses import dataclass
from core.organizations import access, group_roles
from core.organizations.authorization import MembershipSuspended
from core.organizations.organizations import MEMBER
from core.sessions.caller_limits import AddressNotConfirmed, Confinement
from core.sign_in.reasons import SignInInterrupted, SignInReason


class NotOfOrganization(Forbidden):
    """The user is neither a member nor an end user of the connection's organization, nor of its mail domains."""

    default_message = (
        "You do not belong to this organization any more, so its sign-in does not open your account. Sign in in another"
        " way, or ask the organization to invite you."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionStanding:
    """What a user is to the organization of a connection. `role` is None for a user who is no member.

    `organization_requires_mfa`: the organization requires a second factor of its members.
    `organization_takes_passkeys`: it accepts passkeys alone. `has_group_rules`: rules of it give roles by groups.
    `is_role_by_groups`: one gave the role by what the connection itself asserts. `role_permissions` are those of a
    custom role. `is_made`: a vendor has made the connection for a customer, to whose context it admits everyone.
    """

    is_enabled: bool
    joins_as: str | None
    is_by_word_alone: bool
    role: str | None
    is_suspended: bool
    is_end_user: bool
    is_in_mail_domain: bool
    organization_requires_mfa: bool
    has_group_rules: bool
    is_role_by_groups: bool = False
    role_permissions: list[str] | None = None
    organization_takes_passkeys: bool = False
    is_made: bool = False

    @property
    def requires_second_factor(self) -> bool:
        """Whether the organization requires a second factor of the user."""
        return self.organization_requires_mfa and self.role is not None

    @property
    def takes_passkeys_alone(self) -> bool:
        """Whether the organization requires a second factor of the user, and accepts passkeys alone."""
        return self.requires_second_factor and self.organization_takes_passkeys

    @property
    def may_sign_in(self) -> bool:
        """Whether the connection may sign the user in. A suspended member counts as one who has left."""
        belongs = self.role is not None or self.is_end_user or self.is_made
        return self.is_in_mail_domain or (not self.is_suspended and belongs)

    @property
    def confined_to_role(self) -> str | None:
        """The role that the connection's word alone opens besides `member`; None when there is more than its word."""
        if not self.is_by_word_alone:
            return None
        if self.is_role_by_groups and self.role is not None:
            allowed = access.capabilities_of(self.role, self.role_permissions)
            if group_roles.opens_by_word_alone(self.role, allowed):
                return self.role
        return self.joins_as or MEMBER


def refusal_of_closed(standing: ConnectionStanding | None) -> Refusal | None:
    """Refuse a connection that was deleted or switched off."""
    is_open = standing is not None and standing.is_enabled
    return None if is_open else SignInInterrupted().because(SignInReason.CONNECTION_CLOSED)


def refusal_of_stranger(standing: ConnectionStanding) -> Refusal | None:
    """Refuse a user who does not belong to the organization of the connection, or whose membership is deactivated."""
    if standing.may_sign_in:
        return None
    if standing.is_suspended:
        return MembershipSuspended().because(SignInReason.SUSPENDED)
    return NotOfOrganization().because(SignInReason.NOT_OF_ORGANIZATION)


def refusal_by_connection_alone(
    standing: ConnectionStanding, confinement: Confinement, *, takes_code: bool, takes_code_again: bool = False
) -> Refusal | None:
    """Refuse what takes more than the connection's word alone: a role, and what `takes_code`.

    That is setting up the factor that a user lacks, and a sign-in that is made to confirm the address. With
    `takes_code_again` it takes a code of this sign-in, even of a user who has typed one before.
    """
    has_more = confinement.role is None and not takes_code_again
    if has_more or (confinement.opens_role(standing.role) and not (takes_code or takes_code_again)):
        return None
    return AddressNotConfirmed().because(SignInReason.ADDRESS_NOT_CONFIRMED)
