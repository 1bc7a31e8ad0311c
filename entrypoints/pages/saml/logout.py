"""Telling service providers that a user has signed out at Gatehouse."""

from typing import Annotated

import msgspec

from entrypoints.pages.refusals import protocol_refusal_page
from entrypoints.pages.rendering import Page
from entrypoints.pages.saml import carriers, sso
from entrypoints.pages.saml.slo import REFUSES, SIGNED_OUT, next_message
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser_or_not
from entrypoints.web.serving.hosts import on_custom_hosts
from entrypoints.web.serving.routes import Routes

routes = Routes("SAML", sso.routes.description, protocol_refusal_page)


class SamlLogoutQuery(Query, kw_only=True):
    """The state of a logout that began here."""

    saml_state: Annotated[str, msgspec.Meta(description="The state of a logout under way.", examples=["$SAML_STATE"])]


@routes.get("/saml/logout", limits=sso.LIMITS, refuses=REFUSES)
@on_custom_hosts
@in_browser_or_not
async def log_out_everywhere(call: Call, query: SamlLogoutQuery) -> Page | sso.Redirect:
    """Tell service providers that the user of this browser has signed out at Gatehouse."""
    message = await next_message(call, query.saml_state, carriers.browser_key(call))
    return carriers.begin_to_carry(call, message) if message is not None else see_other(SIGNED_OUT)
