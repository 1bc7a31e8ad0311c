"""The event types that a webhook subscribes to in the words of pages, by their groups."""

from collections.abc import Sequence
from typing import Final

from core.events.actions import AuditAction
from core.events.events import EventType
from core.tables import PartialTable
from entrypoints.pages.events.actions import ACTIONS
from entrypoints.pages.frame.languages import marked

# The audit log has words for every other event, because it records an action of the same name.
_NOT_RECORDED: Final = PartialTable(
    {
        EventType.USER_LOGIN_SUCCESS: marked("Signed in"),
        EventType.USER_LOGIN_FAILED: marked("Sign-in refused"),
        EventType.USER_LOGOUT: marked("Signed out"),
        EventType.USER_SIGNUP_SUCCESS: marked("Created an account"),
        EventType.USER_MFA_ENABLED: marked("Turned the second factor on"),
        EventType.USER_MFA_DISABLED: marked("Turned the second factor off"),
        EventType.USER_MFA_VERIFY_SUCCESS: marked("Gave a correct second factor"),
        EventType.USER_MFA_VERIFY_FAILED: marked("Gave a wrong second factor"),
        EventType.ORGANIZATION_OWNER_CHANGED: marked("Transferred the ownership"),
        EventType.CUSTOMER_CONNECTION_CHANGED: marked("A connection of a customer changed"),
        EventType.CUSTOMER_DOMAIN_PROVED: marked("A mail domain was proved for a customer"),
        EventType.CUSTOMER_DOMAIN_LOST: marked("A mail domain of a customer was lost"),
        EventType.CUSTOMER_DIRECTORY_CHANGED: marked("The directory of a customer changed"),
        EventType.WEBHOOK_TEST: marked("Test of a webhook"),
    }
)
EVENTS: Final[dict[str, str]] = {
    event.value: _NOT_RECORDED.get(event) or ACTIONS[AuditAction(event.value)] for event in EventType
}
_GROUPS: Final = {
    "User management": marked("People"),
    "Security": marked("Security"),
    "Invitations": marked("Invitations"),
    "Organization management": marked("Organization"),
    "Service management": marked("Services"),
    "Customers": marked("Customers"),
    "Products": marked("Products"),
    "Plans": marked("Plans"),
    "Subscriptions": marked("Subscriptions"),
    "API keys": marked("API keys"),
    "Domains and branding": marked("Domains and branding"),
    "Single sign-on": marked("Single sign-on"),
    "Provisioning": marked("Provisioning"),
    "Audit log": marked("Audit log"),
    "Billing": marked("Billing"),
    "Webhooks": marked("Webhooks"),
}
# The title of each group with its events, as pairs of a type and its words.
GROUPS: Final = tuple(
    (title, tuple((event.value, EVENTS[event.value]) for event in EventType if event.category == category))
    for category, title in _GROUPS.items()
)
# The value of the box for all event types, and of the boxes for all types of a group, by its title.
ALL: Final = "all"
SETS: Final = {title: category.lower().replace(" ", "-") for category, title in _GROUPS.items()}
_MEMBERS: Final = {SETS[title]: frozenset(value for value, _ in events) for title, events in GROUPS}
# The same as the pairs of a choice.
CHOICES: Final = tuple((value, value) for _, events in GROUPS for value, _ in events)


def by_group(events: Sequence[str]) -> list[tuple[str, int, list[str]]]:
    """Return the chosen types by groups: the title, the number of a group that is whole or zero, and the types.

    A group of one is never whole, and one without a chosen type is left out.
    """
    found = [(title, len(members), [value for value, _ in members if value in events]) for title, members in GROUPS]
    return [(title, count if len(some) == count > 1 else 0, some) for title, count, some in found if some]


def chosen(events: Sequence[str], sets: Sequence[str]) -> list[str]:
    """Return the ticked event types, with the types of the ticked sets; unknown sets are ignored."""
    if ALL in sets:
        return [*dict.fromkeys([*events, *(event.value for event in EventType)])]
    of_sets = frozenset[str]().union(*(_MEMBERS.get(name, frozenset()) for name in sets))
    return [*dict.fromkeys([*events, *sorted(of_sets)])]
