"""The part of the unit of work that belongs to the area `saml`."""

from typing import Final, Protocol

from ports.saml.certificates import SamlCertificates
from ports.saml.configurations import SamlConfigurations, SamlProviders
from ports.saml.logouts import SamlLogouts
from ports.saml.requests import SamlRequests
from ports.saml.sessions import SamlSessions


class SamlUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    saml_configurations: Final[SamlConfigurations]
    saml_providers: Final[SamlProviders]
    saml_certificates: Final[SamlCertificates]
    saml_requests: Final[SamlRequests]
    saml_sessions: Final[SamlSessions]
    saml_logouts: Final[SamlLogouts]
