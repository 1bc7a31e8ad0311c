"""Certificates for mail servers, for the tests in this folder."""

from __future__ import annotations

import ssl

import pytest
import trustme


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def tls(authority: trustme.CA) -> ssl.SSLContext:
    """The TLS context of the client, which trusts the authority."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture(scope="module")
def certificate(authority: trustme.CA) -> ssl.SSLContext:
    """The TLS context of the server, with a certificate of the authority."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
    return context
