"""Programs to try an operation: a curl command to paste into a terminal, and a program in Python."""

from __future__ import annotations

import json
import keyword
import re
import shlex
from collections.abc import Iterator, Set
from typing import Any, Final, cast
from urllib.parse import quote, urlencode

from core.tables import PartialTable
from entrypoints.web.describing.examples import example
from entrypoints.web.describing.openapi import parameters_of
from entrypoints.web.describing.schemas import Schemas
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.answering.answers import encode
from entrypoints.web.serving.routes import Route

# In double quotes, because a shell does not expand variables in single quotes.
CREDENTIALS: Final = PartialTable(
    {
        CredentialKind.ACCESS_TOKEN: '"Authorization: Bearer $TOKEN"',
        CredentialKind.PRE_AUTH_TOKEN: '"Authorization: Bearer $PRE_AUTH_TOKEN"',
        CredentialKind.API_KEY: '"X-Api-Key: $API_KEY"',
        CredentialKind.ORGANIZATION_KEY: '"X-Api-Key: $ORGANIZATION_KEY"',
        CredentialKind.BROWSER_SESSION: '"Cookie: gatehouse_session=$SESSION"',
        CredentialKind.SCIM_TOKEN: '"Authorization: Bearer $SCIM_TOKEN"',
        CredentialKind.PROVIDER_TOKEN: '"Authorization: Bearer $PROVIDER_TOKEN"',
        CredentialKind.SIGNATURE: '"billing-signature: $SIGNATURE"',
    }
)
_PATH_PARAMETER: Final = re.compile(r"{([a-z_]+)}")
_VARIABLE: Final = re.compile(r"\$([A-Z_]+)")
_CONTINUED: Final = " \\\n  "
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


def curl_example(route: Route, schemas: Schemas, base_url: str) -> str:
    """Return the command that calls the route."""
    method = [] if route.method == "GET" else [f"-X {route.method}"]
    return _CONTINUED.join([" ".join(["curl", *method, _address(route, schemas, base_url)]), *_options(route, schemas)])


def variables(command: str) -> list[str]:
    """List the shell variables that have to be set before the command runs."""
    return list(dict.fromkeys(_VARIABLE.findall(command)))


def _address(route: Route, schemas: Schemas, base_url: str) -> str:
    query = _query(route, schemas)
    address = base_url + _PATH_PARAMETER.sub(_path_variable, route.path_template) + query
    # Neither the base address nor an encoded query contains a `"`.
    return f'"{address}"' if variables(address) else shlex.quote(address)


def _path_variable(match: re.Match[str]) -> str:
    return f"${match[1].upper()}"


def _query(route: Route, schemas: Schemas) -> str:
    if route.query is None:
        return ""
    schema = schemas.resolved(schemas.of(route.query))
    if not schema.get("required"):
        return ""
    return "?" + urlencode(example(schemas, schema), quote_via=quote, safe="$")


def _options(route: Route, schemas: Schemas) -> Iterator[str]:
    credential = CREDENTIALS.get(route.who.kind)
    if credential is not None:
        yield f"-H {credential}"
    if route.body is not None:
        yield f"-H 'Content-Type: {route.media_type}'"
        yield f"-d {shlex.quote(encode(example(schemas, schemas.of(route.body))).decode())}"
    if route.form is not None:
        for name, value in example(schemas, schemas.of(route.form)).items():
            yield f"{'-F' if route.has_files else '--data-urlencode'} {shlex.quote(f'{name}={value}')}"


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
