"""The programs on the page of a service: no value of the service can become code in them."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import shlex
from html import unescape
from urllib.parse import urlsplit

import pytest

from core.services.services import ServiceType
from entrypoints.settings import Settings
from tests.application import Answer, Client
from tests.pages.copied import copied
from tests.pages.services.shop import CONSOLE, shop_of
from tests.world.visitor import Visitor
from tests.world.world import World

# Each would end the literal in which it stands, if it were filled in.
REDIRECT_URIS = (
    "https://shop.example/(__import__('os').system('id'))@PATH@f",
    "https://shop.example/@HOME@;process.exit();@HOME@",
    "https://shop.example/@SHELL_REDIRECT_URI@;id;@SHELL_ADDRESS@",
    "https://shop.example/'$(id)'@SECRET@@NOTHING@",
)


def programs(page: Answer) -> dict[str, str]:
    """Return the programs that a page shows, by their names."""
    found = re.findall(r'<pre class="code" id="copy-program-([\w-]+)"[^>]*><code>(.*?)</code>', page.text, re.DOTALL)
    return {name: unescape(re.sub(r"<[^>]+>", "", text)) for name, text in found}


@pytest.mark.parametrize("redirect_uri", REDIRECT_URIS)
@pytest.mark.parametrize("service_type", [ServiceType.WEB, ServiceType.MOBILE])
async def test_a_redirect_uri_that_names_a_placeholder_stays_text(
    world: World, visitor: Visitor, service_type: ServiceType, redirect_uri: str
) -> None:
    team = world.team()
    team.add("ann", "owner")
    shop_of(world, team)
    world.connection.execute(
        "UPDATE services SET redirect_uris = %s, service_type = %s", ([redirect_uri], service_type)
    )
    await visitor.sign_in("ann@example.com")

    shown = programs(await visitor.open(f"{CONSOLE}/shop"))

    assert len(shown) == (6 if service_type is ServiceType.WEB else 2)
    assert shlex.quote(redirect_uri) in shown.pop("curl")
    if service_type is ServiceType.WEB:
        for word in ("fastapi", "django", "flask"):
            names = {node.id for node in ast.walk(ast.parse(shown[word])) if isinstance(node, ast.Name)}
            assert "__import__" not in names
    for text in shown.values():
        assert json.dumps(redirect_uri) in text


@pytest.mark.parametrize("word", ["fastapi", "django", "flask"])
async def test_a_program_of_python_installs_the_package_from_this_installation_by_its_hash(
    world: World, visitor: Visitor, client: Client, settings: Settings, word: str
) -> None:
    team = world.team()
    team.add("ann", "owner")
    shop_of(world, team)
    await visitor.sign_in("ann@example.com")

    page = await visitor.open(f"{CONSOLE}/shop")

    environment, install = copied(page, f"install-{word}").splitlines()
    assert environment == "python3 -m venv .venv"
    pip, _, requirement, *_ = shlex.split(install)
    package, address = requirement.split(" @ ")
    address, digest = address.split("#sha256=")
    served = await client.get(urlsplit(address).path)
    assert (pip, package) == (".venv/bin/pip", f"gatehouse-client[{word}]")
    assert address.startswith(f"{settings.base_url}/downloads/")
    assert hashlib.sha256(served.content).hexdigest() == digest
    assert "Start: <code>.venv/bin/python app.py</code>." in page.text


async def test_no_page_of_a_service_installs_the_package_by_its_name_alone(world: World, visitor: Visitor) -> None:
    team = world.team()
    team.add("ann", "owner")
    shop_of(world, team)
    await visitor.sign_in("ann@example.com")

    for service_type in ServiceType:
        world.connection.execute("UPDATE services SET service_type = %s", (service_type,))
        page = await visitor.open(f"{CONSOLE}/shop")
        text = unescape(re.sub(r"<[^>]+>", "", page.text))
        text = re.sub(r'"gatehouse-client\[\w+\] @ http\S+#sha256=[0-9a-f]{64}"', "", text)
        assert re.search("install.*gatehouse", text) is None


async def test_next_js_listens_at_the_port_of_the_redirect_uri_and_its_other_files_are_in_the_guide(
    world: World, visitor: Visitor, client: Client
) -> None:
    team = world.team()
    team.add("ann", "owner")
    shop_of(world, team)
    world.connection.execute("UPDATE services SET redirect_uris = '{http://localhost:3000/callback}'")
    await visitor.sign_in("ann@example.com")

    page = await visitor.open(f"{CONSOLE}/shop")

    [guide] = re.findall(r'href="(/docs/manual/guides/nextjs)"', page.text)
    assert 'new URL("http://localhost:3000/callback")' in copied(page, "program-nextjs")
    assert "npx next start --port 3000</code>" in page.text
    assert "app/callback/route.js" in (await client.get(guide)).text
