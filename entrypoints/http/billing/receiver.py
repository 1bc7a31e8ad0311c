"""The receiver of the payment provider's events."""

from typing import Annotated, Any, Literal, cast

import msgspec

from core.billing.provider import SECONDS_MAX
from core.billing.provider_events import EventInvalid
from core.billing.signatures import SignatureInvalid, SignatureMalformed, SignatureMissing
from core.errors import UnsupportedMediaType
from core.limits import LARGE_BODY_BYTES_MAX
from core.rate_limits import RateLimit
from entrypoints.web.serving.admission.admitting import signature_header
from entrypoints.web.serving.admission.credentials import signed_by_provider
from entrypoints.web.serving.answering.answers import JSON
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("billing", "Buying plans, the billing portal, and the events of the payment provider.")


class EventData(msgspec.Struct, kw_only=True):
    """What the event is about."""

    object: Annotated[
        dict[str, Any],
        msgspec.Meta(description="The subscription, invoice, customer, payment method or checkout session."),
    ]


class ProviderEvent(msgspec.Struct, kw_only=True):
    """An event object of the payment provider, in the older or the current shape of its API."""

    id: str
    type: str
    created: Annotated[
        int, msgspec.Meta(ge=0, le=SECONDS_MAX, description="When it happened, in seconds since the beginning of 1970.")
    ]
    data: EventData
    livemode: bool = False


class EventProcessed(msgspec.Struct, kw_only=True):
    """The event is stored and applied, or was before."""

    status: Literal["success"] = "success"


@routes.post(
    "/webhooks/billing",
    limits=(RateLimit.BILLING_RECEIVER,),
    body_bytes_max=LARGE_BODY_BYTES_MAX,
    is_verified_by_content=True,
    refuses=(SignatureMissing, SignatureMalformed, SignatureInvalid, EventInvalid),
)
@signed_by_provider(ProviderEvent)
async def receive(call: Call) -> EventProcessed:
    """Receive an event of the payment provider.

    The header `billing-signature`, or `stripe-signature`, is `t=<timestamp>,v1=<signature>`: the HMAC-SHA256 of
    `<timestamp>.<raw body>` with the webhook secret, in hexadecimal. The body is an event object. An event is applied
    once, in whatever order events arrive; one that fails is sent again by the provider.
    """
    body = cast("bytes", await call.request.get_data(as_text=False))
    if body and call.request.mimetype not in {"", JSON}:
        raise UnsupportedMediaType(f"Send the event as {JSON}.")
    await call.installation.billing_receiver.receive(signature_header(call), body, call.database)
    return EventProcessed()
