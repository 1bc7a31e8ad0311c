"""The calls of the interface that match a page of the consoles and its forms, for the foot of the page.

A form belongs to the page with the longest path that begins the form's own. Its call needs the same operation and as
many ids; among several it is the one with a similar name, or the one that deletes or changes. `_NAMED` has the
exceptions. The page itself matches the call of the same operation with a similar name.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.web.describing.areas import addresses_of
from entrypoints.web.serving.exchanges import GatehouseRequest
from entrypoints.web.serving.paths import Paths
from entrypoints.web.serving.routes import Route, path_with

CONSOLES: Final = ("/app/organizations/:org_slug", "/app/platform")
# In place of an id that the form has, not the page.
_ID: Final = "$ID"
_ENDS: Final = frozenset({"delete", "deletion", "demote", "end", "removal", "remove", "revoke"})
_ORGANIZATION, _PLATFORM = CONSOLES
_CUSTOMER: Final = f"{_ORGANIZATION}/services/:service_slug/customers/:customer_id"
_NAMED: Final[Mapping[str, str]] = {
    f"{_ORGANIZATION}/people/invited/:invitation_id/send-again": "invitations_invite",
    f"{_ORGANIZATION}/people/invited/:invitation_id/withdraw": "invitations_revoke",
    f"{_ORGANIZATION}/people/selected/change": "members_change_member",
    f"{_ORGANIZATION}/people/selected/remove": "members_remove_member",
    f"{_ORGANIZATION}/products/:client_id/assignments/remove": "products_change_product",
    f"{_ORGANIZATION}/products/:client_id/groups/remove": "products_change_product",
    f"{_ORGANIZATION}/products/:client_id/setup": "products_change_product",
    f"{_CUSTOMER}/connections/:provider_id": "connections_of_customers_change_customer_connection",
    f"{_CUSTOMER}/connections/:provider_id/remove": "connections_of_customers_delete_customer_connection",
    f"{_CUSTOMER}/connections/:provider_id/switch": "connections_of_customers_change_customer_connection",
    f"{_CUSTOMER}/connections/new": "connections_of_customers_create_customer_connection",
    f"{_CUSTOMER}/group-rules/:rule_id/remove": "group_rules_of_customers_delete_customer_rule",
    f"{_CUSTOMER}/mail-domains/:domain_id/remove": "mail_domains_of_customers_delete_customer_domain",
    f"{_CUSTOMER}/scim-tokens/:token_id/revoke": "SCIM_tokens_of_customers_revoke_customer_token",
    f"{_CUSTOMER}/setup-links/:link_id/revoke": "setup_links_of_customers_revoke_customer_link",
    f"{_ORGANIZATION}/services/:service_slug/customers/new": "customers_offer_service",
    f"{_ORGANIZATION}/services/:service_slug/customers/settings/roles/:role_name": "services_change_service",
    f"{_ORGANIZATION}/services/:service_slug/customers/settings/roles/:role_name/remove": "services_change_service",
    f"{_ORGANIZATION}/services/:service_slug/plans/:plan_id/buy": "billing_start_checkout",
    f"{_ORGANIZATION}/services/:service_slug/single-sign-on": "SAML_import_metadata",
    f"{_ORGANIZATION}/services/:service_slug/single-sign-on/details": "SAML_configure",
    f"{_ORGANIZATION}/sign-in/connections/:connection_id/ask": "upstream_connections_test_upstream_provider",
    f"{_ORGANIZATION}/sign-in/connections/:connection_id/trial": "upstream_connections_test_upstream_provider",
    f"{_ORGANIZATION}/sign-in/mail-domains/:route_id/check": "domain_routes_verify_domain_route",
    f"{_ORGANIZATION}/siem/pause": "SIEM_configure_siem",
    f"{_ORGANIZATION}/siem/resume": "SIEM_configure_siem",
    f"{_ORGANIZATION}/webhooks/:webhook_id/deliveries": "webhooks_redeliver",
    f"{_ORGANIZATION}/webhooks/:webhook_id/deliveries/failed": "webhooks_redeliver_failed",
    f"{_ORGANIZATION}/webhooks/:webhook_id/secret": "webhooks_rotate_secret",
    f"{_PLATFORM}/mail": "platform_mails_retry_mail",
    f"{_PLATFORM}/organizations/approvals": "platform_organizations_approve",
    f"{_PLATFORM}/organizations/:organization_id/suspension": "platform_organizations_suspend",
    f"{_PLATFORM}/organizations/:organization_id/tier-and-limits": "platform_organizations_change_tier",
    f"{_PLATFORM}/owners/support": "platform_support_appoint_support",
    f"{_PLATFORM}/owners/support/:user_id/demote": "platform_support_demote_support",
    f"{_PLATFORM}/users/:user_id/end-sessions": "platform_users_end_sessions_of_user",
    f"{_PLATFORM}/users/:user_id/impersonation": "impersonation_impersonate",
    f"{_PLATFORM}/users/:user_id/lift-limits": "platform_users_lift_limits_of_user",
    f"{_PLATFORM}/users/:user_id/mfa": "platform_multi_factor_authentication_force_disable",
    f"{_PLATFORM}/users/:user_id/verify": "platform_users_resend_verification_to_user",
    f"{_PLATFORM}/why/lift": "platform_users_lift_limits_of_address",
    f"{_PLATFORM}/why/resend": "platform_users_resend_verification_to_user",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCall:
    """A call of a page: its method, its path with the ids of the page, and where it is described."""

    method: str
    path: str
    address: str


def calls_of_page(request: GatehouseRequest, *, besides: Container[str]) -> Sequence[PageCall]:
    """Return the calls of the page of a request, without the operations that it shows in another way."""
    ids = [*(request.view_args or {}).values()]
    return [
        PageCall(
            method=one.method,
            path=path_with(one.path, [*ids, *[_ID] * _ids(one)][: _ids(one)]),
            address=address,
        )
        for one, address in _calls_of_pages(request.paths).get(request.route, ())
        if one.operation_id not in besides
    ]


def calls_of_forms(paths: Paths) -> Mapping[Route, Route | None]:
    """Return the call of each form of the consoles; None where the interface has none."""
    calls = [one for one in paths.routes if not one.is_page and one.method != "GET"]
    return {
        form: paths.operations[_NAMED[form.path]] if form.path in _NAMED else _call_of(form, calls)
        for form in paths.routes
        if form.is_page and form.method == "POST" and form.path.startswith(CONSOLES)
    }


@cache
def _calls_of_pages(paths: Paths) -> Mapping[Route | None, Sequence[tuple[Route, str]]]:
    """Return the calls of each page, and where they are described; the answer to a form is of its page."""
    addresses, forms = addresses_of(paths.routes), calls_of_forms(paths)
    reads = [one for one in paths.routes if not one.is_page and one.method == "GET"]
    pages = [one for one in paths.routes if one.is_page and one.method == "GET" and one.path.startswith(CONSOLES)]
    page_of = {form: max((one for one in pages if _continues(form, one)), key=_length) for form in forms}
    found: dict[Route | None, dict[Route, str]] = {
        page: {one: addresses[one.operation_id] for one in reads if _reads(one, page)} for page in pages
    }
    for form, call in forms.items():
        if call is not None:
            found[page_of[form]][call] = addresses[call.operation_id]
    shown = {page: list(calls.items()) for page, calls in found.items()}
    return shown | {form: shown[page] for form, page in page_of.items()}


def _reads(call: Route, page: Route) -> bool:
    operation = page.who.operation
    return operation is not None and call.who.operation is operation and _names(call) == _names(page)


def _continues(form: Route, page: Route) -> bool:
    return f"{form.path}/".startswith(f"{page.path}/")


def _length(route: Route) -> int:
    return len(_words(route))


def _call_of(form: Route, calls: Sequence[Route]) -> Route | None:
    """Return the only call that does what a form does, as far as paths and operations tell."""
    ends = _last(form) in _ENDS
    if form.who.operation is None:
        wanted = _words(form)[:-1] if ends else _words(form)
        same = [one for one in calls if _words(one) == wanted]
    else:
        same = [one for one in calls if one.who.operation is form.who.operation and _ids(one) == _ids(form)]
    if ends:
        return _only([one for one in same if one.method == "DELETE"]) or _only(same)
    alike = [one for one in same if _last(one) == _last(form) != ":"]
    return _only(alike) or _only([one for one in same if one.method in {"PATCH", "PUT"}]) or _only(same)


def _words(route: Route) -> Sequence[str]:
    """Return the words of a path below /app or /api, in which ids are equal."""
    return [":" if word.startswith(":") else word for word in route.path.split("/")[2:]]


def _names(route: Route) -> Sequence[str]:
    """Return what the ids of a path are of, and its last word."""
    return [*(word for word, following in pairwise(_words(route)) if following == ":"), _last(route)]


def _last(route: Route) -> str:
    return _words(route)[-1]


def _ids(route: Route) -> int:
    return len(route.path_parameters)


def _only(found: Sequence[Route]) -> Route | None:
    return found[0] if len(found) == 1 else None
