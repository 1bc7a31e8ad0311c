"""The page of the manual on programs has the recipes that the page of a service shows, with examples as its values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

from core.services.services import ServiceType
from entrypoints import capabilities
from entrypoints.pages.console.recipes import RECIPES
from entrypoints.pages.console.recipes.recipe import FilledRecipe, Recipe
from entrypoints.pages.services.connecting import kind_of
from tests.documents import MANUAL, anchor

PAGE: Final = MANUAL / "programs.md"
BEGIN: Final = (
    "<!-- recipes: begin; written by tests/test_programs_page.py, which fails when page and recipes differ -->"
)
END: Final = "<!-- recipes: end -->"
ISSUER: Final = "https://id.example.com"


def filled(recipe: Recipe) -> FilledRecipe:
    """Return a recipe with the examples of the manual."""
    return recipe.filled(issuer=ISSUER, client_id="YOUR_CLIENT_ID", saml=f"{ISSUER}/saml/acme/{recipe.word}")


def lines_of(one: FilledRecipe) -> Iterator[str]:
    """Return the section of a program, as lines."""
    recipe = one.recipe
    kind = "a service with SAML" if recipe.is_saml else f"a service of the kind *{kind_of(recipe.service_type).name}*"
    tried = (
        f"run with {recipe.run}" if recipe.run else f"not run, by its [documents]({recipe.source}) of {recipe.read_in}"
    )
    addresses = (
        ("entity id", one.entity_id),
        ("address for assertions" if recipe.is_saml else "redirect URI", one.redirect_uri),
        ("after signing out", one.logout_uri),
        ("ended sessions, server to server", one.backchannel_uri),
    )
    yield from (f"### {recipe.name}", "", f"{recipe.protocol}, {kind}; {tried}.", "")
    yield from (f"- {name}: `{address}`" for name, address in addresses if address)
    yield f"- Groups and roles: {recipe.groups}"
    yield f"- Admins: {recipe.admins}"
    yield from (f"- {note}" for note in recipe.notes)
    for file, text, language in one.texts:
        yield from ("", f"`{file}`:", "", f"```{language}", text, "```")
    yield ""


def written() -> str:
    """Return what the page has to say of all programs: where each is, and its section."""
    lines = ["| Program | By | Run with |", "|---|---|---|"]
    lines += [
        f"| [{recipe.name}](#{anchor(recipe.name)}) | {recipe.protocol} | {recipe.run or '—'} |"
        for recipe in RECIPES.values()
    ]
    return "\n".join([*lines, "", *(line for recipe in RECIPES.values() for line in lines_of(filled(recipe)))]).strip()


def test_the_page_agrees_with_the_recipes() -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    found, _, after = rest.partition(END)

    if os.environ.get("GATEHOUSE_TEST_RENEW"):
        PAGE.write_text(f"{before}{BEGIN}\n{written()}\n{END}{after}")
        return

    assert found.strip() == written(), (
        "run GATEHOUSE_TEST_RENEW=1 .venv/bin/python -m pytest tests/test_programs_page.py"
    )


def test_a_recipe_says_everything_that_an_administrator_needs() -> None:
    for word, recipe in RECIPES.items():
        one = filled(recipe)
        text = "\n".join(one.settings.values())

        assert recipe.source.startswith("https://"), word
        assert recipe.groups, word
        assert recipe.admins, word
        assert (recipe.is_saml or recipe.service_type is ServiceType.API) != ("YOUR_CLIENT_ID" in text), word
        assert re.findall("@[A-Z]+@", text) == [], word


def test_a_recipe_leads_to_what_there_is_here() -> None:
    texts = [text for recipe in RECIPES.values() for text in filled(recipe).settings.values()]
    routes = {route.path for route in capabilities.routes(is_development=True)}

    found = {path for text in texts for path in re.findall(rf"{re.escape(ISSUER)}(/[a-z./_-]+)", text)}

    assert {"/auth/authorize", "/saml/acme/passport-saml/sso"} <= found
    paths = {re.sub(r"^/saml/acme/[a-z0-9-]+", "/saml/:org_slug/:service_slug", path) for path in found}
    assert paths - routes == {"/saml/:org_slug/:service_slug", "/auth/"}


def test_a_recipe_is_filled_with_where_the_program_is() -> None:
    recipe = RECIPES["pgadmin"]

    def program(*registered: str) -> str:
        return recipe.filled(issuer=ISSUER, client_id="1", saml="", registered=registered).redirect_uri

    path = "/oauth2/authorize"
    assert program() == f"https://pgadmin.example.com{path}"
    assert (
        program("https://a.example/callback", f"https://b.example:5050/db{path}") == f"https://b.example:5050/db{path}"
    )
    assert program("https://a.example/callback") == f"https://a.example{path}"
    assert program("com.example.app:/callback", "http://localhost:8080/x") == f"http://localhost:8080{path}"
    # What could become a part of settings is filled in nowhere.
    assert program(f'https://a.example/";import os;"{path}') == f"https://a.example{path}"
    assert program(f"https://a.example/@SECRET@{path}") == f"https://a.example{path}"


def test_a_recipe_without_a_path_is_at_the_origin() -> None:
    portainer = RECIPES["portainer"]

    one = portainer.filled(issuer=ISSUER, client_id="1", saml="", registered=["https://p.example:9443/callback"])

    assert one.redirect_uri == "https://p.example:9443"
