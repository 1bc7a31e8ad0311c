"""What the fields of services, plans, subscriptions, API keys and billing mean: a part of `descriptions.py`."""

from typing import Any, Final

_SCOPES: Final = "The OAuth scopes to ask {} for; null for its default ones."

_SENT_SCOPES: Final = "The scopes to request from this provider; null for its default scopes."


def _field(text: str, **keywords: Any) -> dict[str, Any]:
    return {"description": text, **keywords}


_COUNT: Final = {"minimum": 0}
_SECRET: Final = "The client secret, which is shown only once; left out for a public service, which has none."  # noqa: S105 - a description

FIELDS: Final[dict[str, dict[str, Any]]] = {
    # Services
    "service_type": _field("What kind of application it is: `web` and `api` keep a secret, the others are public."),
    "ServicesQuery.service_type": _field("Only services of this type."),
    "client_id": _field("The client id, which never changes."),
    "client_secret": _field(_SECRET),
    "codehost_scopes": _field(_SCOPES.format("codehost"), sent=_SENT_SCOPES),
    "websuite_scopes": _field(_SCOPES.format("websuite"), sent=_SENT_SCOPES),
    "officesuite_scopes": _field(_SCOPES.format("officesuite"), sent=_SENT_SCOPES),
    "redirect_uris": _field(
        "The addresses that a sign-in may lead back to, compared exactly.",
        sent="The addresses to which a browser may be sent back, compared exactly. Absolute and without a fragment;"
        " plain http only for loopback, other schemes only for mobile and desktop.",
        examples=[["https://app.example.com/callback"]],
    ),
    "device_activation_uri": _field(
        "The page of the device flow; null for Gatehouse's own.",
        sent="The page of the service on which people activate a device, or null.",
    ),
    "plan_count": _field("How many plans the service has.", **_COUNT),
    "subscription_count": _field("How many active subscriptions there are.", **_COUNT),
    "usage": _field("How many services the organization has, and how many it may have."),
    "current_services": _field("How many services the organization has.", **_COUNT),
    "default_plan": _field("The plan of users without a subscription."),
    # Plans and subscriptions
    "plan_id": _field("The id of the plan."),
    "plan_name": _field("The name of the plan."),
    "currency": _field(
        "The currency, as a code of ISO 4217 in lower case.",
        sent="The code of the currency: three lower-case letters.",
        pattern="^[a-z]{3}$",
        examples=["usd"],
    ),
    "billing_price_id": _field(
        "The id of the price at the payment provider; null for a plan that cannot be bought.",
        sent="The price at the payment provider, without which the plan cannot be bought. It belongs to this plan"
        " alone.",
    ),
    "is_default": _field("Whether users without a subscription have this plan."),
    "current_period_end": _field("When the paid period ends; null if it has no end."),
    "subscription_id": _field("The id of the subscription at the payment provider."),
    "subscriptions": _field("The subscriptions, the newest first."),
    # API keys
    "expires_in_days": _field("After how many days the key expires; by default it does not.", minimum=1, maximum=3650),
    "ApiKey.permissions": _field("What the key may do.", examples=[["read:users"]]),
    "ApiKeyCreated.permissions": _field("What the key may do.", examples=[["read:users"]]),
    "NewApiKey.permissions": _field("What the key may do.", examples=[["read:users"]]),
    "prefix": _field("The beginning of the key, by which people recognize it.", examples=["sk_a1B2c3"]),
    "created_by": _field("The id of the member who created it; null if the account no longer exists."),
    "key": _field("The key, which is shown only once."),
    "api_keys": _field("The keys, the newest first."),
    "api_key_id": _field("The id of the key."),
    # Analytics
    "active_users_30d": _field("How many users signed in within the last 30 days.", **_COUNT),
    "new_users_30d": _field("How many users were added within the last 30 days.", **_COUNT),
    "total_logins_30d": _field("How many sign-ins there were within the last 30 days.", **_COUNT),
    "active_subscriptions": _field("How many subscriptions are active or past due.", **_COUNT),
    "subscriptions_by_plan": _field("The active and past due subscriptions of each plan."),
    "logins_by_provider": _field("The sign-ins of the last 30 days by each method."),
    # Billing
    "ProviderEvent.id": _field("The event's id; an event is applied once, however often it comes.", examples=["evt_1"]),
    "ProviderEvent.type": _field("What happened; types that are not handled are stored.", examples=["invoice.paid"]),
    "ProviderEvent.data": _field("What the event is about."),
    "livemode": _field("Whether the event is about live data; it is not used."),
    "success_url": _field(
        "Where the buyer returns after paying; `{CHECKOUT_SESSION_ID}` is replaced.",
        format="uri-template",
        examples=["https://app.example.com/paid?session={CHECKOUT_SESSION_ID}"],
    ),
    "cancel_url": _field(
        "Where the buyer returns without paying.", format="uri", examples=["https://app.example.com/plans"]
    ),
    "checkout_url": _field("The page of the payment provider where the buyer pays.", format="uri"),
    "return_url": _field("Where the portal leads back to.", format="uri", examples=["https://app.example.com/billing"]),
    "portal_url": _field("The page of the payment provider for subscriptions, invoices and cards.", format="uri"),
    "late_seconds": _field("After how many seconds the events are sent."),
    "twice": _field("Whether each event is sent twice: any text means that it is."),
    "PortalForm.action": _field("What happens to the subscription.", examples=["renew"]),
}
