"""What a transaction offers of the area `invitations`."""

from typing import Final, Protocol

from ports.invitations.invitations import Invitations, Invited


class InvitationsUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    invitations: Final[Invitations]
    invited: Final[Invited]
