"""The program of each platform on the pages of workloads: run by a shell, it gets a token of a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import jwt
import pytest
from psycopg.types.json import Jsonb

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from entrypoints.pages.services.workload_rules import PRESETS, Preset
from tests.browser import Site
from tests.world.builder import Builder
from tests.world.workload_issuer import RSA, public_key
from tests.world.workload_platforms import PLATFORMS

NAMES: Final = {
    "github": "GitHub",
    "gitlab": "GitLab",
    "kubernetes": "Kubernetes",
    "entra": "Entra",
    "google": "Google",
    "spiffe": "SPIFFE",
    "other": "SPIFFE",
}
RUN_SECONDS_MAX: Final = 120
# In place of the network of the platforms, which give their token out in these forms. Gatehouse is asked as it is.
CURL: Final = """
case "$*" in
  *"$GATEHOUSE/auth/token"*) exec "$CURL" "$@" ;;
  *platform.example*) printf '{"count":1,"value":"%s"}' "$PLATFORM_TOKEN" ;;
  *169.254.169.254*) printf '{"access_token":"%s","resource":"api"}' "$PLATFORM_TOKEN" ;;
  *metadata.google.internal*) printf '%s' "$PLATFORM_TOKEN" ;;
  *) exit 6 ;;
esac
"""
SPIRE_AGENT: Final = """printf '{"svids":[{"spiffe_id":"spiffe://prod.example","svid":"%s"}]}' "$PLATFORM_TOKEN" """


@pytest.fixture
def builder_of_now(connection: Connection) -> Builder:
    """Rows of the present moment, with which the shell's tokens are compared."""
    return Builder(connection, lambda: datetime.now(UTC))


@pytest.fixture
def site(builder_of_now: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server."""

    async def prepare(_database: PostgresDatabase) -> None:
        """Everything is inserted by the test."""

    routes = capabilities.routes(is_development=True)
    site = Site(routes, database_url, key_pairs, prepare=prepare, name="localhost", clock=lambda: datetime.now(UTC))
    yield site
    site.close()


def test_the_program_of_each_platform_sends_its_token_and_gets_ours(
    site: Site, builder_of_now: Builder, connection: Connection, tmp_path: Path
) -> None:
    organization_id = builder_of_now.organization()
    install(tmp_path / "curl", CURL)
    install(tmp_path / "spire-agent", SPIRE_AGENT)
    got: dict[str, list[Any]] = {}
    for preset in PRESETS:
        service = builder_of_now.service(organization_id, f"till-{preset.word}")
        issuer, shape, match = PLATFORMS[NAMES[preset.word]]
        audience = preset.audience or None
        allow(connection, organization_id, service.id, issuer, audience, match)
        program = preset.program(issuer=site.url, client_id=str(service.client_id))

        token = run(preset, program, platform_token(issuer, shape, audience or site.url), site, tmp_path)

        claims = jwt.decode(token, options={"verify_signature": False})
        got[preset.word] = [claims["sub"] == str(service.client_id), claims["exp"] - claims["iat"]]

    assert got == {preset.word: [True, 900] for preset in PRESETS}


def allow(
    connection: Connection,
    organization_id: UUID,
    service_id: UUID,
    issuer: str,
    audience: str | None,
    match: dict[str, str],
) -> None:
    """Insert a workload, whose issuer's keys stand in the rule because the test cannot reach the platform."""
    connection.execute(
        """
        INSERT INTO workloads (id, organization_id, service_id, name, issuer, jwks, audience, match, created_at,
                               has_second_factor)
        VALUES (gen_random_uuid(), %s, %s, 'Deployment', %s, %s, %s, %s, now(), false)
        """,
        (organization_id, service_id, issuer, Jsonb({"keys": [public_key(RSA)]}), audience, Jsonb(match)),
    )


def platform_token(issuer: str, shape: dict[str, Any], audience: str) -> str:
    """Return a token of a platform, of the present moment and for an audience."""
    now = int(datetime.now(UTC).timestamp())
    said = {**shape, "iss": issuer, "iat": now, "nbf": now, "exp": now + 600}
    said["aud"] = [audience] if isinstance(shape.get("aud"), list) else audience
    return jwt.encode(said, RSA, "RS256", headers={"kid": "1"})


def run(preset: Preset, program: str, platform: str, site: Site, folder: Path) -> str:
    """Run the shell of a program, on a platform that gives it this token; return the token that it got."""
    curl = shutil.which("curl")
    assert curl is not None, "curl is not installed; apt-get install curl"
    token_file = folder / "token"
    token_file.write_text(platform)
    script = shell_of(program).replace("/var/run/secrets/gatehouse/token", str(token_file))
    done = subprocess.run(
        ["/bin/sh", "-ec", f'{script}\necho "got $TOKEN"'],
        env={
            "PATH": f"{folder}:{os.environ['PATH']}",
            "CURL": curl,
            "GATEHOUSE": site.url,
            "PLATFORM_TOKEN": platform,
            "ACTIONS_ID_TOKEN_REQUEST_URL": "https://platform.example/token?api-version=2",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token",
            "GITHUB_ENV": str(folder / "github.env"),
            **({"ASSERTION": platform} if preset.word in {"gitlab", "other"} else {}),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS_MAX,
    )
    assert done.returncode == 0, json.dumps([preset.word, done.stdout, done.stderr])
    return done.stdout.rpartition("got ")[2].strip()


def install(path: Path, text: str) -> None:
    """Make a program of a shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def shell_of(text: str) -> str:
    """Return the shell in a pipeline: the block after the last `|` of its YAML, or all of it."""
    lines = unescape(text).split("\n")
    begins = [number for number, line in enumerate(lines) if re.search(r"(run:|-) \|$", line)]
    if not begins:
        return "\n".join(lines)
    block = lines[begins[-1] + 1 :]
    indent = len(block[0]) - len(block[0].lstrip())
    kept: list[str] = []
    for line in block:
        if line.strip() and len(line) - len(line.lstrip()) < indent:
            break
        kept.append(line[indent:])
    return "\n".join(kept)
