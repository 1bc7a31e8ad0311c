"""Providers that the operator has added, and a browser that signs in with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entrypoints import equipment
from entrypoints.settings import Settings, load
from tests.application import Answer
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider
from tests.world.visitor import Visitor

BASE = "http://localhost:8000"


def providers_file(folder: Path, issuers: Mapping[str, str], **others: Any) -> Path:
    """Write a file with a table for each name, in which further keys are the same."""
    lines: list[str] = []
    for name, issuer in issuers.items():
        values = {
            "title": f"{name.capitalize()} ID",
            "issuer": issuer,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "trusts_email": True,
            **others,
        }
        lines += [f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in values.items())]
    file = folder / "providers.toml"
    file.write_text("\n".join(lines))
    return file


def settings_with(file: Path) -> Settings:
    """Return the settings of development mode with that file."""
    return load({"GATEHOUSE_DEV": "on", "GATEHOUSE_RATE_LIMITS": "off", "GATEHOUSE_PROVIDERS_FILE": str(file)})


platform_brand_of = equipment.platform_brand_of


@dataclass
class Added:
    """A browser, and the OpenID providers that were added as `acme` and `other`; Acme's word on addresses counts."""

    visitor: Visitor
    acme: OpenIdProvider
    other: OpenIdProvider

    def provider_of(self, path: str) -> OpenIdProvider:
        """Return the provider to which a path leads."""
        return self.other if path.startswith("/auth/other") else self.acme

    async def depart(self, path: str = "/auth/acme", visitor: Visitor | None = None) -> str:
        """Begin a sign-in, and return the address at the provider."""
        answer = await (visitor or self.visitor).send("GET", path)
        assert answer.status == 303, answer.text
        return answer.headers["Location"]

    async def come_back(self, path: str = "/auth/acme", visitor: Visitor | None = None, **answer: str) -> Answer:
        """Sign in at the provider, and return what answers the browser that comes back, without following it."""
        back = self.provider_of(path).sign_in(await self.depart(path, visitor), **answer)
        return await (visitor or self.visitor).send("GET", back)

    async def sign_in(self, path: str = "/auth/acme", visitor: Visitor | None = None, **answer: str) -> Answer:
        """Sign in with the provider, and return the page that follows."""
        back = self.provider_of(path).sign_in(await self.depart(path, visitor), **answer)
        return await (visitor or self.visitor).open(back)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, list) else f'"{value}"'
