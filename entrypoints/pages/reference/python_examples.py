"""A Python program for each operation, with the package `gatehouse-client`; its credential is in the environment."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator, Set
from typing import Any, Final, cast

from core.tables import PartialTable
from entrypoints.web.describing.examples import example
from entrypoints.web.describing.openapi import parameters_of
from entrypoints.web.describing.schemas import Schemas
from entrypoints.web.serving.access_policies import CredentialKind
from entrypoints.web.serving.routes import Route

# The argument of the client that takes a credential, and the variable that has it, as in the commands.
_CREDENTIALS: Final = PartialTable(
    {
        CredentialKind.ACCESS_TOKEN: ("token", "TOKEN"),
        CredentialKind.PRE_AUTH_TOKEN: ("token", "PRE_AUTH_TOKEN"),
        CredentialKind.API_KEY: ("api_key", "API_KEY"),
        CredentialKind.ORGANIZATION_KEY: ("key", "ORGANIZATION_KEY"),
        CredentialKind.SCIM_TOKEN: ("token", "SCIM_TOKEN"),
    }
)
# What the function does not take of an operation that offers a service, or makes a customer by another function.
_OF_ANOTHER_FUNCTION: Final = frozenset({"name", "owner_email"})
# Beyond it, each argument has a line of its own.
_LINE_CHARACTERS_MAX: Final = 88


def python_example(route: Route, function: str, schemas: Schemas, base_url: str) -> str:
    """Return the program that sends the call of a function (`management.list_members`) and prints its answer."""
    module, _, _ = function.partition(".")
    left_out = _OF_ANOTHER_FUNCTION if function.endswith("offer_service") else frozenset[str]()
    credential = _CREDENTIALS.get(route.who.kind)
    opening = [_literal(base_url)]
    if credential is not None:
        argument, variable = credential
        opening.append(f'{argument}=os.environ["{variable}"]')
    lines = [
        *(["import os", ""] if credential is not None else []),
        f"from gatehouse_client import Gatehouse, {module}",
        "",
        f"gatehouse = Gatehouse({', '.join(opening)})",
        *_sending(function, list(_arguments(route, schemas, left_out))),
    ]
    return "\n".join(lines)


def _arguments(route: Route, schemas: Schemas, left_out: Set[str]) -> Iterator[str]:
    """Return the parts of the path in their order, then by name what is required in the query and the body."""
    for parameter in parameters_of(route, schemas):
        value = _literal(example(schemas, parameter["schema"]))
        if parameter["in"] == "path":
            yield value
        elif parameter["required"]:
            yield f"{_argument(parameter['name'])}={value}"
    shape = route.body if route.body is not None else route.form
    if shape is not None:
        for name, value in _sent(schemas, shape).items():
            if name not in left_out:
                yield f"{_argument(name)}={_literal(value)}"


def _sent(schemas: Schemas, shape: Any) -> dict[str, Any]:
    """Return the example of a body that is a JSON object; a document that is sent as it is has no arguments."""
    value = example(schemas, schemas.of(shape))
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _argument(name: str) -> str:
    argument = re.sub(r"\W", "_", name)
    return f"{argument}_" if keyword.iskeyword(argument) else argument


def _sending(function: str, arguments: list[str]) -> list[str]:
    """Return the lines that send the call: one if it is short, else one for each argument."""
    line = f"print(gatehouse.send({function}({', '.join(arguments)})))"
    if len(line) <= _LINE_CHARACTERS_MAX:
        return [line]
    return [f"call = {function}(", *(f"    {argument}," for argument in arguments), ")", "print(gatehouse.send(call))"]


def _literal(value: Any) -> str:
    """Return a value of JSON as Python writes it, with double quotes."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(_literal(one) for one in cast('list[Any]', value))}]"
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            return "{" + ", ".join(f"{_literal(name)}: {_literal(one)}" for name, one in pairs) + "}"
        case _:
            return repr(value)
