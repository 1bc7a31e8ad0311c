"""What the fields of services, plans, subscriptions, API keys and billing mean: a part of `descriptions.py`."""

from typing import Final

from entrypoints.web.describing.described import Lines, field

_SCOPES: Final = "The OAuth scopes to ask {} for; null for its default ones."

_SENT_SCOPES: Final = "The scopes to request from this provider; null for its default scopes."


_COUNT: Final = {"minimum": 0}
_SECRET: Final = "The client secret, which is shown only once; left out for a public service, which has none."  # noqa: S105 - a description

FIELDS: Final[Lines] = {
    # Services
    "service_type": "What kind of application it is: `web` and `api` keep a secret, the others are public.",
    "ServicesQuery.service_type": "Only services of this type.",
    "client_id": "The client id, which never changes.",
    "client_secret": _SECRET,
    "codehost_scopes": field(_SCOPES.format("codehost"), sent=_SENT_SCOPES),
    "websuite_scopes": field(_SCOPES.format("websuite"), sent=_SENT_SCOPES),
    "officesuite_scopes": field(_SCOPES.format("officesuite"), sent=_SENT_SCOPES),
    "redirect_uris": field(
        "The addresses that a sign-in may lead back to, compared exactly.",
        sent="The addresses to which a browser may be sent back, compared exactly. Absolute and without a fragment;"
        " plain http only for loopback, other schemes only for mobile and desktop.",
        examples=[["https://app.example.com/callback"]],
    ),
    "device_activation_uri": field(
        "The page of the device flow; null for Gatehouse's own.",
        sent="The page of the service on which people activate a device, or null.",
    ),
    "plan_count": field("How many plans the service has.", **_COUNT),
    "subscription_count": field("How many active subscriptions there are.", **_COUNT),
    "usage": "How many services the organization has, and how many it may have.",
    "current_services": field("How many services the organization has.", **_COUNT),
    "default_plan": "The plan of users without a subscription.",
    # Plans and subscriptions
    "plan_id": "The id of the plan.",
    "plan_name": "The name of the plan.",
    "currency": field(
        "The currency, as a code of ISO 4217 in lower case.",
        sent="The code of the currency: three lower-case letters.",
        pattern="^[a-z]{3}$",
        examples=["usd"],
    ),
    "billing_price_id": field(
        "The id of the price at the payment provider; null for a plan that cannot be bought.",
        sent="The price at the payment provider, without which the plan cannot be bought. It belongs to this plan"
        " alone.",
    ),
    "is_default": "Whether users without a subscription have this plan.",
    "current_period_end": "When the paid period ends; null if it has no end.",
    "subscription_id": "The id of the subscription at the payment provider.",
    "subscriptions": "The subscriptions, the newest first.",
    # API keys
    "expires_in_days": field("After how many days the key expires; by default it does not.", minimum=1, maximum=3650),
    "ApiKey.permissions ApiKeyCreated.permissions NewApiKey.permissions": field(
        "What the key may do.", examples=[["read:users"]]
    ),
    "prefix": field("The beginning of the key, by which people recognize it.", examples=["sk_a1B2c3"]),
    "created_by": "The id of the member who created it; null if the account no longer exists.",
    "key": "The key, which is shown only once.",
    "api_keys": "The keys, the newest first.",
    "api_key_id": "The id of the key.",
    # Analytics
    "active_users_30d": field("How many users signed in within the last 30 days.", **_COUNT),
    "new_users_30d": field("How many users were added within the last 30 days.", **_COUNT),
    "total_logins_30d": field("How many sign-ins there were within the last 30 days.", **_COUNT),
    "active_subscriptions": field("How many subscriptions are active or past due.", **_COUNT),
    "subscriptions_by_plan": "The active and past due subscriptions of each plan.",
    "logins_by_provider": "The sign-ins of the last 30 days by each method.",
    # Billing
    "ProviderEvent.id": field("The event's id; an event is applied once, however often it comes.", examples=["evt_1"]),
    "ProviderEvent.type": field("What happened; types that are not handled are stored.", examples=["invoice.paid"]),
    "ProviderEvent.data": "What the event is about.",
    "livemode": "Whether the event is about live data; it is not used.",
    "success_url": field(
        "Where the buyer returns after paying; `{CHECKOUT_SESSION_ID}` is replaced.",
        format="uri-template",
        examples=["https://app.example.com/paid?session={CHECKOUT_SESSION_ID}"],
    ),
    "cancel_url": field(
        "Where the buyer returns without paying.", format="uri", examples=["https://app.example.com/plans"]
    ),
    "checkout_url": field("The page of the payment provider where the buyer pays.", format="uri"),
    "return_url": field("Where the portal leads back to.", format="uri", examples=["https://app.example.com/billing"]),
    "portal_url": field("The page of the payment provider for subscriptions, invoices and cards.", format="uri"),
    "late_seconds": "After how many seconds the events are sent.",
    "twice": "Whether each event is sent twice: any text means that it is.",
    "PortalForm.action": field("What happens to the subscription.", examples=["renew"]),
}
