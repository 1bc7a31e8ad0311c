"""One file name of core means one thing, in whichever area it stands."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

CORE = Path(__file__).parents[2] / "core"
# The names that stand in two or more areas, and what each means in all of them.
SHARED: Final = {
    "admission": "who may use a service without a customer",
    "analytics": "figures about sign-ins and users",
    "answers": "the possible answers to a request of a protocol",
    "audit_log": "pages of an audit log",
    "checkout": "buying a plan on a page of the payment provider",
    "choices": "what a field of a form offers to choose",
    "connections": "upstream connections of an organization",
    "customers": "the organizations to which a vendor sells a service",
    "events": "what has happened, by its type: the types, and the feed of them",
    "group_rules": "rules by which groups give roles",
    "languages": "the language in which a person reads",
    "limits": "how often, how many or how long at most",
    "locks": "locking an account",
    "management": "creating, changing and deleting the things of an area",
    "members": "the members of an organization",
    "mfa": "second factors",
    "organizations": "organizations",
    "overview": "the first page of an area",
    "passkeys": "passkeys",
    "places": "the organization, the service and the customer of a sign-in or a session",
    "refusals": "the refusals of a protocol",
    "requests": "requests of a protocol that wait for their answer",
    "sessions": "sessions",
    "setup_links": "links by which a customer's IT staff set something up",
    "standing": "the reader of a page: their role, and what it lacks",
    "subscriptions": "subscriptions to the plans of a service",
    "tokens": "signed or secret tokens",
    "trials": "real sign-ins that give no session",
    "usage": "how many people have used a service in a month",
    "users": "accounts",
    "workloads": "programs that authenticate by a token of their own platform",
}


def test_a_name_in_several_areas_of_core_means_the_same_in_each() -> None:
    modules = [file for file in CORE.rglob("*.py") if file.stem != "__init__"]
    several = {name for name, files in Counter(file.stem for file in modules).items() if files > 1}

    assert len(modules) > 250
    assert several == SHARED.keys(), "where it means something else, give it another name; else say here what it means"
