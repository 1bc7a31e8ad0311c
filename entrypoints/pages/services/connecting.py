"""The page of a service that says how an application connects to it; the answers to several forms show it."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from quart import Response

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.services import first_sign_ins
from core.services.services import ServiceType
from core.services.standing import ServiceStanding
from entrypoints.pages.console.frame import Program
from entrypoints.pages.console.recipes import RECIPES
from entrypoints.pages.console.recipes.recipe import FilledRecipe
from entrypoints.pages.downloads.downloads import address_of, wheel
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.services import snippets
from entrypoints.pages.services.standing import opened_service, service_page
from entrypoints.web.serving.admission.hosts import issuer_of
from entrypoints.web.serving.calls import Call


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


# The service was created, and no one may sign in before people are assigned.
CREATED_FOR_CHOSEN: Final = "service-created-for-chosen"


class ConnectQuery(DoneQuery, kw_only=True):
    """What was just done, and the program of others whose recipe the page shows."""

    recipe: Annotated[str, msgspec.Meta(description="The program to connect; the page offers them.")] = ""


async def connect_page(
    call: Call,
    org_slug: str,
    service_slug: str,
    *,
    query: ConnectQuery | None = None,
    refusal: Refusal | None = None,
    typed: str = "",
    shown: tuple[str, ...] | None = None,
) -> Response:
    """Return the page of a service, with the redirect URI that was typed and refused, or with its new secret.

    Without a secret in `shown`, it says that the secret cannot be shown, or no longer.
    """
    secret, query = "".join(shown or ()), query or ConnectQuery()
    at, connecting = await opened_service(
        call, org_slug, service_slug, Operation.SERVICE_READ, first_sign_ins.show_connecting
    )
    service, issuer = at.service, issuer_of(call)
    return service_page(
        call,
        "services/connecting.html",
        at,
        program=Program("services_show_service", org_slug, service_slug),
        done=query.done,
        refusal=refusal,
        secret=secret,
        was_shown=shown == (),
        chooses_people=query.done == CREATED_FOR_CHOSEN,
        typed=typed,
        refused=connecting.refused,
        # To a service of machines no person signs in.
        awaits_sign_in=service.service_type is not ServiceType.API,
        first_sign_in=connecting.first_sign_in,
        types=TYPES,
        kind_of=kind_of,
        snippets=snippets.of_service(
            service, issuer, secret, download=address_of(await wheel(), call.installation.settings.base_url)
        ),
        placeholder=snippets.SECRET_PLACEHOLDER,
        local_example=snippets.local_redirect_uri(),
        recipes=[("", marked("Choose a program")), *((one.word, one.name) for one in RECIPES.values())],
        filled=_filled(call, at, query.recipe),
        endpoints={
            "issuer": issuer,
            "discovery": f"{issuer}/.well-known/openid-configuration",
            "authorize": f"{issuer}/auth/authorize",
            "token": f"{issuer}/auth/token",
            "userinfo": f"{issuer}/auth/userinfo",
            "jwks": f"{issuer}/.well-known/jwks.json",
        },
        lacks_change=at.lacks(Operation.SERVICE_UPDATE),
        lacks_leading=at.lacks_lasting(Operation.SERVICE_UPDATE),
        lacks_rotation=at.lacks(Operation.SERVICE_SECRET_ROTATE),
        lacks_trial=at.lacks(Operation.SERVICE_TRY),
    )


def _filled(call: Call, at: ServiceStanding, word: str) -> FilledRecipe | None:
    """Return how the program of that word is connected to the service; None for any other word."""
    recipe, service = RECIPES.get(word), at.service
    return recipe and recipe.filled(
        issuer=issuer_of(call),
        client_id=str(service.client_id),
        saml=f"{call.installation.settings.base_url}/saml/{at.reader.organization.slug}/{service.slug}",
        registered=service.redirect_uris,
    )
