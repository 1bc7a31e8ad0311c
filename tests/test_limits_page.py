"""The manual's page of limits says, for everything that can be made many times, how many there can be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from core.errors import Refusal
from core.wording import Wording
from tests.documents import MANUAL, ROOT

PAGE: Final = MANUAL / "limits.md"
BEGIN: Final = "<!-- maxima: begin; written by tests/test_limits_page.py, which fails when table and code differ -->"
END: Final = "<!-- maxima: end -->"
# What is counted, by the refusal of one more.
COUNTED: Final = {
    "TooManyKeys": "API keys of a service",
    "TooManyOrganizationKeys": "[keys of an organization](management-keys.md), also without a secret",
    "TooManyWorkloads": "[workloads](workloads.md) of a service, and of a key of an organization",
    "TooManyTokens": "[SCIM tokens](scim.md) of an organization",
    "TooManyWebhooks": "[webhooks](webhooks.md) of an organization",
    "TooManySetupLinks": "[setup links](organization-settings.md#setup-links) of an organization that are valid",
    "TooManyCustomerLinks": "setup links of a vendor for all of its customers that are valid",
    "TooManyCustomerRules": "rules of groups of a customer",
    "TooManyConnections": "connections of an organization to identity providers",
    "TooManyRoutes": "mail domains of an organization that lead to a connection",
    "TooManyRoles": "roles of an organization's own",
    "TooManyGroups": "groups of an organization's directory",
    "TooManyAuthorities": "rights with which tokens of a directory have put members into groups",
    "TooManyMembersNamed": "members of a group that one call of SCIM names",
    "TooManyWaiting": "invitations of an organization that wait for an answer",
    "TooManyPending": "organizations of an owner that wait for the approval",
    "TooManyPlans": "plans of a service",
    "TooManyPasskeys": "passkeys of an account",
    "TooManyTiers": "[tiers](platform.md#tiers) of the platform",
}


def refusals() -> Iterator[tuple[type[Refusal], int]]:
    """Return the classes that refuse one more of something, with how many there can be."""
    for layer in ("core", "adapters", "entrypoints"):
        for path in (ROOT / layer).rglob("*.py"):
            import_module(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    waiting = list(Refusal.__subclasses__())
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        message = getattr(one, "default_message", None)
        if isinstance(message, Wording) and "maximum" in message.values:
            yield one, int(str(message.values["maximum"]).replace(",", ""))


def table() -> str:
    found = {one.__name__: (one, maximum) for one, maximum in refusals()}
    # Enter here what is counted.
    assert found.keys() == COUNTED.keys()
    lines = ["| There are | At most | One more |", "|---|---|---|"]
    for name, counted in COUNTED.items():
        refusal, maximum = found[name]
        lines.append(f"| {counted} | {maximum:,} | {refusal.code.status} `{refusal.code.name}` |")
    return "\n".join(lines)


def test_the_table_of_the_page_agrees_with_the_code() -> None:
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    written, _, after = rest.partition(END)

    if os.environ.get("GATEHOUSE_TEST_RENEW"):
        PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")
        return

    assert written.strip() == table(), "run GATEHOUSE_TEST_RENEW=1 .venv/bin/python -m pytest tests/test_limits_page.py"
