"""The page that tries a service: a real sign-in in a new tab, and what was in its tokens."""

from typing import Annotated, Final
from urllib.parse import urlencode

import msgspec

from core.errors import Refusal
from core.openid import trials
from core.openid.trials import NotTriable, TrialFailed, TrialOver
from core.organizations.access import Operation
from core.services import management
from core.services.services import ServiceUnknown
from entrypoints.pages.console.frame import Program
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.openid.id_tokens import shown
from entrypoints.pages.services.standing import opened_service, page_of_service, service_page
from entrypoints.shared.openid.id_tokens import signed_id_token
from entrypoints.shared.openid.previews import payload_of
from entrypoints.shared.sessions.token_answers import signed
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.credentials import on_service_in_console
from entrypoints.web.serving.admission.hosts import issuer_of
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

TRYOUT: Final = "/app/organizations/:org_slug/services/:service_slug/tryout"
# Why a try ended without a code, in words; another error is shown by its name.
ERRORS: Final = {
    "access_denied": marked("You have cancelled the sign-in, or did not agree."),
    "login_required": marked("Another user is signed in."),
    "unmet_authentication_requirements": marked("The sign-in was not strong enough."),
}
_ERROR_CHARACTERS_MAX: Final = 100


class AnswerQuery(Query, kw_only=True):
    """The answer to the request of a try."""

    code: Annotated[str, msgspec.Meta(description="The code of the sign-in.", max_length=200)] = ""
    state: Annotated[str, msgspec.Meta(description="The state of the try.", max_length=200)] = ""
    iss: Annotated[str, msgspec.Meta(description="The issuer.", max_length=500)] = ""
    error: Annotated[str, msgspec.Meta(description="Why there is no code.", max_length=_ERROR_CHARACTERS_MAX)] = ""


@routes.get(TRYOUT, refuses=(ServiceUnknown,))
@on_service_in_console(Operation.SERVICE_READ)
async def show_trial(call: Call, org_slug: str, service_slug: str, *, refusal: Refusal | None = None) -> Page:
    """Show what trying a service does."""
    at, service = await opened_service(call, org_slug, service_slug, Operation.SERVICE_READ, management.read)
    return service_page(
        call,
        "openid/trials.html",
        at,
        program=Program(
            "OpenID_Connect_authorize",
            query={
                "response_type": "code",
                "client_id": str(service.client_id),
                "redirect_uri": next(iter(service.redirect_uris), ""),
                "scope": " ".join(trials.SCOPES),
            },
        ),
        refusal=refusal,
        why_not=NotTriable.default_message if service.security_profile is not None else "",
        lacks_trial=at.lacks(Operation.SERVICE_TRY),
    )


@routes.post(TRYOUT, refuses=(ServiceUnknown, NotTriable))
@on_service_in_console(Operation.SERVICE_TRY)
@shows_again(show_trial, NotTriable)
async def begin_trial(call: Call, org_slug: str, service_slug: str) -> PageOrRedirect:
    """Begin a real sign-in to a service, whose answer comes back to the console."""
    begun = await call.transact(trials.begin, org_slug, service_slug, address=_address(call, org_slug, service_slug))
    query = {"client_id": str(begun.service.client_id), "request_uri": begun.request_uri}
    return see_other(f"/auth/authorize?{urlencode(query)}")


@routes.get(f"{TRYOUT}/answer", refuses=(ServiceUnknown, TrialOver, TrialFailed, NotTriable))
@on_service_in_console(Operation.SERVICE_TRY)
@shows_again(show_trial, TrialOver, TrialFailed, NotTriable)
async def finish_trial(call: Call, org_slug: str, service_slug: str, query: AnswerQuery) -> Page:
    """Show what was in the tokens of a try; its session has ended by then, so they open nothing."""
    if query.code:
        tried = await call.transact(
            trials.complete,
            *(org_slug, service_slug),
            code=query.code,
            state=query.state,
            address=_address(call, org_slug, service_slug),
        )
        access_token = signed(call, tried.issued.grant).access_token
        id_token = signed_id_token(call, tried.issued, access_token)
        assert id_token is not None, "a try asks for an ID token"
        parts = [
            ("id-token", shown(payload_of(id_token))),
            ("access-token", shown(payload_of(access_token))),
            ("userinfo", shown(tried.user_info)),
        ]
    else:
        await call.transact(trials.abandon, org_slug, service_slug, state=query.state)
        parts = []
    at, _ = await opened_service(call, org_slug, service_slug, Operation.SERVICE_READ, management.read)
    return service_page(
        call,
        "openid/trials_result.html",
        at,
        program=Program("OpenID_Connect_exchange", body={"grant_type": "authorization_code", "code": "$CODE"}),
        parts=dict(parts),
        error=query.error,
        error_words=ERRORS.get(query.error, ""),
    )


def _address(call: Call, org_slug: str, service_slug: str) -> str:
    """Return where the answer to a try comes back to."""
    return f"{issuer_of(call)}{page_of_service(org_slug, service_slug)}/tryout/answer"
