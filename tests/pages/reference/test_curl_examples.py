"""The curl commands of the reference."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from entrypoints.pages.reference.examples import CREDENTIALS, curl_example, variables
from entrypoints.web.describing.schemas import Schemas
from entrypoints.web.serving.admission.access_policies import CredentialKind
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.routes import Route
from tests import specimen
from tests.application import Client
from tests.world.world import World

BASE_URL = "https://id.example.com"
# These need the cookie of a setup link, a domain in force, or a provider that was set up.
CONDITIONAL = {"setup pages", "custom domain", "external providers", "upstream sign-in"}
# The authorization endpoint needs the request of a service.
AUTHORIZE = "/auth/authorize"


def command_of(name: str) -> str:
    """Return the command for a route of the specimen."""
    schemas = Schemas(specimen.routes.routes)
    return curl_example(find(name), schemas, BASE_URL)


def find(name: str) -> Route:
    """Return a route of the specimen."""
    return next(route for route in specimen.routes.routes if route.name == name)


def test_a_command_for_a_simple_get_is_only_the_address() -> None:
    assert command_of("GET /boats/picture") == "curl https://id.example.com/boats/picture"


def test_a_body_is_sent_as_json_that_is_quoted_for_the_shell() -> None:
    words = shlex.split(command_of("POST /boats").replace("\\\n", ""))

    assert words[:4] == ["curl", "-X", "POST", "https://id.example.com/boats"]
    assert "Content-Type: application/json" in words
    assert json.loads(words[words.index("-d") + 1]) == {"name": "Example"}


def test_a_value_that_only_the_reader_knows_is_a_shell_variable() -> None:
    command = command_of("DELETE /boats/:slug/:boat_id")

    assert '"https://id.example.com/boats/$SLUG/$BOAT_ID"' in command
    assert '-H "Authorization: Bearer $TOKEN"' in command
    assert variables(command) == ["SLUG", "BOAT_ID", "TOKEN"]


def test_a_query_that_is_required_is_in_the_address() -> None:
    assert command_of("GET /boats/state") == "curl 'https://id.example.com/boats/state?to=text'"


@pytest.mark.parametrize("kind", [kind for kind in CredentialKind if kind is not CredentialKind.NONE])
def test_every_kind_of_credential_has_its_header(kind: CredentialKind) -> None:
    assert kind in CREDENTIALS


async def test_every_command_without_variables_works_as_pasted(client: Client, application: Application) -> None:
    schemas = Schemas(application.paths.routes)
    for route in application.paths.routes:
        command = curl_example(route, schemas, "")
        if variables(command) or route.method != "GET" or route.path.startswith(AUTHORIZE):
            continue
        if route.capability in CONDITIONAL:
            continue

        answer = await client.get(shlex.split(command)[1])

        assert answer.status == route.status, command


async def test_commands_do_what_they_say_when_their_variables_are_set(world: World) -> None:
    team = world.team()
    team.add("ann", "owner")
    member_id = team.add("ben", "member")
    token = await team.token("ann")
    routes = {route.name: route for route in world.client.application.paths.routes}
    schemas = Schemas(routes.values())
    values = {"TOKEN": token, "SLUG": team.slug, "ORG_SLUG": team.slug, "USER_ID": str(member_id)}

    for name, status in (
        ("GET /api/organizations/:slug/members", 200),
        ("POST /api/organizations/:slug/roles", 200),
        ("POST /api/organizations/:org_slug/invitations", 200),
        ("POST /api/organizations/:org_slug/services", 200),
        ("POST /api/organizations/:slug/members/:user_id", 200),
        ("POST /api/auth/forgot-password", 200),
        ("GET /api/user", 200),
    ):
        command = curl_example(routes[name], schemas, "")
        assert set(variables(command)) <= set(values), name
        words = shlex.split(re.sub(r"\$([A-Z_]+)", lambda match: values[match[1]], command.replace("\\\n", "")))
        headers = [words[i + 1] for i, word in enumerate(words) if word == "-H"]
        sent = [words[i + 1].encode() for i, word in enumerate(words) if word == "-d"]

        answer = await world.client.request(
            words[words.index("-X") + 1] if "-X" in words else "GET",
            next(word for word in words if word.startswith("/")),
            headers=dict(header.split(": ", 1) for header in headers),
            data=sent[0] if sent else None,
        )

        assert answer.status == status, (name, answer.text)
