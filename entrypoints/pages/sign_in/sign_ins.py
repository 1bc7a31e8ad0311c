"""The pages of one's own sign-ins: what succeeded, what was refused and why, and what to do about a stranger's.

Then the sign-ins to an organization, which are the list behind its plots (`entrypoints/pages/audit/analytics.py`).
"""

from typing import TYPE_CHECKING, Annotated, Final, TypeAlias
from uuid import UUID

import msgspec

from core.audit import sign_in_log
from core.audit.sign_in_log import FoundSignIns
from core.limits import PAGE_ITEMS_MAX
from core.organizations.access import Operation
from core.positions import Position
from core.sign_in import own_sessions, own_ways, sign_ins
from core.sign_in.sign_ins import SignIn, SignInOutcome, SignInUnknown
from entrypoints.pages.account_pages import ACCOUNT, account_page
from entrypoints.pages.console_pages import ROWS_SHOWN, Program, api, console_page, opened, page_of
from entrypoints.pages.csv_files import ROWS_AT_ONCE, CsvFile
from entrypoints.pages.declaring import account_pages, console_pages
from entrypoints.pages.languages import language_of
from entrypoints.pages.rendering import Page
from entrypoints.pages.sign_in.reason_texts import REASONS, RISKS
from entrypoints.pages.sign_in_lists import FoundSignInsQuery, sign_ins_file, sign_ins_values
from entrypoints.pages.sign_in_words import OUTCOMES
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser, in_console
from entrypoints.web.serving.routes import Routes

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

routes = account_pages()
organization_routes: Routes = console_pages()

SIGN_INS: Final = f"{ACCOUNT}/sign-ins"
SHOWN_USUALLY: Final = 25

Shown: TypeAlias = tuple[SignIn, tuple[str, str], str, list[str]]


class SignInsQuery(Query, kw_only=True):
    """After which sign-in the page begins, and how many it shows."""

    after: Annotated[
        UUID | None, msgspec.Meta(description="The sign-in after which the page begins; the newest ones without it.")
    ] = None
    limit: Annotated[int, msgspec.Meta(ge=1)] = SHOWN_USUALLY


@routes.get(SIGN_INS, refuses=(SignInUnknown,))
@in_browser
async def show_sign_ins(call: Call, query: SignInsQuery) -> Page:
    """Show the sign-ins to your account, also those that were refused, the newest first."""
    limit = min(query.limit, PAGE_ITEMS_MAX)
    mine = await call.read(sign_ins.list_mine, after=query.after, limit=limit)
    return account_page(
        call,
        "account_sign_ins.html",
        sign_ins=[_shown(one) for one in mine.sign_ins],
        next_id=mine.next_id,
        # They are no sign-ins, and stand beside the newest ones.
        support=await call.read(own_sessions.past_support) if query.after is None else [],
        is_later=query.after is not None,
        limit=limit,
        usual_limit=SHOWN_USUALLY,
    )


@routes.get(f"{SIGN_INS}/:sign_in_id", refuses=(SignInUnknown,))
@in_browser
async def show_sign_in(call: Call, sign_in_id: UUID) -> Page:
    """Show one of your sign-ins, and what to do when it was another person."""
    one, state, reason, risks = _shown(await call.read(sign_ins.show_mine, sign_in_id))
    return account_page(
        call,
        "account_sign_in.html",
        one=one,
        state=state,
        reason=reason,
        risks=risks,
        is_success=one.outcome is SignInOutcome.SUCCESS,
        ways=await call.read(own_ways.read),
    )


def _shown(one: SignIn) -> Shown:
    """Return a sign-in with what its page says of its outcome, of its reason and of what was unusual."""
    reason = REASONS[one.reason] if one.reason is not None else ""
    risks = [RISKS[risk] for risk in dict.fromkeys(one.risk_factors) if risk in RISKS]
    return one, OUTCOMES[one.outcome], reason, risks


@organization_routes.get("/app/organizations/:org_slug/analytics/sign-ins")
@in_console(Operation.SIGN_INS_READ)
async def show_sign_ins_of_organization(call: Call, org_slug: str, query: FoundSignInsQuery) -> Page:
    """Show the sign-ins to an organization by day, outcome, reason, method, service and network."""

    def read(uow: "UnitOfWork", slug: str) -> tuple[FoundSignIns, list[tuple[str, str]]]:
        found = sign_in_log.listed(uow, slug, query.asked, after=query.position, limit=ROWS_SHOWN)
        return found, sign_in_log.services_to_choose(uow, slug)

    standing, (found, services) = await opened(call, org_slug, Operation.SIGN_INS_READ, read)
    page = page_of(org_slug)
    return console_page(
        call,
        "console_sign_ins.html",
        standing,
        program=Program(path=f"{api(org_slug)}/analytics/recent-logins", query={"limit": str(ROWS_SHOWN)}),
        v=sign_ins_values(
            language_of(call),
            query,
            found,
            page=f"{page}/analytics/sign-ins",
            people=f"{page}/people",
            services=services,
        ),
    )


@organization_routes.get("/app/organizations/:org_slug/analytics/sign-ins/sign-ins.csv")
@in_console(Operation.SIGN_INS_READ)
async def download_sign_ins_of_organization(call: Call, org_slug: str, query: FoundSignInsQuery) -> CsvFile:
    """Download the sign-ins that a search finds, at most 100,000, for a spreadsheet."""

    async def find(after: Position | None) -> FoundSignIns:
        return await call.read(sign_in_log.listed, org_slug, query.asked, after=after, limit=ROWS_AT_ONCE)

    return await sign_ins_file(f"{org_slug}-sign-ins", query, find)
