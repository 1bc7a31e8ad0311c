"""What a transaction offers of the area `openid`."""

from typing import Final, Protocol

from ports.openid.openid import (
    AuthorizationCodes,
    AuthorizationRequests,
    Clients,
    DeviceCodes,
    LogoutNotices,
    SingleUses,
)


class OpenidUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    clients: Final[Clients]
    single_uses: Final[SingleUses]
    authorization_requests: Final[AuthorizationRequests]
    authorization_codes: Final[AuthorizationCodes]
    device_codes: Final[DeviceCodes]
    logout_notices: Final[LogoutNotices]
