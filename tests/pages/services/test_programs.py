"""The programs on the page of a service: no value of the service becomes a part of a program."""

from __future__ import annotations

import ast
import json
import re
import shlex
from html import unescape

import pytest

from core.services.services import ServiceType
from tests.application import Answer
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

    assert len(shown) == (5 if service_type is ServiceType.WEB else 2)
    assert shlex.quote(redirect_uri) in shown.pop("curl")
    if service_type is ServiceType.WEB:
        for word in ("fastapi", "django", "flask"):
            names = {node.id for node in ast.walk(ast.parse(shown[word])) if isinstance(node, ast.Name)}
            assert "__import__" not in names
    for text in shown.values():
        assert json.dumps(redirect_uri) in text
