"""Signing in with a provider that the operator has added: it has the same paths as a built-in one."""

from functools import cache

from core.accounts.providers import Provider
from core.sign_in.upstream.answers import UpstreamFailed
from core.sign_in.upstream.providers import ExternalProvider
from entrypoints.pages.frame.refusals import protocol_refusal_page
from entrypoints.pages.frame.rendering import PageOrRedirect
from entrypoints.pages.sign_in.upstream import providers
from entrypoints.pages.sign_in.upstream.providers import BEGINNING, RETURNING, OpenIdCallbackQuery, ProviderQuery
from entrypoints.web.serving.admission.credentials import in_browser_or_not
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes


def routes_of(external: ExternalProvider) -> Routes:
    """Return the routes of an added provider."""
    return _routes_of(external.provider)


@cache
def _routes_of(provider: Provider) -> Routes:
    # Made once for each name, so that the tables of paths are shared as well.
    routes = Routes(providers.routes.capability, providers.routes.description, protocol_refusal_page)

    async def begin(call: Call, query: ProviderQuery) -> None:
        """Sign in with a provider that the operator has added: redirect to it, and back to the service or page."""
        await providers.begin(call, provider, query)

    async def arrive(call: Call, query: OpenIdCallbackQuery) -> PageOrRedirect:
        """Complete a sign-in that a provider which the operator has added has answered."""
        return await providers.arrive(call, provider, query)

    begin.__name__, arrive.__name__ = f"begin_{provider}", f"return_from_{provider}"
    path = f"/auth/{provider}"
    routes.get(path, refuses=(*BEGINNING, UpstreamFailed), status=303)(in_browser_or_not(begin))
    routes.get(f"{path}/callback", refuses=RETURNING, takes_answer=True)(in_browser_or_not(arrive))
    return routes
