"""The functions of the Python package `gatehouse-client`, one for each operation for programs, by the operation's id.

The package is generated from the OpenAPI document. Operations that take the API key of a service are in its module
`service`, all others in `management`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from entrypoints.web.describing.schemas import answers
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.answering.answers import JSON
from entrypoints.web.serving.routes import Route

_MEDIA_TYPES: Final = frozenset({JSON, "application/scim+json", "application/x-ndjson"})
_WITHOUT_CONTENT: Final = 204
_SUCCESS: Final = range(200, 300)
# What no program has that calls the interface.
_CREDENTIALS_OF_OTHERS: Final = frozenset(
    {CredentialKind.BROWSER_SESSION, CredentialKind.SIGNATURE, CredentialKind.PROVIDER_TOKEN}
)
# Their names are clear only together with the name of their group; the others are in a module of their own.
_KEEP_GROUP: Final = ("SCIM", "platform")
_LEAVE_GROUP_OUT: Final = "service "
# How groups end of which each operation is about one thing of a customer.
_OF_CUSTOMERS: Final = " of customers"
# How operations end that take the key of a service, and are the same for others: its module has no others.
_BY_KEY: Final = "_by_key"
# A shorter word of the name of a group, such as "API", says nothing about a function.
_WORD_CHARACTERS_MIN: Final = 4


@cache
def client_functions(routes: tuple[Route, ...]) -> Mapping[str, str]:
    """Return the functions, with their modules, by the ids of operations; an operation that is not there has none."""
    functions: dict[str, str] = {}
    for module, is_of_service in (("service", True), ("management", False)):
        group = [
            route
            for route in routes
            if _is_for_programs(route) and (route.who.kind is CredentialKind.API_KEY) is is_of_service
        ]
        functions |= {identifier: f"{module}.{name}" for identifier, name in _names(group).items()}
    return functions


def _names(routes: Sequence[Route]) -> dict[str, str]:
    """Return the names of functions of one module: without the group, where they say enough and are unique."""
    short = {route.operation_id: _short_name(route) for route in routes}
    counts = Counter(short.values())
    return {identifier: (name if counts[name] == 1 else identifier).lower() for identifier, name in short.items()}


def _short_name(route: Route) -> str:
    own = route.operation_id.removeprefix(re.sub(r"\W+", "_", route.capability) + "_").removesuffix(_BY_KEY)
    name = _completed(own, route.capability)
    return name if _says_enough(name, route.capability) else route.operation_id


def _completed(name: str, group: str) -> str:
    """Return a name with all words of its group: for SCIM tokens, `customer_token` becomes `customer_scim_token`."""
    things, found, _ = group.partition(_OF_CUSTOMERS)
    if not found:
        return name
    *words, last = things.lower().removesuffix("s").split()
    return name.replace(f"customer_{last}", "_".join(["customer", *words, last]))


def _says_enough(name: str, group: str) -> bool:
    """Return whether a name is clear without its group: `list_members` is, `list_mine` is not."""
    if group.endswith(_OF_CUSTOMERS):
        return True
    if group.startswith(_KEEP_GROUP) or "_" not in name:
        return False
    stems = [word.removesuffix("s") for word in group.split() if len(word) >= _WORD_CHARACTERS_MIN]
    return group.startswith(_LEAVE_GROUP_OUT) or any(stem in name for stem in stems)


def _is_for_programs(route: Route) -> bool:
    """Return whether a route answers JSON, or nothing because there is nothing to say, to the caller of a program."""
    if route.is_page or (route.who.kind in _CREDENTIALS_OF_OTHERS and not route.who.takes_key):
        return False
    successes = [answer for answer in answers(route) if answer.status in _SUCCESS]
    media_types = {answer.media_type for answer in successes if answer.media_type is not None}
    is_empty = any(answer.status == _WITHOUT_CONTENT for answer in successes)
    return media_types <= _MEDIA_TYPES and (bool(media_types) or is_empty)
