"""Warnings of certificates that end soon."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from core.key_certificates import LIFETIME, MadeCertificate, SamlCertificate
from core.mail import mail
from core.platform import health_figures
from core.platform.health_figures import Backlog
from core.saml import certificates
from core.saml.configuration import SamlConfiguration
from core.secrets import Secret
from core.services.services import Service
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.world.builder import Builder

BEFORE_WARNING = LIFETIME - timedelta(days=30)


@pytest.fixture
def service(builder: Builder, transact: Callable[..., Any]) -> Service:
    """A service with a certificate that was made now."""
    organization_id = builder.organization()
    builder.member(organization_id, builder.user("owner@example.com"), "owner")
    builder.member(organization_id, builder.user("admin@example.com"), "admin")
    service_id = builder.service(organization_id, name="Acme Shop").id

    def insert(uow: UnitOfWork) -> Service:
        service = uow.services.by_id(organization_id, service_id)
        assert service is not None
        configuration = SamlConfiguration(
            organization_id=organization_id, service_id=service_id, enabled=True, entity_id="a", acs_url="https://a"
        )
        uow.saml_configurations.save(configuration, at=uow.now)
        made = MadeCertificate(certificate_pem="public", private_pem=Secret("private"))
        certificate = SamlCertificate(
            id=uow.randomness.new_id(),
            public_key=made.certificate_pem,
            valid_from=uow.now,
            valid_until=uow.now + LIFETIME,
            is_active=True,
            created_at=uow.now,
        )
        uow.saml_certificates.replace_active(
            service.organization_id,
            service.id,
            certificate,
            private_pem=made.private_pem,
            previous_published_until=uow.now,
        )
        return service

    return transact(insert)


def ending(transact: Callable[..., Any]) -> int:
    """Return how many certificates the gauge counts."""
    transact(health_figures.count_accounts)
    return transact(health_figures.count, Backlog()).certificates_ending


def mails(transact: Callable[..., Any]) -> list[tuple[str, str]]:
    return [(one.message.to, one.message.values["service"]) for one in transact(mail.claim, 10)]


def test_the_owner_is_warned_once_30_days_before_the_end(
    service: Service, transact: Callable[..., Any], clock: SettableClock
) -> None:
    clock.now += BEFORE_WARNING
    early = transact(certificates.warn, 10), ending(transact)
    clock.now += timedelta(seconds=1)

    warned = [transact(certificates.warn, 10) for _ in range(2)]

    assert early == (0, 0)
    assert warned == [1, 0]
    assert ending(transact) == 1
    assert mails(transact) == [("owner@example.com", "Acme Shop")]


@pytest.mark.parametrize(
    "change",
    ["UPDATE saml_configurations SET enabled = false", "UPDATE saml_certificates SET is_active = false"],
    ids=["disabled", "replaced"],
)
def test_a_certificate_that_signs_nothing_is_no_reason_to_warn(
    service: Service, transact: Callable[..., Any], builder: Builder, clock: SettableClock, change: str
) -> None:
    builder.connection.execute(change)  # pyright: ignore[reportArgumentType] - one of the texts above
    clock.now += LIFETIME

    assert (transact(certificates.warn, 10), ending(transact)) == (0, 0)


def test_an_organization_that_is_not_active_is_warned_when_it_is_again(
    service: Service, transact: Callable[..., Any], builder: Builder, clock: SettableClock
) -> None:
    clock.now += LIFETIME
    builder.connection.execute("UPDATE organizations SET status = 'suspended'")
    suspended = transact(certificates.warn, 10)
    builder.connection.execute("UPDATE organizations SET status = 'active'")

    assert (suspended, transact(certificates.warn, 10)) == (0, 1)


def test_without_an_owner_there_is_no_mail(
    service: Service, transact: Callable[..., Any], builder: Builder, clock: SettableClock
) -> None:
    clock.now += LIFETIME
    builder.connection.execute("DELETE FROM memberships")

    assert transact(certificates.warn, 10) == 1
    assert mails(transact) == []


def test_the_private_key_is_read_for_signing_alone(service: Service, transact: Callable[..., Any]) -> None:
    def read(uow: UnitOfWork) -> Any:
        return uow.saml_certificates.defer_signing_key(service.organization_id, service.id)()

    key = transact(read)

    assert (key.certificate_pem, key.private_pem.reveal()) == ("public", "private")
    assert not shows(repr(key).replace("private_pem", ""), "private")
