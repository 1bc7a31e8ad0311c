"""The sections of an organization's console, in groups, and what the role of the reader lacks for each."""

from __future__ import annotations

from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.standing import Standing
from entrypoints.pages.frame.languages import marked


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its path below that of the organization, its name, and what the reader's role lacks for it."""

    path: str
    name: str
    missing: Capability | RequiredStanding | None = None


@dataclass(frozen=True, slots=True)
class SectionGroup:
    """Sections under one title; the first group has none."""

    title: str
    sections: tuple[Section, ...]


def sections_of(standing: Standing) -> list[SectionGroup]:
    """Return the sections of the console in the order of its navigation."""
    lacks = standing.lacks
    return [
        SectionGroup(
            "",
            (
                Section("", marked("Overview")),
                Section("/analytics", marked("Analytics"), lacks(Operation.ANALYTICS_READ)),
            ),
        ),
        SectionGroup(
            marked("People and access"),
            (
                Section("/people", marked("People"), lacks(Operation.MEMBERS_LIST)),
                Section("/roles", marked("Roles"), lacks(Operation.ROLES_READ)),
                Section("/why", marked("Sign-in problems"), lacks(Operation.SIGN_INS_EXPLAIN)),
            ),
        ),
        SectionGroup(
            marked("Applications"),
            (Section("/services", marked("Services"), lacks(Operation.SERVICES_LIST)),),
        ),
        SectionGroup(
            marked("Sign-in"),
            (
                Section("/sign-in", marked("Sign-in rules and connections"), lacks(Operation.CONNECTIONS_READ)),
                Section("/branding", marked("Branding"), lacks(Operation.BRANDING_READ)),
                Section("/domain", marked("Own domain"), lacks(Operation.DOMAIN_READ)),
                Section("/setup-links", marked("Setup links"), lacks(Operation.SETUP_LINKS_READ)),
            ),
        ),
        SectionGroup(
            marked("Integrations"),
            (
                Section("/webhooks", marked("Webhooks"), lacks(Operation.WEBHOOKS_READ)),
                Section("/provisioning", marked("Provisioning"), lacks(Operation.SCIM_TOKENS_READ)),
                Section("/siem", marked("SIEM"), lacks(Operation.SIEM_READ)),
                Section("/mail", marked("Mail server"), lacks(Operation.MAIL_SERVER_READ)),
                Section("/keys", marked("API keys"), lacks(Operation.KEYS_READ)),
            ),
        ),
        SectionGroup(
            marked("Organization"),
            (
                Section("/billing", marked("Billing"), lacks(Operation.BILLING_READ)),
                Section("/audit", marked("Audit log"), lacks(Operation.AUDIT_LOG_READ)),
                Section("/settings", marked("Settings"), lacks(Operation.ORGANIZATION_READ)),
            ),
        ),
    ]
