"""Which messages wait for a thread: those that may take long to read."""

from __future__ import annotations

import base64

import pytest
from trio.testing import MockClock

from adapters.saml import received
from adapters.saml.messages import LxmlSamlMessages
from adapters.saml.received import SHORT_BYTES_MAX
from core.errors import ServiceUnavailable
from core.saml.messages import AuthnRequest, EncodedMessage, SamlBinding
from tests.adapters.saml.messages import KEY, LOGOUT_REQUEST, LOGOUT_RESPONSE, NOW, PAIR, RESPONSE
from tests.service_provider import ServiceProvider, redirected

SP = ServiceProvider(now=lambda: NOW, idp="https://id.example/saml/acme/shop")
SHORT = SP.authn_request()
LONG = SP.authn_request(inside=f"<samlp:Scoping>{' ' * SHORT_BYTES_MAX}</samlp:Scoping>")


def redirect(message: str) -> EncodedMessage:
    return EncodedMessage(binding=SamlBinding.REDIRECT, value=redirected(message))


def post(message: str) -> EncodedMessage:
    return EncodedMessage(binding=SamlBinding.POST, value=base64.b64encode(message.encode()).decode())


def test_a_message_is_short_unless_it_is_long_compressed_or_signed_in_xml() -> None:
    certificate = PAIR.certificate_pem
    assert received.is_short(redirect(SHORT), None)
    assert received.is_short(redirect(SHORT), certificate)
    assert received.is_short(post(SHORT), None)
    assert not received.is_short(post(SHORT), certificate)
    assert len(redirected(LONG)) < SHORT_BYTES_MAX
    assert not received.is_short(redirect(LONG), None)
    assert not received.is_short(post(LONG), None)
    assert not received.is_short(EncodedMessage(binding=SamlBinding.REDIRECT, value="?"), None)


async def test_long_messages_wait_for_a_thread_and_no_others(autojump_clock: MockClock) -> None:
    assert autojump_clock
    messages = LxmlSamlMessages(processors=1)
    assert isinstance(await messages.read(redirect(LONG), None), AuthnRequest)

    async with messages._places:
        assert isinstance(await messages.read(redirect(SHORT), None), AuthnRequest)
        assert await messages.response(RESPONSE, KEY)
        assert await messages.logout_message(LOGOUT_REQUEST, KEY, SamlBinding.REDIRECT, None)
        assert await messages.logout_message(LOGOUT_RESPONSE, KEY, SamlBinding.POST, None)
        with pytest.raises(ServiceUnavailable):
            await messages.read(redirect(LONG), None)
