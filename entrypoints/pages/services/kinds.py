"""The kinds of applications to choose from when a service is created, in the words of the page."""

from __future__ import annotations

from typing import Final

from core.lazy_dataclasses import dataclass
from core.services.services import ServiceType
from entrypoints.pages.frame.languages import marked


@dataclass(frozen=True, slots=True)
class ApplicationKind:
    """A kind of application; `types` are the types of its services, the first by default.

    `example` is a redirect URI as such an application has it; empty where it has none.
    """

    word: str
    name: str
    about: str
    types: tuple[ServiceType, ...]
    example: str

    @property
    def is_confidential(self) -> bool:
        """Whether such an application keeps a secret."""
        return self.types[0].is_confidential

    @property
    def has_users(self) -> bool:
        """Whether people sign in to such an application."""
        return ServiceType.API not in self.types


KINDS: Final = (
    ApplicationKind(
        "web",
        marked("Web application"),
        marked("It runs on a server and keeps a secret there: Flask, Django, Rails, Next.js and the like."),
        (ServiceType.WEB,),
        "https://app.example.com/callback",
    ),
    ApplicationKind(
        "spa",
        marked("Single-page application"),
        marked("It runs in the browser alone. It has no secret, and signs in with PKCE."),
        (ServiceType.MOBILE,),
        "https://app.example.com/callback",
    ),
    ApplicationKind(
        "app",
        marked("Mobile or desktop application"),
        marked("It is installed on a device. It has no secret, and signs in with PKCE by the browser of the device."),
        (ServiceType.MOBILE, ServiceType.DESKTOP),
        "com.example.app:/callback",
    ),
    ApplicationKind(
        "api",
        marked("Machine or API"),
        marked("A program without a user. It gets tokens for itself with its secret."),
        (ServiceType.API,),
        "",
    ),
)
# What the types are called in lists.
TYPES: Final = {
    ServiceType.WEB: marked("Web application"),
    ServiceType.API: marked("Machine or API"),
    ServiceType.MOBILE: marked("Single-page or mobile application"),
    ServiceType.DESKTOP: marked("Desktop application"),
}


def kind_of(service_type: ServiceType) -> ApplicationKind:
    """Return the kind to choose for a service of a type; where several have it, the first that has it by default."""
    by_default = sorted(KINDS, key=lambda kind: kind.types[0] is not service_type)
    return next(kind for kind in by_default if service_type in kind.types)


def kind_by(word: str) -> ApplicationKind | None:
    """Return the kind of this word; None for every other word."""
    return next((kind for kind in KINDS if kind.word == word), None)
