"""The device flow: codes for a device, and the request behind a user code."""

import msgspec

from core.openid import device
from core.openid.authorization_endpoint import with_parameters
from core.openid.device import UserCodeExpired, UserCodeUnknown
from core.openid.refusals import ClientInvalid, RequestInvalid, TargetInvalid, WayUnauthorized
from core.rate_limits import RateLimit
from core.sign_in.upstream import beginning
from entrypoints.http.openid.client_authentication import ClientFields, presented_client
from entrypoints.shared.openid.authorization_fields import is_own_resource
from entrypoints.shared.sessions.token_answers import CustomerName
from entrypoints.shared.sign_in.identities import offered_by_platform
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.admission.hosts import issuer_of, on_custom_hosts
from entrypoints.web.serving.answering import oauth
from entrypoints.web.serving.answering.oauth import OauthError
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "device flow",
    "Signing in on a device without a browser: it shows a code, which its user approves elsewhere.",
    oauth.refused,
    OauthError,
)


class DeviceAuthorization(ClientFields, kw_only=True):
    """The service that a device signs in to; the slugs are only checked against the client id."""

    org: str | None = None
    service: str | None = None
    scope: str | None = None
    resource: str | None = None
    customer: CustomerName | None = None


class DeviceAuthorizationCodes(SecretBody, kw_only=True):
    """The codes of a device (RFC 8628, 3.2): one to poll `/auth/token` with, and one to show."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int


class DeviceUserCode(SecretBody, kw_only=True):
    """The code that a device shows."""

    user_code: str


class DeviceService(msgspec.Struct, kw_only=True):
    """The service that a device signs in to, and the external providers that its users can sign in with."""

    org_slug: str
    service_slug: str
    available_providers: list[str]


@routes.post(
    "/auth/device/code",
    takes_form=True,
    limits=(RateLimit.DEVICE_FLOW,),
    refuses=(ClientInvalid, RequestInvalid, TargetInvalid, WayUnauthorized),
)
@on_custom_hosts
@public
async def begin_device(call: Call, body: DeviceAuthorization) -> DeviceAuthorizationCodes:
    """Begin to sign in on a device.

    Show the `user_code` and the `verification_uri`, and poll `/auth/token` with the `device_code`, not more often than
    the `interval` says. Of a service with customers the page asks the user for which one they come, unless `customer`
    names one for which they have come before.
    """
    presented = await presented_client(call, body)
    issued = await call.transact(
        device.begin,
        presented,
        organization_slug=body.org,
        service_slug=body.service,
        customer=body.customer,
        scope=body.scope,
        resource=body.resource if not is_own_resource(call, body.resource) else None,
    )
    page = issued.activation_uri or issuer_of(call) + device.ACTIVATION_PATH
    return DeviceAuthorizationCodes(
        device_code=issued.device_code.reveal(),
        user_code=issued.user_code,
        verification_uri=page,
        verification_uri_complete=with_parameters(page, user_code=issued.user_code),
        expires_in=int(device.LIFETIME.total_seconds()),
        interval=int(device.INTERVAL.total_seconds()),
    )


@routes.post(
    "/auth/device/verify",
    takes_form=True,
    limits=(RateLimit.DEVICE_FLOW,),
    refuses=(UserCodeUnknown, UserCodeExpired),
)
@on_custom_hosts
@public
async def verify_device(call: Call, body: DeviceUserCode) -> DeviceService:
    """Say which service a user code belongs to. It approves nothing: that is a button on `/auth/device`."""
    waiting = await call.read(device.find, body.user_code)
    client = waiting.client
    return DeviceService(
        # Empty for the command line of Gatehouse, which belongs to no organization.
        org_slug=client.organization_slug if client is not None else "",
        service_slug=client.service.slug if client is not None else "",
        available_providers=await _providers_of(call, client.organization_slug if client is not None else None),
    )


async def _providers_of(call: Call, organization_slug: str | None) -> list[str]:
    """Return the external providers with which the user of a device may sign in."""
    providers = list(call.installation.external_providers)
    return list(await call.read(beginning.offered_by, organization_slug, offered_by_platform(call), providers))
