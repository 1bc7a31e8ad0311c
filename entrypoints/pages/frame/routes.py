"""What modules of pages declare alike: the group of their routes, and the refusals that a form's own page shows.

    routes = account_pages()

    @routes.get(NAME)
    @in_browser
    async def show_name(
        call: Call, *, query: DoneQuery | None = None, refusal: Refusal | None = None, form: NewName | None = None
    ) -> Page:

    @routes.post(NAME)
    @in_browser
    @shows_again(show_name, BadRequest)
    async def change_name(call: Call, form: NewName) -> PageOrRedirect:

Other modules of pages make their `Routes` themselves.

A page is named after the use case that it shows, and its template stands beside it. Keywords that the handler of a GET
has beside `query` are not sent by the request: `shows_again` passes them. `@shows_itself_again(BadRequest)` shows a
page again whose filter was refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any, cast

from quart import Response

from core.errors import Forbidden, Refusal
from entrypoints.pages.frame.refusals import refusal_page
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Handler, Routes

# The groups whose pages are in several modules, each with its introduction in the reference.
account_pages = partial(Routes, "account pages", "Looking after your own account in a browser.", refusal_page)
console_pages = partial(Routes, "console", "Looking after an organization in a browser.", refusal_page)
invitation_pages = partial(
    Routes, "invitations", "Inviting people to an organization, and their answers.", refusal_page
)
platform_pages = partial(
    Routes, "platform console", "Looking after the platform and its users in a browser.", refusal_page
)
registration_pages = partial(
    Routes, "registration", "Creating an account and verifying its email address.", refusal_page
)
setup_pages = partial(Routes, "setup pages", "Filling in settings of an organization with a setup link.", refusal_page)
sign_in_pages = partial(Routes, "sign-in pages", "Signing in in a browser.", refusal_page)


def shows_again(
    page: Callable[..., Awaitable[Response]], *refusals: type[Refusal], but_not: tuple[type[Refusal], ...] = ()
) -> Callable[[Handler], Handler]:
    """Answer these refusals of a form with its own page, in place of the page that explains a refusal.

    `page` takes the refusal, and the parameters that it shares with the handler.
    """
    names = inspect.signature(page).parameters.keys()

    def declare(handler: Handler) -> Handler:
        @wraps(handler)
        async def handle(call: Call, **sent: Any) -> Any:
            try:
                return await handler(call, **sent)
            except refusals as refusal:
                if isinstance(refusal, but_not):
                    raise
                shown = {name: value for name, value in sent.items() if name in names}
                try:
                    return await page(call, **shown | {"refusal": refusal})
                except Refusal:
                    # Whether something exists is not said to a caller who may not change it.
                    if isinstance(refusal, Forbidden):
                        raise refusal from None
                    raise

        return cast("Handler", handle)

    return declare


def shows_itself_again(*refusals: type[Refusal]) -> Callable[[Handler], Handler]:
    """Answer these refusals of a GET, such as an invalid filter, with the page itself, which takes the refusal."""

    def declare(page: Handler) -> Handler:
        return shows_again(page, *refusals)(page)

    return declare
