"""What a transaction offers of the area `invitations`."""

from typing import Protocol

from ports.invitations.invitations import Invitations
from ports.invitations.invited import Invited


class InvitationsUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def invitations(self) -> Invitations: ...

    @property
    def invited(self) -> Invited: ...
