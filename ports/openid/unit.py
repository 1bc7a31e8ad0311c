"""What a transaction offers of the area `openid`."""

from typing import Final, Protocol

from ports.openid.authorization_codes import AuthorizationCodes
from ports.openid.authorization_requests import AuthorizationRequests
from ports.openid.clients import Clients
from ports.openid.device import DeviceCodes
from ports.openid.logout_notices import LogoutNotices
from ports.openid.single_uses import SingleUses


class OpenidUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    clients: Final[Clients]
    single_uses: Final[SingleUses]
    authorization_requests: Final[AuthorizationRequests]
    authorization_codes: Final[AuthorizationCodes]
    device_codes: Final[DeviceCodes]
    logout_notices: Final[LogoutNotices]
