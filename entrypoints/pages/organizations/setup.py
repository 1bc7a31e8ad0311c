"""The pages of a setup link: the button that begins, and the parts to set up.

They need no account, and use none: a browser that is signed in does here what the link allows, and no more. The pages
of the parts are in the modules of their capabilities: `settings/domain.py`, `saml/service_providers.py`,
`scim/tokens.py`, `scim/single_rules.py`, `audit/siem.py`, `sign_in/upstream/configuring.py`. They use `opened`, `sent`
and `part_page` from here, the forms of the console and, where both show the same, its templates.

The page of a part is `@holding_setup_link` and runs the use cases of members by `opened` and `sent`;
`scim/single_rules.py` is the shortest. A use case says by `caller.limits.link` what is closed to the holder of a link
(ops/decisions/0097-setup-links-are-callers.md).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, ParamSpec, TypeVar

import msgspec
from quart import Response

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.organizations import link_callers, setup_links
from core.organizations.access import Operation
from core.organizations.link_callers import LinkCaller, Part, SetupLinkDead
from core.organizations.setup_links import OpenedSetup, PartProgress, SetupState
from core.rate_limits import RateLimit
from core.sessions import browser_sessions
from core.tables import PartialTable
from core.wording import Wording
from entrypoints.pages.console.flash_messages import OUTCOMES
from entrypoints.pages.console.frame import with_query
from entrypoints.pages.console.setup_steps import SetupStep, current_of
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.refusals import problem_of, problems_of
from entrypoints.pages.frame.rendering import Page, page
from entrypoints.pages.frame.routes import setup_pages
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission import browsers
from entrypoints.web.serving.admission.browsers import SETUP_COOKIE, FormRefused, ProtectedForm, setup_cookie
from entrypoints.web.serving.admission.credentials import holding_setup_link, public
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

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
_UPSTREAM: Final = (marked("Connection to your identity provider"), "/app/setup/parts/upstream")
_SCIM: Final = (marked("Provisioning by SCIM"), "/app/setup/parts/scim")
# What each part is called, and its page; in the order in which they are set up: how people sign in, who they are and
# what they may do, then what else there is. An application in which people sign in with us is the opposite of a
# connection, and comes last.
PARTS: Final = PartialTable(
    {
        Part.UPSTREAM: _UPSTREAM,
        Part.SCIM: _SCIM,
        Part.GROUPS: (marked("Roles by groups"), "/app/setup/parts/groups"),
        Part.DOMAIN: (marked("Your own domain"), DOMAIN),
        Part.SIEM: (marked("Audit log to a SIEM"), "/app/setup/parts/siem"),
        Part.SAML: (marked("Sign in to a SAML application"), "/app/setup/parts/saml"),
    }
)
# The same of a link that a vendor made for a customer: what is set up there is for the vendor's service alone.
CUSTOMER_PARTS: Final = PartialTable(
    {
        Part.UPSTREAM: _UPSTREAM,
        Part.MAIL_DOMAIN: (marked("Mail domains"), "/app/setup/parts/mail-domains"),
        Part.SCIM: _SCIM,
        Part.GROUPS: (marked("Roles by groups"), "/app/setup/parts/service-roles"),
    }
)
# What each part gives, in a sentence.
ABOUT: Final[Mapping[Part, str]] = {
    Part.UPSTREAM: marked("Your people sign in here with the account that they have at work."),
    Part.SCIM: marked("Your directory creates the accounts of your people, and closes them when people leave."),
    Part.GROUPS: marked("Members of a group of your directory get the role that you choose for it."),
    Part.MAIL_DOMAIN: marked("Who enters an address of your mail domain is led to your identity provider."),
    Part.DOMAIN: marked("The sign-in pages are at an address of your own."),
    Part.SIEM: marked("The entries of your audit log are sent to a SIEM."),
    # Many take it for a connection.
    Part.SAML: marked(
        "Your people sign in to another application, by SAML, with their account here. Does your company sign in with"
        " Okta, Entra or another provider? Set that up under “Connection to your identity provider”."
    ),
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
SET: Final = ("good", marked("Done"), marked("Done. It counts from now on."))
Steps = Callable[[Call], Awaitable[Sequence[SetupStep]]]
# Of the parts that have several steps.
_STEPS: Final[list[tuple[Part, Steps]]] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPart:
    """A part in the list beside a page: its name, its page, a badge for its state, and whether it is the shown one."""

    title: str
    address: str
    badge: tuple[str, str]
    is_done: bool
    is_shown: bool


def parts_of(holder: LinkCaller) -> Mapping[Part, tuple[str, str]]:
    """Return what the parts of a link are called, and their pages, in the order in which they are set up."""
    return dict((PARTS if holder.made_for is None else CUSTOMER_PARTS).items())


def steps_of_part(part: Part) -> Callable[[Steps], Steps]:
    """Declare the steps of a part that has several; every other part is one step."""

    def declare(steps: Steps) -> Steps:
        _STEPS.append((part, steps))
        return steps

    return declare


class KindQuery(Query, kw_only=True):
    """The kind of provider whose steps a page shows."""

    provider: Annotated[str, msgspec.Meta(description="The kind of provider; the page offers the kinds.")] = ""


class PartQuery(KindQuery, kw_only=True):
    """The kind of provider, the step of a page of a part that is open, and what was just done."""

    done: Annotated[str, msgspec.Meta(description="What was just done, as a word.")] = ""
    step: Annotated[str, msgspec.Meta(description="The step that is open; the page offers the steps.")] = ""


@routes.get("/app/setup/:secret", limits=LIMITS, refuses=(SetupLinkDead,))
@public
async def show_link(call: Call, secret: str) -> Page:
    """Show what a setup link is for, with a button; opening the page begins nothing."""
    setup = await call.read(setup_links.inspect, secret)
    brand = await brand_of(call, setup.branded_id)
    parts = [(title, ABOUT[part]) for part, (title, _) in parts_of(setup).items() if part in setup.parts]
    token = browsers.form_token_before_sign_in(call)
    return _protected(
        page(
            call,
            "organizations/setup_link.html",
            secret=secret,
            setup=setup,
            parts=parts,
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
    setup = await call.read(setup_links.progress)
    parts = parts_of(setup.holder)
    steps = [await _step(call, parts, part, setup.progress[part]) for part in parts if part in setup.progress]
    return await _page(call, "organizations/setup.html", setup.holder, steps=steps, current=current_of(steps))


async def opened(
    call: Call,
    operation: Operation,
    use_case: "Callable[Concatenate[UnitOfWork, str, Arguments], Found]",
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[OpenedSetup, Found]:
    """Return the setup of a link that opens an operation, and what a page shows of it; raise `SetupLinkDead`."""
    return await call.read(setup_links.read, operation, use_case, *args, **kwargs)


async def require_part(call: Call, part: Part) -> None:
    """Raise `SetupLinkDead` for a part that the link does not name, of which another one opens the operations."""
    setup = await call.read(setup_links.progress)
    if part not in parts_of(setup.holder) or part not in setup.progress:
        raise SetupLinkDead


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


def done(page: str, what: str, *, provider: str = "", step: str = "") -> Response:
    """Return the response that leads back to a page, which shows what was done, at a step; without one, at the next."""
    assert what in OUTCOMES, "no sentence says what was done"
    return see_other(with_query(page, provider=provider, step=step, done=what))


def steps_of_page(is_done: Mapping[str, bool], chosen: str = "") -> dict[str, Any]:
    """Return the steps of a page, and which one is open: the one in the address, else the first to do."""
    first = next((step for step, is_behind in is_done.items() if not is_behind), list(is_done)[-1])
    return {"page_steps": is_done, "open_step": chosen if chosen in is_done else first}


async def part_page(
    call: Call,
    template: str,
    setup: OpenedSetup,
    part: Part,
    *,
    refusal: Refusal | None = None,
    query: PartQuery | None = None,
    **values: Any,
) -> Response:
    """Return a page of a part, beside the list of all parts; the console may render its template too.

    `standing` is the holder of the link, who has an organization as a member has, and `page` the page of the part.
    Raise `SetupLinkDead` for a part that the link does not name: another one may read what its page shows.
    """
    parts = parts_of(setup.holder)
    order = [one for one in parts if one in setup.progress]
    if part not in order:
        raise SetupLinkDead
    place = order.index(part)
    open_parts = [one for one in (*order[place + 1 :], *order[:place]) if not setup.progress[one].is_done]
    title, address = parts[part]
    shown = {
        "house": "organizations/setup_frame.html",
        "standing": setup.holder,
        "page": address,
        "part_title": title,
        "part_about": ABOUT[part],
        "listed_parts": [_listed(parts[one], setup.progress[one], is_shown=one is part) for one in order],
        "is_part_done": setup.progress[part].is_done,
        "next_part": parts[open_parts[0]] if open_parts else None,
        # Another word in the address means nothing.
        "outcome": language_of(call).known(OUTCOMES.get(query.done if query is not None else "", "")),
        "problem": problem_of(refusal),
        "problems": problems_of(refusal),
    }
    status = refusal.code.status if refusal is not None else 200
    return await _page(call, template, setup.holder, status=status, **(shown | values))


async def _page(call: Call, template: str, holder: LinkCaller, *, status: int = 200, **values: Any) -> Response:
    """Return a page of a setup, whose forms carry the token of its cookie."""
    token = browsers.masked(browser_sessions.form_token_of(setup_cookie(call)))
    brand = await brand_of(call, holder.branded_id)
    return _protected(page(call, template, status=status, setup=holder, form_token=token, brand=brand, **values))


def _state(progress: PartProgress) -> tuple[str, str, str]:
    """Return the badge of a part, and what it means."""
    is_set = progress.is_done and progress.state is not SetupState.IN_USE
    return SET if is_set else STATES[progress.state]


def _listed(named: tuple[str, str], progress: PartProgress, *, is_shown: bool) -> ListedPart:
    title, address = named
    kind, state, _ = _state(progress)
    return ListedPart(title=title, address=address, badge=(kind, state), is_done=progress.is_done, is_shown=is_shown)


async def _step(call: Call, parts: Mapping[Part, tuple[str, str]], part: Part, progress: PartProgress) -> SetupStep:
    """Return a part as a step of the setup; one that has several steps leads to the one to go on with."""
    title, address = parts[part]
    kind, state, text = _state(progress)
    said: str = text if progress.at is None or text == SET[2] else Wording(text, time=progress.at)
    action = OPEN
    declared = next((steps for one, steps in _STEPS if one is part), None)
    if declared is not None:
        steps = await declared(call)
        failing = next((one for one in steps if one.badge is not None and one.badge[0] == "bad"), None)
        going_on = failing or current_of(steps) or steps[-1]
        said, address, action = going_on.text, going_on.address or address, going_on.action or OPEN
    return SetupStep(
        title=title,
        about=ABOUT[part],
        text=said,
        is_done=progress.is_done,
        action=action,
        address=address,
        badge=(kind, state),
    )


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
