"""The application with two OpenID providers that the operator has added."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from entrypoints.upstream_settings import added_to
from entrypoints.web.serving.application import Application
from tests.openid_provider import OpenIdProvider, running_openid_provider
from tests.world.added_providers import Added, platform_brand_of, providers_file, settings_with
from tests.world.visitor import Visitor


@pytest.fixture
def acme_id() -> Generator[OpenIdProvider]:
    """The provider that was added as `acme`; it verifies addresses."""
    with running_openid_provider() as running:
        running.claims = {"email": "ada@example.com", "email_verified": True}
        yield running


@pytest.fixture
def other_id() -> Generator[OpenIdProvider]:
    """The provider that was added as `other`."""
    with running_openid_provider() as running:
        running.claims = {"email": "ada@example.com", "email_verified": True}
        yield running


@pytest.fixture
def settings(tmp_path: Path, acme_id: OpenIdProvider, other_id: OpenIdProvider) -> Settings:
    """Development mode, with both."""
    return settings_with(providers_file(tmp_path, {"acme": acme_id.url, "other": other_id.url}))


@pytest.fixture
def installation(installation: Installation, settings: Settings) -> Installation:
    """The installation, with the look of the providers."""
    return replace(installation, platform=platform_brand_of(settings))


@pytest.fixture
def application(installation: Installation, settings: Settings) -> Application:
    """The application with the routes of both."""
    return Application(installation, capabilities.routes(is_development=True, added=added_to(settings)))


@pytest.fixture
def added(visitor: Visitor, acme_id: OpenIdProvider, other_id: OpenIdProvider) -> Added:
    """A browser that signs in with them."""
    return Added(visitor, acme_id, other_id)
