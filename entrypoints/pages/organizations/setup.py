"""The pages of a setup link: the button that begins, and the parts to set (decisions 13.7).

They need no account, and use none: a browser that is signed in does here what the link allows, and no more. The pages
of the parts are in the modules of their capabilities: `settings/domain.py`, `saml/applications.py`, `scim/tokens.py`,
`scim/single_rules.py`, `audit/siem.py`, `sign_in/upstream/configuring.py`. They use `opened`, `sent`, `part_page` and
`shared_page` of it, and the forms of the console.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, ParamSpec, TypeVar

import msgspec
from quart import Response

from core.organizations import link_callers, setup_links
from core.organizations.access import Operation
from core.organizations.link_callers import LinkCaller, Part, SetupLinkDead
from core.organizations.setup_links import PartProgress, SetupState
from core.rate_limits import RateLimit
from core.sessions import browser_sessions
from core.wording import Wording
from entrypoints.pages.console.setup_steps import SetupStep, current_of
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, page
from entrypoints.pages.frame.routes import setup_pages
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving import browsers
from entrypoints.web.serving.browsers import SETUP_COOKIE, FormRefused, ProtectedForm, setup_cookie
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import holding_setup_link, public

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")
routes = setup_pages()

# A day of work; the link itself stays valid for longer.
COOKIE_LIFETIME: Final = timedelta(hours=12)
SETUP: Final = "/app/setup"
DOMAIN: Final = "/app/setup/parts/domain"
LIMITS: Final = (RateLimit.SIGN_IN_GROUP,)
OPEN: Final = marked("Open")
# What each part is called, and its page.
PARTS: Final[Mapping[Part, tuple[str, str]]] = {
    Part.SAML: (marked("Single sign-on by SAML"), "/app/setup/parts/saml"),
    Part.SCIM: (marked("Provisioning by SCIM"), "/app/setup/parts/scim"),
    Part.UPSTREAM: (marked("Your identity provider"), "/app/setup/parts/upstream"),
    Part.DOMAIN: (marked("Your own domain"), DOMAIN),
    Part.SIEM: (marked("Audit log to a SIEM"), "/app/setup/parts/siem"),
    Part.GROUPS: (marked("Roles by groups"), "/app/setup/parts/groups"),
}


# What a badge says of the state of a part, and what is to be done next.
FAILING: Final = marked("Failing since %(time)s. Open it to see why.")
IN_USE: Final = marked("Done. Last used on %(time)s.")
STATES: Final[Mapping[SetupState, tuple[str, str, str]]] = {
    SetupState.FAILING: ("bad", marked("Failing"), FAILING),
    SetupState.IN_USE: ("good", marked("In use"), IN_USE),
    SetupState.TESTED: ("good", marked("Tested"), marked("Tested on %(time)s. Next, use it once.")),
    SetupState.SAVED: ("warning", marked("Saved, not tested"), marked("Next, test it.")),
    SetupState.NOT_BEGUN: ("info", marked("Not begun"), marked("Next, open it and follow the steps.")),
}
# The parts in the order in which they are set up: how people sign in, then who they are, then what else there is.
ORDER: Final = (Part.UPSTREAM, Part.SCIM, Part.GROUPS, Part.SAML, Part.DOMAIN, Part.SIEM)
Steps = Callable[[Call], Awaitable[Sequence[SetupStep]]]
# Of the parts that have several steps.
_STEPS: Final[list[tuple[Part, Steps]]] = []


def steps_of_part(part: Part) -> Callable[[Steps], Steps]:
    """Declare the steps of a part that has several; every other part is one step."""

    def declare(steps: Steps) -> Steps:
        _STEPS.append((part, steps))
        return steps

    return declare


class KindQuery(Query, kw_only=True):
    """The kind of provider whose steps a page shows."""

    provider: Annotated[str, msgspec.Meta(description="The kind of provider; the page offers the kinds.")] = ""


@routes.get("/app/setup/:secret", limits=LIMITS, refuses=(SetupLinkDead,))
@public
async def show_link(call: Call, secret: str) -> Page:
    """Show what a setup link is for, with a button; opening the page begins nothing."""
    setup = await call.read(setup_links.inspect, secret)
    brand = await brand_of(call, setup.organization.id)
    titles = [PARTS[part][0] for part in setup.parts]
    token = browsers.form_token_before_sign_in(call)
    return _protected(
        page(
            call,
            "organizations/setup_link.html",
            secret=secret,
            setup=setup,
            titles=titles,
            form_token=token,
            brand=brand,
        )
    )


@routes.post("/app/setup/:secret", limits=LIMITS, status=303, refuses=(SetupLinkDead, FormRefused))
@public
async def press_begin(call: Call, secret: str, form: ProtectedForm) -> None:
    """Exchange the secret of a setup link for a cookie."""
    browsers.require_own_site(call)
    browsers.require_form_token_before_sign_in(call, form)
    cookie = await call.transact(setup_links.enter, secret)
    call.set_cookie(browsers.cookie_name(call, SETUP_COOKIE), cookie.reveal(), lifetime=COOKIE_LIFETIME)
    call.headers["Location"] = SETUP


@routes.get(SETUP, refuses=(SetupLinkDead,))
@holding_setup_link
async def show_setup(call: Call) -> Page:
    """Show the steps of the parts that a setup link allows to set, how far each of them is, and what comes next."""
    setup, progress = await call.read(setup_links.progress)
    steps: list[SetupStep] = []
    for part in ORDER:
        if part in progress:
            several = next((declared for one, declared in _STEPS if one is part), None)
            steps += await several(call) if several is not None else [_step(part, progress[part])]
    # The steps are those of one connection; the list leads to the others.
    listed = PARTS[Part.UPSTREAM][1] if Part.UPSTREAM in progress else ""
    return await part_page(
        call,
        "organizations/setup.html",
        setup,
        steps=steps,
        current=current_of(steps),
        connections_page="" if any(step.address == listed for step in steps) else listed,
    )


async def opened(
    call: Call,
    operation: Operation,
    use_case: "Callable[Concatenate[UnitOfWork, str, Arguments], Found]",
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[LinkCaller, Found]:
    """Return the holder of a link that opens an operation, and what a page shows of it; raise `SetupLinkDead`."""
    return await call.read(link_callers.read, operation, use_case, *args, **kwargs)


async def sent(
    call: Call,
    form: ProtectedForm,
    use_case: "Callable[Concatenate[UnitOfWork, str, Arguments], Found]",
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Found:
    """Run the use case of a form that our own page has sent; raise `FormRefused` for any other, and `SetupLinkDead`."""
    require_own_form(call, form)
    return await call.transact(link_callers.serve, use_case, *args, **kwargs)


async def shared_page(call: Call, template: str, setup: LinkCaller, part: Part, **values: Any) -> Response:
    """Return a page of a setup whose template the console renders too."""
    frame = "organizations/setup_frame.html"
    return await part_page(call, template, setup, house=frame, standing=setup, page=PARTS[part][1], **values)


async def part_page(call: Call, template: str, setup: LinkCaller, *, status: int = 200, **values: Any) -> Response:
    """Return a page of a setup, whose forms carry the token of its cookie."""
    token = browsers.masked(browser_sessions.form_token_of(setup_cookie(call)))
    brand = await brand_of(call, setup.organization.id)
    return _protected(page(call, template, status=status, setup=setup, form_token=token, brand=brand, **values))


def _step(part: Part, progress: PartProgress) -> SetupStep:
    title, page = PARTS[part]
    kind, state, text = STATES[progress.state]
    if progress.at is not None:
        text = Wording(text, time=progress.at)
    is_done = progress.state is SetupState.IN_USE
    return SetupStep(title=title, text=text, is_done=is_done, action=OPEN, address=page, badge=(kind, state))


def _protected(response: Response) -> Response:
    # Never the path, which may contain the secret. Without any referrer, a browser would not say where a form is from.
    response.headers["Referrer-Policy"] = "strict-origin"
    return response


async def verify_holder(call: Call, _words: Mapping[str, str]) -> None:
    """Raise `SetupLinkDead` unless the browser has the cookie of a link that is open; before a large form is read."""
    await call.read(link_callers.present)


def require_own_form(call: Call, form: ProtectedForm) -> None:
    """Raise `FormRefused` for a form that our own page has not sent to this browser."""
    browsers.require_own_site(call)
    browsers.require_token(form, browser_sessions.form_token_of(setup_cookie(call)))
