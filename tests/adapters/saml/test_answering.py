"""What another transaction may end while Gatehouse answers a service provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from core.errors import Refusal
from core.key_certificates import LIFETIME, SamlCertificate
from core.saml import answering, answers, identity_providers, requests
from core.saml.answers import AuthenticationRequired, Outcome
from core.saml.configuration import SamlConfiguration
from core.saml.identity_providers import ProviderUnknown, SamlProvider
from core.saml.messages import AuthnRequest
from core.saml.requests import SentRequest, SignInStateUnknown
from core.saml.visits import SignedIn, Visit
from core.secrets import Secret
from core.sessions.sessions import Session
from ports.unit_of_work import UnitOfWork
from tests.world.builder import Builder

BASE_URL = "https://id.example"


@pytest.fixture
def provider(builder: Builder, transact: Callable[..., Any]) -> SamlProvider:
    """The identity provider of a service."""
    organization_id = builder.organization()
    service_id = builder.service(organization_id).id

    def insert(uow: UnitOfWork) -> SamlProvider:
        service = uow.services.by_id(organization_id, service_id)
        assert service is not None
        configuration = SamlConfiguration(
            organization_id=organization_id, service_id=service_id, enabled=True, entity_id="a", acs_url="https://a"
        )
        uow.saml_configurations.save(configuration, at=uow.now)
        certificate = SamlCertificate(
            id=uow.randomness.new_id(),
            public_key="public",
            valid_from=uow.now,
            valid_until=uow.now + LIFETIME,
            is_active=True,
            created_at=uow.now,
        )
        uow.saml_certificates.replace_active(
            service.organization_id,
            service.id,
            certificate,
            private_pem=Secret("private"),
            previous_published_until=uow.now,
        )
        return identity_providers.find(uow, "acme", "shop")

    return transact(insert)


def test_a_certificate_that_was_deactivated_signs_nothing(
    provider: SamlProvider, builder: Builder, transact: Callable[..., Any]
) -> None:
    builder.connection.execute("UPDATE saml_certificates SET is_active = false")

    with pytest.raises(ProviderUnknown):
        transact(lambda uow: answers.defer_signing_key(uow, provider.organization_id, provider.service_id)())


def test_a_session_that_has_ended_signs_in_nowhere(
    provider: SamlProvider, builder: Builder, transact: Callable[..., Any]
) -> None:
    user_id = builder.user()

    def answer_after_the_end(uow: UnitOfWork) -> Outcome | Refusal:
        session_id = _add_session(uow, user_id)
        uow.sessions.revoke(session_id, user_id=user_id)
        signed_in = SignedIn(session_id=session_id, user_id=user_id)
        return answering.answer(uow, provider, None, Visit(base_url=BASE_URL, signed_in=signed_in))

    assert transact(answer_after_the_end) == AuthenticationRequired()


def test_a_request_that_was_answered_meanwhile_is_not_answered_again(
    provider: SamlProvider, transact: Callable[..., Any]
) -> None:
    request = AuthnRequest(
        id="_1",
        issuer=provider.audience,
        issued_at=transact(lambda uow: uow.now),
        destination=None,
        is_signed=False,
        acs_url=None,
        protocol_binding="urn:other",
        name_id_format=None,
        name_qualifier=None,
        subject=None,
        force_authn=False,
        is_passive=False,
        context_classes=(),
        comparison="exact",
    )

    def answer_after_another(uow: UnitOfWork) -> None:
        sent = SentRequest(request=request, relay_state=None, browser_key=None, base_url=BASE_URL)
        taken = requests.take(uow, provider, sent)
        assert uow.saml_requests.claim(taken.pending, at=uow.now)()
        answering.answer(uow, provider, taken.pending, Visit(base_url=BASE_URL))

    with pytest.raises(SignInStateUnknown):
        transact(answer_after_another)


def _add_session(uow: UnitOfWork, user_id: UUID) -> UUID:
    session = Session(
        id=uow.randomness.new_id(),
        user_id=user_id,
        organization_id=None,
        service_id=None,
        device_id=None,
        provider="password",
        amr=["pwd"],
        authenticated_at=uow.now,
        refreshed_at=uow.now,
        expires_at=uow.now + LIFETIME,
        ip_address=None,
        user_agent=None,
        impersonator_id=None,
        created_at=uow.now,
    )
    uow.sessions.add(session, refresh_hash=b"")
    return session.id
