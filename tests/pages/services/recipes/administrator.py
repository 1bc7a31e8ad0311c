"""The administrator who connects a program by its recipe, over the interface alone, and its users."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx
from playwright.sync_api import Page

from entrypoints.pages.console.recipes import RECIPES
from entrypoints.pages.console.recipes.recipe import SECRET, FilledRecipe
from tests.world.builder import EMAIL, PASSWORD

# Members of the organization, one of them in the group of admins. A stranger has only an account.
MEMBER: Final = "member@example.com"
ADMIN: Final = "admin@example.com"
# The member to which a service for chosen people is assigned.
CHOSEN: Final = "chosen@example.com"
STRANGER: Final = "stranger@example.com"
# The group that recipes name, and the role in its place.
ADMINS: Final = "admins"


@dataclass(frozen=True)
class Connected:
    """A program that was connected: where it is, and the texts of its recipe with the secret in its place, by file."""

    url: str
    issuer: str
    recipe: FilledRecipe
    texts: Mapping[str, str]
    certificate: str = ""

    @property
    def text(self) -> str:
        """The text of a recipe that has one."""
        [text] = self.texts.values()
        return text


class Administrator:
    """The owner of the organization, with an access token."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        answer = httpx.post(f"{issuer}/api/auth/login", json={"email": EMAIL, "password": PASSWORD}).raise_for_status()
        self._token = answer.json()["access_token"]

    def connect(self, word: str, url: str, *, secret: str | None = None, is_for_chosen: bool = False) -> Connected:
        """Make a service for a program at an address, as its recipe says; with another secret that is entered there.

        Of each group of the directory tokens say who is in it. For chosen people, it is assigned to one with a role,
        and the program reads roles in place of groups.
        """
        recipe = RECIPES[word]
        addresses = recipe.filled(issuer="", client_id="", saml="", registered=[_registered(word, url)])
        made = self._call(
            "/services",
            slug="shop",
            name="Shop",
            service_type=recipe.service_type.value,
            # A program of SAML has none.
            redirect_uris=[] if recipe.is_saml else [addresses.redirect_uri],
            post_logout_redirect_uris=[addresses.logout_uri] if addresses.logout_uri and not recipe.is_saml else [],
            backchannel_logout_uri=addresses.backchannel_uri or None,
            group_claims=["all"],
            **(self._for_chosen(is_saml=recipe.is_saml) if is_for_chosen else {}),
        )
        certificate = self._configure_saml(addresses) if recipe.is_saml else ""
        filled = recipe.filled(
            issuer=self._issuer,
            client_id=made["service"]["client_id"],
            saml=f"{self._issuer}/saml/acme/shop",
            registered=[addresses.redirect_uri],
        )
        known = secret or made.get("client_secret") or ""
        texts = {file: text.replace(SECRET, known) for file, text in filled.settings.items()}
        if is_for_chosen:
            claim = "roles" if recipe.is_saml else "service_roles"
            texts = {file: re.sub(r"\bgroups\b", claim, text) for file, text in texts.items()}
        return Connected(url=url, issuer=self._issuer, recipe=filled, texts=texts, certificate=certificate)

    def finds_trouble(self, page: Page, title: str) -> None:
        """Sign in to the console, and find a trouble as the newest one that the service has had."""
        page.goto(f"{self._issuer}/app/organizations/acme/services/shop/problems")
        sign_in(page, EMAIL)
        page.locator("#problem-1").get_by_role("heading", name=title).wait_for()

    def _for_chosen(self, *, is_saml: bool) -> dict[str, Any]:
        [chosen] = [one for one in self._send("GET", "/members").json()["members"] if one["user"]["email"] == CHOSEN]
        fields = {
            "access": "assigned",
            "roles": [{"name": ADMINS, "title": "Admins"}],
            "assignments": [{"subject": f"user:{chosen['user']['id']}", "roles": [ADMINS]}],
        }
        # Assertions have the claims of a service as attributes.
        return {**fields, "claims": [{"claim": "roles", "from": "service_roles"}]} if is_saml else fields

    def _configure_saml(self, addresses: FilledRecipe) -> str:
        mapping = {name: name for name in ("email", "name", "role", "groups")}
        self._call(
            "/services/shop/saml",
            enabled=True,
            entity_id=addresses.entity_id,
            acs_url=addresses.redirect_uri,
            slo_url=addresses.logout_uri,
            attribute_mapping=mapping,
        )
        return self._call("/services/shop/saml/certificate")["public_key"]

    def _call(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self._send("POST", path, body)
        assert answer.is_success, answer.text
        return answer.json()

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        return httpx.request(
            method,
            f"{self._issuer}/api/organizations/acme{path}",
            json=body,
            headers={"Authorization": f"Bearer {self._token}"},
        )


def _registered(word: str, url: str) -> str:
    return RECIPES[word].redirect_uri.replace("@PROGRAM@", url)


def sign_in(page: Page, email: str) -> None:
    """Sign in by password where the program has led the browser, and agree where that is asked."""
    page.get_by_label("Email address").fill(email)
    page.get_by_role("button", name="Continue").press("Enter")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).press("Enter")
