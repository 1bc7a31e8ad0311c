"""`gatehouse login` and `gatehouse api`: the command line signs in by the device flow, and acts as its user."""

from __future__ import annotations

import json
import subprocess
from urllib.parse import urlsplit

import pytest

from tests.processes import (
    GATEHOUSE,
    Commands,
    CommandsHere,
    Services,
    clean_environment,
    commands,
    commands_here,
    services,
)
from tests.world.builder import EMAIL, PASSWORD
from tests.world.http_visitor import HttpVisitor

__all__ = ["commands", "commands_here", "services"]


def approve(url: str, address: str) -> None:
    """Sign in on the page of a device, and approve it."""
    with HttpVisitor(url) as visitor:
        shown = visitor.sign_in(urlsplit(address)._replace(scheme="", netloc="").geturl(), EMAIL, PASSWORD)
        assert "It can do everything that you can." in shown.text
        done = visitor.submit(shown, "/auth/device/approve")
    assert "The device is signed in" in done.text, done.text


@pytest.mark.long
def test_a_user_signs_the_command_line_in_and_calls_the_interface(services: Services, commands: Commands) -> None:
    commands.run("migrate")
    made = commands.run("owner", EMAIL, "--password-stdin", stdin=f"{PASSWORD}\n")
    assert made.returncode == 0, made.stderr
    url = f"http://localhost:{services.ready().port}"
    folder = commands.folder / "config"
    environment = clean_environment() | {"XDG_CONFIG_HOME": str(folder)}

    with subprocess.Popen(
        [GATEHOUSE, "login", url], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            approve(url, process.stdout.readline().removeprefix("Open ").strip())
            output, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    mine = subprocess.run(
        [GATEHOUSE, "api", "/api/user"], env=environment, check=False, capture_output=True, text=True, timeout=60
    )
    unknown = subprocess.run(
        [GATEHOUSE, "api", "/api/nothing", "-X", "delete"],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert process.returncode == 0, errors
    assert f"You are signed in to {url}." in output
    assert mine.returncode == 0, mine.stderr
    user = json.loads(mine.stdout)
    assert (user["email"], user["is_platform_owner"], user["service"]) == (EMAIL, True, "")
    assert (unknown.returncode, json.loads(unknown.stdout)["error_code"]) == (1, "NOT_FOUND")
    assert (folder / "gatehouse" / "tokens.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("address", "advice"),
    [
        ("http://id.example.com", "Use https"),
        ("id.example.com", "Name the address"),
        ("https://user@id.example.com", "Name the address"),
        ("http://127.0.0.1:1", "cannot be reached"),
    ],
)
def test_tokens_go_to_a_gatehouse_over_a_protected_connection_only(
    commands_here: CommandsHere, address: str, advice: str
) -> None:
    refused = commands_here.run("login", address)

    assert refused.returncode == 1
    assert advice in refused.stderr


def test_without_a_sign_in_the_command_says_how_to(
    commands_here: CommandsHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(commands_here.folder))

    refused = commands_here.run("api", "/api/user", "--address", "https://id.example.com")

    assert refused.returncode == 1
    assert "gatehouse login https://id.example.com" in refused.stderr
