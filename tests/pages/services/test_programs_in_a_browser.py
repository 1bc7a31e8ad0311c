"""The programs on the page of a service, each copied into an empty folder: it starts, and its user signs in to it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page

from adapters.postgres.driver.connection import Connection
from core.secrets import hash_token
from tests.account_site import sign_in
from tests.browser import Site, Watched
from tests.documents import ROOT
from tests.pages.services.programs import free_port, running
from tests.peers import peer
from tests.world.builder import EMAIL, Builder

pytestmark = [pytest.mark.browser, pytest.mark.long]

SECRET = "the-secret-of-the-service-with-many-characters"


def insert_service(builder: Builder, connection: Connection, slug: str, service_type: str, redirect_uri: str) -> None:
    """Insert a service of the organization, with the secret if it has one."""
    [(organization_id,)] = connection.execute("SELECT id FROM organizations").fetchall()
    service = builder.service(organization_id, slug, redirect_uris=[redirect_uri] if redirect_uri else [])
    secret_hash = hash_token(SECRET) if service_type in {"web", "api"} else None
    connection.execute(
        "UPDATE services SET service_type = %s, client_secret_hash = %s WHERE id = %s",
        (service_type, secret_hash, service.id),
    )


def saved(page: Page, word: str, folder: Path) -> Path:
    """Copy a program from the page of a service into an empty folder, with the secret in its place."""
    file = folder / (page.locator(f"#copy-program-{word}-label").text_content() or "")
    text = page.locator(f"#copy-program-{word}").text_content() or ""
    file.write_text(text.replace("YOUR_CLIENT_SECRET", SECRET))
    return file


def node_in(folder: Path, *, has_library: bool) -> str:
    """Return the path of Node, in a folder where openid-client is installed if that is said."""
    if has_library:
        (folder / "node_modules").symlink_to(peer("openid-client").programs.parent)
    found = shutil.which("node")
    assert found is not None
    return found


def test_a_new_admin_creates_a_service_copies_its_program_and_signs_in_to_it_without_scripts(
    site: Site, watch: Callable[..., Watched], tmp_path: Path
) -> None:
    port, watched = free_port(), watch(java_script_enabled=False, viewport={"width": 320, "height": 640})
    page = watched.page
    page.goto(f"{site.url}/app/organizations/acme")
    sign_in(page)

    page.get_by_role("link", name="Web application").press("Enter")
    page.get_by_label("Name").fill("Shop")
    page.get_by_label("Slug").fill("shop")
    page.get_by_label("Redirect URI").fill(f"http://localhost:{port}/callback")
    page.get_by_label("Everyone who signs up").press("Space")
    page.get_by_role("button", name="Create the service").press("Enter")
    page.get_by_text("Copy the client secret now.").wait_for()
    program = saved(page, "flask", tmp_path)
    problems = list(watched.problems)
    python = peer("python-client").program("python")
    # The package of this checkout.
    environment = {"PYTHONPATH": str(ROOT / "ops" / "clients" / "python" / "src")}
    with running([python, program.name], tmp_path, port, environment=environment):
        page.goto(f"http://localhost:{port}/")
        page.get_by_text(EMAIL).wait_for()
        shown = page.inner_text("body")

    assert f"Signed in as {EMAIL}" in shown
    assert problems == []


@pytest.mark.parametrize(("service_type", "word"), [("desktop", "openid-client"), ("mobile", "browser")])
def test_a_program_of_node_signs_its_user_in(
    world_of_now: Builder,
    connection: Connection,
    site: Site,
    watch: Callable[..., Watched],
    tmp_path: Path,
    service_type: str,
    word: str,
) -> None:
    port, page = free_port(), watch().page
    insert_service(world_of_now, connection, "shop", service_type, f"http://localhost:{port}/callback")
    page.goto(f"{site.url}/app/organizations/acme/services/shop")
    sign_in(page)

    program = saved(page, word, tmp_path)
    with running([node_in(tmp_path, has_library=word != "browser"), program.name], tmp_path, port):
        page.goto(f"http://localhost:{port}/")
        page.get_by_text(EMAIL).wait_for()


@pytest.mark.parametrize("service_type", ["web", "mobile"])
def test_the_program_of_the_shell_signs_its_user_in(
    world_of_now: Builder,
    connection: Connection,
    site: Site,
    watch: Callable[..., Watched],
    tmp_path: Path,
    service_type: str,
) -> None:
    page = watch().page
    # What a shell would read as its own, if it were not quoted.
    redirect_uri = "https://shop.example/it's/$(touch)/callback?a=1&b=2"
    insert_service(world_of_now, connection, "shop", service_type, redirect_uri)
    page.goto(f"{site.url}/app/organizations/acme/services/shop")
    sign_in(page)
    program = saved(page, "curl", tmp_path)

    with subprocess.Popen(
        ["/bin/sh", program.name], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        address = process.stdout.readline().strip()
        cookies = {cookie.get("name", ""): cookie.get("value", "") for cookie in page.context.cookies()}
        answer = httpx.get(address, cookies=cookies)
        output, _ = process.communicate(answer.headers["Location"] + "\n")

    assert process.returncode == 0
    assert f'"email":"{EMAIL}"' in output


def test_the_programs_of_a_machine_get_a_token(
    world_of_now: Builder, connection: Connection, site: Site, watch: Callable[..., Watched], tmp_path: Path
) -> None:
    page = watch().page
    insert_service(world_of_now, connection, "meter", "api", "")
    page.goto(f"{site.url}/app/organizations/acme/services/meter")
    sign_in(page)
    python = peer("authlib").program("python")
    interpreters = {"curl": "/bin/sh", "authlib": python, "openid-client": node_in(tmp_path, has_library=True)}

    for word, interpreter in interpreters.items():
        program = saved(page, word, tmp_path)
        done = subprocess.run(
            [interpreter, program.name], cwd=tmp_path, check=False, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert "active" in done.stdout
        assert "rue" in done.stdout
