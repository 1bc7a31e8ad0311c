"""What a transaction offers of the area `openid`."""

from typing import Protocol

from ports.openid.authorization_codes import AuthorizationCodes
from ports.openid.authorization_requests import AuthorizationRequests
from ports.openid.clients import Clients
from ports.openid.device import DeviceCodes
from ports.openid.logout_notices import LogoutNotices
from ports.openid.single_uses import SingleUses


class OpenidUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def clients(self) -> Clients: ...

    @property
    def single_uses(self) -> SingleUses: ...

    @property
    def authorization_requests(self) -> AuthorizationRequests: ...

    @property
    def authorization_codes(self) -> AuthorizationCodes: ...

    @property
    def device_codes(self) -> DeviceCodes: ...

    @property
    def logout_notices(self) -> LogoutNotices: ...
