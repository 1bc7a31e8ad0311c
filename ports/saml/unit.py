"""The part of the unit of work that belongs to the area `saml`."""

from typing import Protocol

from ports.saml.certificates import SamlCertificates
from ports.saml.configurations import SamlConfigurations, SamlProviders
from ports.saml.logouts import SamlLogouts
from ports.saml.requests import SamlRequests
from ports.saml.sessions import SamlSessions


class SamlUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def saml_configurations(self) -> SamlConfigurations: ...

    @property
    def saml_providers(self) -> SamlProviders: ...

    @property
    def saml_certificates(self) -> SamlCertificates: ...

    @property
    def saml_requests(self) -> SamlRequests: ...

    @property
    def saml_sessions(self) -> SamlSessions: ...

    @property
    def saml_logouts(self) -> SamlLogouts: ...
