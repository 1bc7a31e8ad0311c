"""The page of a service that says how an application connects to it; the answers to several forms show it."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from quart import Response

from core.errors import Refusal
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
from entrypoints.pages.services.kinds import TYPES, kind_of
from entrypoints.pages.services.standing import opened_service, service_page
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.hosts import issuer_of

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
