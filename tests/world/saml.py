"""Services with SAML: the identity provider of each, and its service provider as a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from core.key_certificates import LIFETIME, SamlCertificate
from core.saml.configuration import SamlConfiguration
from core.secrets import Secret
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.service_provider import KeyPair, PostedForm, ServiceProvider, key_pair, posted_form
from tests.world.visitor import FORM, Visitor
from tests.world.world import World

BASE_URL = "http://localhost:8000"
CROSS_SITE = {"Sec-Fetch-Site": "cross-site", "Origin": "https://sp.example"}


@dataclass(frozen=True)
class SamlService:
    """A service with SAML, and its service provider."""

    world: World
    organization_id: UUID
    service_id: UUID
    path: str
    sp: ServiceProvider
    key: KeyPair

    def sso(self, message: str | None = None, *, key: KeyPair | None = None, relay_state: str | None = None) -> str:
        """Return the address of a request for a sign-in by redirect."""
        return f"{self.path}/sso?{self.sp.query(message or self.sp.authn_request(), key=key, relay_state=relay_state)}"

    async def post(
        self, browser: Visitor, path: str, message: str, *, name: str = "SAMLRequest", relay_state: str | None = None
    ) -> Answer:
        """Post a message as the page of the service provider does: the browser sends no cookies along."""
        return await self.post_form(browser, path, self.sp.form(message, name=name, relay_state=relay_state))

    async def post_form(self, browser: Visitor, path: str, data: bytes) -> Answer:
        """Post a form as the page of the service provider does."""
        headers = {**browser.headers, "Content-Type": FORM, **CROSS_SITE}
        answer = await browser.client.request("POST", f"{self.path}/{path}", data=data, headers=headers)
        browser.keep(answer)
        return answer

    async def signed_in(self, browser: Visitor, message: str | None = None, **options: Any) -> PostedForm:
        """Send a browser that is signed in with a request, and return the answer that it would post."""
        page = await browser.open(self.sso(message, **options))
        assert page.status == 200, page.text
        return posted_form(page.text)


@dataclass
class SamlWorld:
    """A maker of services with SAML."""

    world: World
    services: dict[str, SamlService] = field(default_factory=dict[str, SamlService])

    async def service(
        self, organization_id: UUID, organization_slug: str, slug: str = "shop", **settings: Any
    ) -> SamlService:
        """Insert a service with an enabled configuration and a certificate; service providers differ by the slugs."""
        service_id = self.world.service(organization_id, slug, name=f"{slug.title()} of {organization_slug}").id
        return await self.configured(organization_id, service_id, organization_slug, slug, **settings)

    async def configured(
        self, organization_id: UUID, service_id: UUID, organization_slug: str, slug: str = "shop", **settings: Any
    ) -> SamlService:
        """Give a service an enabled configuration and a certificate."""
        name = f"{slug}.{organization_slug}"
        path = f"/saml/{organization_slug}/{slug}"
        sp = ServiceProvider(
            now=self.world.clock,
            idp=f"{BASE_URL}{path}",
            entity_id=f"https://{name}.example/metadata",
            acs_url=f"https://{name}.example/acs",
            slo_url=f"https://{name}.example/slo",
            key=key_pair(f"sp of {name}"),
        )
        key = key_pair(f"idp of {name}")
        configuration = SamlConfiguration(
            organization_id=organization_id, service_id=service_id, **{**sp.configuration, **settings}
        )
        await self.world.installation.database.transact(insert_saml, configuration, key)
        made = SamlService(self.world, organization_id, service_id, path, sp, key)
        self.services[name] = made
        return made


def insert_saml(uow: UnitOfWork, configuration: SamlConfiguration, key: KeyPair) -> None:
    """Insert a configuration, and the certificate of its service."""
    uow.saml_configurations.save(configuration, at=uow.now)
    service = uow.services.by_id(configuration.organization_id, configuration.service_id)
    assert service is not None
    certificate = SamlCertificate(
        id=uow.randomness.new_id(),
        public_key=key.certificate_pem,
        valid_from=uow.now,
        valid_until=uow.now + LIFETIME,
        is_active=True,
        created_at=uow.now,
    )
    uow.saml_certificates.replace_active(
        service.organization_id,
        service.id,
        certificate,
        private_pem=Secret(key.private_pem),
        previous_published_until=uow.now,
    )
