"""A curl command for each route, to paste into a terminal; what only the reader knows is a shell variable."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, urlencode

from core.tables import PartialTable
from entrypoints.web.describing.examples import example
from entrypoints.web.describing.schemas import Schemas
from entrypoints.web.serving.access_policies import CredentialKind
from entrypoints.web.serving.answers import encode
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
