"""The part of the unit of work that belongs to the area `saml`."""

from typing import Final, Protocol

from ports.saml.saml import SamlConfigurations, SamlLogouts, SamlProviders, SamlRequests, SamlSessions
from ports.sign_in.upstream.connections import KeyCertificates


class SamlUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    saml_configurations: Final[SamlConfigurations]
    saml_providers: Final[SamlProviders]
    saml_certificates: Final[KeyCertificates]
    saml_requests: Final[SamlRequests]
    saml_sessions: Final[SamlSessions]
    saml_logouts: Final[SamlLogouts]
