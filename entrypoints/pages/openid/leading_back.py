"""Leading a browser back to a service, with the parameters of the answer."""

from __future__ import annotations

from quart import Response

from core.openid.authorization import LeadBack
from entrypoints.pages.carried_messages import open_to_other_sites
from entrypoints.pages.leading_on import leading_page
from entrypoints.pages.rendering import page
from entrypoints.web.serving.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.languages import offered


def led_back(call: Call, back: LeadBack, *, is_after_form: bool) -> Response:
    """Return what takes an answer to the service: a redirect, a page after a form, or a form that posts itself."""
    call.language = offered(back.locales)
    if back.posted is not None:
        return open_to_other_sites(
            page(call, "form_post.html", address=back.address, fields=back.posted, submits_itself=True)
        )
    return leading_page(call, back.address) if is_after_form else see_other(back.address)
