"""The page of the outgoing mail: finding mails by state and recipient, and sending those again that have not left."""

from typing import Annotated, Final

import msgspec

from core.errors import BadRequest, Refusal
from core.ids import id_or_none
from core.limits import EMAIL_CHARACTERS_MAX
from core.mail.mail import MailState
from core.organizations.authorization import authorize_support
from core.platform import mails
from core.platform.mails import NOT_SENT, ListedMail, ListedMailState, MailUnknown, OutboxFilter, OutboxMail
from entrypoints.pages.console.frame import (
    PLATFORM,
    ROWS_SHOWN,
    PagedQuery,
    Program,
    after,
    console_page,
    opened_for_platform,
    with_query,
)
from entrypoints.pages.console.lists import ConsoleList, attempted, each_once
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problem_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.mail.mail import KINDS, MEANINGS, STATES
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

MAIL: Final = f"{PLATFORM}/mail"
# The states in which mails can be sent again.
RETRIED: Final = frozenset({ListedMailState.FAILED, ListedMailState.QUEUED, ListedMailState.ROUTED})


class MailQuery(PagedQuery, kw_only=True):
    """Which mails to show."""

    state: Annotated[str, msgspec.Meta(description="Only mails in this state.", max_length=50)] = ""
    email: Annotated[str, msgspec.Meta(description="The whole address of the recipient.", max_length=1000)] = ""
    choose: Annotated[str, msgspec.Meta(description="`all` ticks the boxes of the page.", max_length=10)] = ""

    @property
    def wanted(self) -> OutboxFilter:
        """The filters; what is no state filters nothing."""
        state = ListedMailState(self.state) if self.state in set(ListedMailState) else None
        return OutboxFilter(state=state, email=self.email[: EMAIL_CHARACTERS_MAX + 1] or None)


LISTED: Final = ConsoleList[ListedMail](path=MAIL)


class MailForm(ProtectedForm, kw_only=True):
    """The mails to send again, by their ids."""

    mail: list[str] = msgspec.field(default_factory=list[str])


@routes.get(MAIL)
@platform_support_in_console
async def show_mail(
    call: Call,
    *,
    query: MailQuery,
    form: MailForm | None = None,
    results: list[tuple[OutboxMail | None, str]] | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the mails of the platform by state and recipient, without what they say."""
    standing, found = await opened_for_platform(
        call,
        mails.browse,
        query.wanted,
        after=query.position,
        limit=ROWS_SHOWN,
    )
    return console_page(
        call,
        "platform/mails.html",
        standing,
        program=Program("platform_mails_list_mails", query=query.kept),
        done=query.done,
        refusal=refusal,
        **LISTED.values(query, found),
        results=results or [],
        chosen=form.mail if form is not None else [],
        kinds=KINDS,
        states=STATES,
        meaning=MEANINGS[query.wanted.state] if query.wanted.state is not None else "",
        not_sent=NOT_SENT,
        choices=[("", marked("Every state")), *((one.value, STATES[MailState(one)][1]) for one in ListedMailState)],
        retried=RETRIED,
        action=with_query(MAIL, **query.kept, after=query.after),
        choose_all=with_query(MAIL, **query.kept, after=query.after, choose="all"),
    )


@routes.post(MAIL, refuses=(BadRequest,))
@platform_support_in_console
@shows_again(show_mail, BadRequest)
async def send_again(call: Call, query: MailQuery, form: MailForm) -> PageOrRedirect:
    """Send the chosen mails again; programs use `POST /api/platform/mails/:mail_id/retry` for each."""
    # Each mail is a transaction of its own: a refusal concerns that mail alone.
    await call.read(authorize_support)
    chosen = each_once(
        form.mail,
        "mail",
        none=marked("Choose at least one mail."),
        too_many=marked("Choose at most 100 mails at once."),
    )
    results = [await _send_again(call, mail_id) for mail_id in chosen]
    refused = [mail_id for mail_id, (_, problem) in zip(chosen, results, strict=True) if problem]
    if not refused:
        return after(MAIL, "mails-again", **query.kept)
    # What was refused stays chosen.
    return await show_mail(call, query=query, form=MailForm(mail=refused), results=results)


async def _send_again(call: Call, mail_id: str) -> tuple[OutboxMail | None, str]:
    """Send a mail again; return it, None if there is none, and what was refused, in English."""
    found = id_or_none(mail_id)
    if found is None:
        return None, MailUnknown.default_message
    result, problem = await attempted(call.transact(mails.try_again, found))
    if result is None:
        return None, problem
    mail, refusal = result
    return mail, problem_of(refusal)
