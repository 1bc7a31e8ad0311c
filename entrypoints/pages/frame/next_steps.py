"""What a person does next after a refusal: the buttons of its page, by what was refused and by the path.

The first button leads to the sensible next thing: a new link of the same kind, the sign-in that keeps its way, the page
to which a form belongs, or another try. No button tells whether an account exists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from core.accounts.email_changes import AddressProvedElsewhere
from core.accounts.links import LinkUnusable
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.sign_in_methods import Provider
from core.errors import (
    BadRequest,
    DatabaseFailed,
    NoSuchPath,
    NotFound,
    OrganizationNotActive,
    Refusal,
    SsoRequired,
    TemporaryRefusal,
)
from core.lazy_dataclasses import dataclass
from core.organizations.authorization import MembershipSuspended
from core.organizations.link_callers import SetupLinkDead
from core.organizations.members import MemberUnknown
from core.organizations.session_strength import PasskeyRequired, SecondFactorRequired
from core.services.end_users import EndUserUnknown
from core.services.services import ServiceUnknown
from core.sessions.caller_limits import AddressNotConfirmed
from core.sign_in import browser_returns
from core.sign_in.customer_choices import NoCustomerYet
from core.sign_in.reasons import SecondFactorDue
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.returns import ReturnQuery, WayForm, link_page
from entrypoints.web.serving.admission.browsers import SIGN_IN, SIGN_IN_AGAIN, SIGN_OUT, FormRefused, present_target
from entrypoints.web.serving.admission.impersonating import StopFirst
from entrypoints.web.serving.answering.answers import InternalFailure
from entrypoints.web.serving.calls import Call

FORGOT_PASSWORD: Final = "/app/forgot-password"  # noqa: S105 - a path, not a secret
SEND_AGAIN: Final = "/app/register/send-again"
CONFIRM_ADDRESS: Final = "/app/account/confirm-address"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """A button: its text, in English, and where it leads."""

    text: str
    href: str


_START: Final = NextStep(text=marked("Go to the start page"), href="/app")
_SIGN_IN: Final = NextStep(text=marked("Sign in"), href=SIGN_IN)
# Another step than that one, whose way `next_steps` keeps.
_SIGN_IN_ON_THE_WAY: Final = NextStep(text=marked("Sign in"), href=f"{SIGN_IN}?")
_SIGN_IN_AGAIN: Final = NextStep(text=marked("Sign in again"), href=SIGN_IN_AGAIN)
_OTHER_ACCOUNT: Final = NextStep(text=marked("Use another account"), href=SIGN_OUT)
_ORGANIZATIONS: Final = "/app/account/organizations"
_SECOND_FACTOR: Final = "/app/account/second-factor"
_SET_UP: Final = "/app/second-factor/set-up"
_NEW_ORGANIZATION: Final = "/app/organizations/new"
_PAGE_OF_ACCOUNT: Final = re.compile("/app/account/([a-z-]+)")

_BY_REFUSAL: Final[dict[type[Refusal], tuple[NextStep, ...]]] = {
    AddressProvedElsewhere: (_SIGN_IN,),
    MembershipSuspended: (NextStep(text=marked("Your organizations"), href=_ORGANIZATIONS), _OTHER_ACCOUNT),
    NoSuchPath: (_START,),
    SecondFactorDue: (_SIGN_IN_AGAIN,),
    SetupLinkDead: (_START,),
    SsoRequired: (_SIGN_IN_ON_THE_WAY,),
    StopFirst: (_START,),
}
# What the pages below a path are about; the first that fits counts.
_BY_PATH: Final[Mapping[str, tuple[NextStep, ...]]] = {
    "/auth/reset-password": (NextStep(text=marked("Request a new link"), href=FORGOT_PASSWORD), _SIGN_IN),
    "/auth/magic-link": (NextStep(text=marked("Request a new link"), href=SIGN_IN),),
    "/auth/verify-email": (_SIGN_IN, NextStep(text=marked("Request a new link"), href=SEND_AGAIN)),
    "/auth/undo-email-change": (NextStep(text=marked("Choose a new password"), href=FORGOT_PASSWORD), _SIGN_IN),
    "/app/invitations/": (NextStep(text=marked("See your invitations"), href=_ORGANIZATIONS),),
    "/app/setup/": (NextStep(text=marked("Back to the setup"), href="/app/setup"),),
    "/app/organizations/": (NextStep(text=marked("Your organizations"), href="/app/organizations"),),
    "/app/platform/users/": (NextStep(text=marked("All users"), href="/app/platform/users"),),
    "/app/platform/organizations/": (NextStep(text=marked("All organizations"), href="/app/platform/organizations"),),
    "/app/platform/owners/": (NextStep(text=marked("Owners and support"), href="/app/platform/owners"),),
    "/app/platform/": (NextStep(text=marked("Platform"), href="/app/platform"),),
    "/app/account/": (NextStep(text=marked("Back to your account"), href="/app/account"),),
    "/auth/device": (NextStep(text=marked("Enter another code"), href="/auth/device"),),
    "/sandbox/": (_START,),
}
# What is gone was on one of these lists of an organization, or of a service that is there.
_LISTS: Final = re.compile(
    "/app/organizations/[^/]+/(roles|keys|setup-links|jobs|webhooks|services|sign-in/mail-domains|sign-in)/"
)
_LISTS_OF_SERVICE: Final = re.compile("/app/organizations/[^/]+/services/[^/]+/(plans|api-keys|grants|workloads)/")
_OF_LISTS: Final = {
    "roles": marked("All roles"),
    "keys": marked("All keys"),
    "setup-links": marked("All setup links"),
    "jobs": marked("All jobs"),
    "webhooks": marked("All webhooks"),
    "services": marked("All services"),
    "sign-in/mail-domains": marked("Mail domains"),
    "sign-in": marked("Sign-in rules and connections"),
    "plans": marked("Plans"),
    "api-keys": marked("API keys"),
    "grants": marked("People"),
    "workloads": marked("Workloads"),
}
# The overview of an organization says why its other pages are closed.
_ORGANIZATION: Final = re.compile("/app/organizations/[^/]+(?=/)")
# A person who is gone was on one of these lists.
_PEOPLE: Final = re.compile("/app/organizations/[^/]+/people/")
_CHANGED_ADDRESS: Final = (NextStep(text=marked("Your email address"), href="/app/account/email"), _SIGN_IN)
# Sign-ins at another provider, by its name.
_UPSTREAM: Final = re.compile("/auth/([a-z0-9]+)(?:/|$)")
# The pages that show the forms which are sent to the paths below them.
_FORM_PAGES: Final = {f"{SIGN_IN}/": SIGN_IN}
# Pages that a mailed link opens, which need its token.
_LINK_PAGES: Final = {
    "/app/invitations/": "/app/invitations/accept",
    "/auth/verify-email/": "/auth/verify-email",
}


def next_steps(call: Call, refusal: Refusal) -> tuple[NextStep, ...]:
    """Return the buttons of the page of a refusal, in the order of their importance.

    At least one, unless the page has a form by which alone the person goes on.
    """
    if call.has_acted:
        # The only way on is the form of the page, by which the browser is the person's own again.
        return ()
    steps = _steps(call, refusal)
    if call.acts_for is not None:
        # A platform owner who acts as another user stops first, by the button of every page.
        steps = tuple(step for step in steps if step not in {_OTHER_ACCOUNT, _SIGN_IN_AGAIN}) or (_START,)
    return tuple(_on_the_way(call, step) for step in steps)


def _on_the_way(call: Call, step: NextStep) -> NextStep:
    """Return a step with the way that the request carries, where the step keeps it."""
    way = call.form.way if isinstance(call.form, WayForm) else ReturnQuery(return_id=call.return_id)
    if step is _OTHER_ACCOUNT:
        return replace(step, href=call.switches_at or way.on(SIGN_OUT))
    return replace(step, href=call.repeats_at or way.on(SIGN_IN)) if step is _SIGN_IN_ON_THE_WAY else step


def _steps(call: Call, refusal: Refusal) -> tuple[NextStep, ...]:
    if isinstance(refusal, FormRefused):
        return _after_refused_form(call, refusal)
    if isinstance(refusal, (TemporaryRefusal, InternalFailure, DatabaseFailed)):
        return (*_once_more(call), _START)
    if isinstance(refusal, AddressNotConfirmed) and call.browser is not None:
        return (_confirming(call), *_by_path(call, refusal))
    if isinstance(refusal, PasskeyRequired) and call.custom_host is None:
        target = present_target(call)
        back = browser_returns.safe_path(target.target) if target is not None else None
        way = ReturnQuery(return_to=back or "")
        return (NextStep(text=marked("Use or add a passkey"), href=way.on(_SET_UP)), _OTHER_ACCOUNT)
    if isinstance(refusal, SecondFactorRequired):
        return (NextStep(text=marked("Set up a second factor"), href=_at_home(call, _SECOND_FACTOR)), _OTHER_ACCOUNT)
    if isinstance(refusal, NoCustomerYet):
        step = NextStep(text=marked("Create an organization"), href=_at_home(call, _NEW_ORGANIZATION))
        return (step, _OTHER_ACCOUNT)
    for kind, steps in _BY_REFUSAL.items():
        if isinstance(refusal, kind):
            return steps
    return _by_path(call, refusal)


def _confirming(call: Call) -> NextStep:
    """Return the way to the mailed code, and back to the page of the account that was refused."""
    page = _PAGE_OF_ACCOUNT.match(call.request.path)
    href = f"{CONFIRM_ADDRESS}?page={page[1]}" if page is not None else CONFIRM_ADDRESS
    return NextStep(text=marked("Confirm your address"), href=_at_home(call, href))


def _at_home(call: Call, path: str) -> str:
    """Return the address of a page that a custom domain does not have."""
    return path if call.custom_host is None else call.installation.settings.base_url + path


def _by_path(call: Call, refusal: Refusal) -> tuple[NextStep, ...]:
    path = call.request.path
    people = _PEOPLE.match(path)
    if people is not None and isinstance(refusal, (MemberUnknown, EndUserUnknown)):
        return (NextStep(text=marked("People of the organization"), href=people[0].rstrip("/")),)
    of_service = _LISTS_OF_SERVICE.match(path) if not isinstance(refusal, ServiceUnknown) else None
    listed = of_service or _LISTS.match(path)
    if listed is not None and isinstance(refusal, NotFound):
        return (NextStep(text=_OF_LISTS[listed[1]], href=listed[0].rstrip("/")),)
    organization = _ORGANIZATION.match(path)
    if organization is not None and isinstance(refusal, OrganizationNotActive):
        return (NextStep(text=marked("See why"), href=organization[0]),)
    if isinstance(refusal, LinkUnusable) and _is_of_change(refusal):
        return _CHANGED_ADDRESS
    provider = _UPSTREAM.match(path)
    if provider is not None and provider[1] in {Provider.UPSTREAM, *call.installation.external_providers}:
        return _after_provider(call)
    steps = next((steps for beginning, steps in _BY_PATH.items() if path.startswith(beginning)), None)
    if isinstance(refusal, BadRequest) and refusal.details and call.has_form:
        return (*_page_of_form(call), *(steps or (_START,)))
    return steps or _by_status(call, refusal.code.status)


def _by_status(call: Call, status: int) -> tuple[NextStep, ...]:
    if status not in {401, 403}:
        return (_START,)
    if call.browser is None:
        return (_SIGN_IN,)
    # The first page of the sign-in would lead a browser on that is signed in.
    return (_SIGN_IN_AGAIN if status == 401 else _START, _OTHER_ACCOUNT)


def _after_refused_form(call: Call, refusal: FormRefused) -> tuple[NextStep, ...]:
    """Return the button for a browser that has signed in meanwhile, else for the page that has the form."""
    # What another site has sent names no way.
    way = call.form.way if isinstance(call.form, WayForm) and refusal.reason == "wrong_form_token" else ReturnQuery()
    if isinstance(call.form, WayForm) and call.browser is not None:
        return (NextStep(text=marked("Continue"), href=way.on(SIGN_IN)),)
    if refusal.reason == "wrong_form_token" and (page := _page_of_link(call)) is not None:
        return (NextStep(text=marked("Load the form again"), href=page), _START)
    return (*_page_of_form(call, way), _START)


def _page_of_link(call: Call) -> str | None:
    """Return the page of the mailed link whose form was sent; None for the form of another page."""
    path = next((page for below, page in _LINK_PAGES.items() if call.request.path.startswith(below)), None)
    token = getattr(call.form, "token", "")
    if path is None or not token:
        return None
    return browser_returns.safe_target(link_page(path, token=token, proof=getattr(call.form, "proof", "")))


def _once_more(call: Call) -> tuple[NextStep, ...]:
    if call.request.method == "POST":
        # The page shows the form itself if it has been read.
        return _page_of_form(call) if call.form is None else ()
    target = present_target(call)
    if target is None or browser_returns.safe_target(target.target) is None:
        return ()
    return (NextStep(text=marked("Try again"), href=target.target),)


def _page_of_form(call: Call, way: ReturnQuery | None = None) -> tuple[NextStep, ...]:
    """Return the step to the page that shows the form of this request; nothing when the path has none."""
    target = present_target(call)
    if target is None or browser_returns.safe_path(target.target) is None:
        return ()
    path = next((page for below, page in _FORM_PAGES.items() if target.target.startswith(below)), target.target)
    return (NextStep(text=marked("Load the form again"), href=way.on(path) if way is not None else path),)


def _after_provider(call: Call) -> tuple[NextStep, ...]:
    """Return the sign-in that keeps its way, which also has the button that cancels it."""
    return (NextStep(text=marked("Sign in in another way"), href=call.repeats_at or SIGN_IN),)


def _is_of_change(refusal: LinkUnusable) -> bool:
    return refusal.token is not None and refusal.token.purpose is TokenPurpose.CHANGE_EMAIL
