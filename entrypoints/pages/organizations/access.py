"""What each capability of a role allows, in words for people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from core.errors import BadRequest
from core.organizations.access import Capability
from entrypoints.pages.frame.languages import marked

# The name of each capability, and what it allows.
CAPABILITIES: Final = {
    Capability.ORG_SETTINGS_MANAGE: (
        marked("Change the settings"),
        marked("The name, the rules of signing in, the branding and the own domain."),
    ),
    Capability.ORG_MEMBERS_VIEW: (
        marked("See the members"),
        marked("Who belongs to the organization, their roles and their last sign-ins."),
    ),
    Capability.ORG_MEMBERS_MANAGE: (
        marked("Manage the members"),
        marked("Invite people, and remove members whose role allows no more."),
    ),
    Capability.ORG_ROLES_MANAGE: (
        marked("Manage the roles"),
        marked("Define roles like this one, and invite people with any role."),
    ),
    Capability.BILLING_MANAGE: (
        marked("Manage the billing"),
        marked("The tier of the organization and its payments."),
    ),
    Capability.SERVICES_VIEW: (marked("See the services"), marked("Their settings, plans and subscriptions.")),
    Capability.SERVICES_CREATE: (marked("Create services"), marked("Add applications that users sign in to.")),
    Capability.SERVICES_MANAGE: (
        marked("Manage the services"),
        marked("Their settings, secrets, keys, plans, SAML and who looks after them."),
    ),
    Capability.END_USERS_VIEW: (
        marked("See the end users"),
        marked("Who signs in to the services, with their sessions and sign-ins."),
    ),
    Capability.END_USERS_MANAGE: (
        marked("Help the end users"),
        marked("End their sessions, and find out why they cannot sign in."),
    ),
    Capability.WEBHOOKS_MANAGE: (
        marked("Manage the webhooks"),
        marked("Where events are sent, their deliveries and the feed of events."),
    ),
    Capability.INTEGRATIONS_MANAGE: (
        marked("Manage the integrations"),
        marked("Identity providers, mail domains, directories, the SIEM, the mail server and setup links."),
    ),
    Capability.AUDIT_LOGS_VIEW: (marked("Read the audit log"), marked("Who changed what, and from where.")),
    Capability.ANALYTICS_VIEW: (marked("See the analytics"), marked("How many people sign in, and how.")),
    Capability.PRODUCTS_MANAGE: (
        marked("Manage the products"),
        marked("Which services of other organizations are used, who uses them, and with which roles."),
    ),
}


def capability_boxes(held: Collection[Capability]) -> list[tuple[str, str, str, Capability | None]]:
    """Return the capabilities as boxes to tick: value, text, meaning, and itself where the reader does not hold it."""
    return [(one.value, text, about, None if one in held else one) for one, (text, about) in CAPABILITIES.items()]


def chosen_capabilities(words: Sequence[str]) -> list[Capability]:
    """Return the capabilities of a form; raise `BadRequest` for a word that the page does not offer."""
    known = {one.value: one for one in Capability}
    if not set(words) <= known.keys():
        raise BadRequest.of_field("permissions", "Choose among these permissions.")
    return [known[word] for word in words]
