"""What a transaction offers of the area `invitations`."""

from typing import Protocol

from ports.invitations.invitations import Invitations


class InvitationsUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def invitations(self) -> Invitations: ...
