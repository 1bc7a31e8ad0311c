"""The page on which platform owners and support find out why any user cannot sign in, and help them.

That support asks about a person is an entry of the platform's audit log (`core/platform/why_answers.py`).
"""

from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from quart import Response

from core.accounts.users import UserUnknown
from core.errors import BadRequest, Forbidden, Refusal
from core.ids import id_or_none
from core.limits import EMAIL_CHARACTERS_MAX
from core.platform import limits, mails, sign_in_questions, why_answers
from core.platform.mails import NothingToVerify
from core.platform.sign_in_questions import SignInQuestion, Sought
from core.platform.why import SignInExplanation
from core.sign_in.rules import Rule
from entrypoints.pages.console.frame import PLATFORM, Program, console_page, opened_for_platform, with_query
from entrypoints.pages.console.pickers import chosen_person, picker
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import platform_pages, shows_again
from entrypoints.pages.platform.sign_in_checks import SettingPlace, shown, tells_of
from entrypoints.pages.platform.sign_in_questions import (
    EXAMPLE,
    SLUG_TYPED_MAX,
    WAYS,
    QuestionQuery,
    pickers_of,
    way_of,
)
from entrypoints.pages.platform.users import VerificationHeld
from entrypoints.web.serving.admission.browsers import SIGN_IN, ProtectedForm
from entrypoints.web.serving.admission.credentials import platform_support_in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

WHY: Final = f"{PLATFORM}/why"
NETWORK_TYPED_MAX: Final = 50
# No account has it.
_NO_ID: Final = UUID(int=0)
_ACCOUNT: Final = marked("Account")
_ORGANIZATIONS: Final = marked("Organizations")


class PlatformWhyQuery(QuestionQuery, kw_only=True):
    """A question of the platform about any user and organization."""

    email: Annotated[
        str, msgspec.Meta(description="The address of the user, or their id.", max_length=EMAIL_CHARACTERS_MAX)
    ] = ""
    find_email: Annotated[
        str, msgspec.Meta(description="An address, a part of one, or an id.", max_length=EMAIL_CHARACTERS_MAX)
    ] = ""
    user_id: Annotated[str, msgspec.Meta(description="The id of the user.", max_length=SLUG_TYPED_MAX)] = ""
    organization: Annotated[
        str, msgspec.Meta(description="The slug of an organization.", max_length=SLUG_TYPED_MAX)
    ] = ""
    find_organization: Annotated[str, msgspec.Meta(description="A part of its name.", max_length=254)] = ""
    network: Annotated[
        str, msgspec.Meta(description="The network address of the user.", max_length=NETWORK_TYPED_MAX)
    ] = ""
    done: Annotated[str, msgspec.Meta(description="What was just done, as a word.")] = ""

    @property
    def named(self) -> str:
        """What names the user."""
        searched = self.find_email.strip()
        if id_or_none(searched) is not None:
            return searched
        return chosen_person(self.email or self.user_id, searched)

    @property
    def question(self) -> SignInQuestion:
        """The question; what is an id is no address."""
        user_id = id_or_none(self.named)
        return SignInQuestion(
            email=self.named if user_id is None else "",
            user_id=user_id,
            service_slug=self.service.strip() or None,
            customer=self.customer.strip() or None,
            way=way_of(self.way),
            network=self.network.strip() or None,
        )

    @property
    def sought(self) -> Sought:
        """What the page lets its reader choose from."""
        return Sought(
            person=self.find_email,
            organization=self.find_organization,
            service=self.find_service,
            customer=self.find_customer,
            organization_slug=self.organization.strip() or None,
            service_slug=self.service.strip() or None,
        )

    @property
    def kept(self) -> dict[str, str]:
        """The question, as the fields of an address."""
        given = {
            "email": self.named,
            "organization": self.organization.strip(),
            "service": self.service.strip(),
            "customer": self.customer.strip(),
            "way": self.way,
            "network": self.network.strip(),
        }
        return {name: value for name, value in given.items() if value}


class WhyLimitForm(ProtectedForm, kw_only=True):
    """The address whose limits end."""

    address: str = ""


class WhyVerificationForm(ProtectedForm, kw_only=True):
    """The account whose address is verified."""

    user_id: str = ""


@routes.get(WHY)
@platform_support_in_console
async def show_platform_why(call: Call, *, query: PlatformWhyQuery, refusal: Refusal | None = None) -> Page:
    """Show which rule refuses the sign-in of any user, and what was tried lately."""
    _, found = await opened_for_platform(call, sign_in_questions.for_platform, query.sought)
    try:
        standing, explanation = await opened_for_platform(
            call,
            why_answers.explain_to_platform_if_asked,
            query.organization.strip() or None,
            query.question,
            are_limits_on=call.installation.settings.rate_limits,
        )
    except BadRequest as problem:
        # Of the network, or of a customer without its service: what was typed stays, and nothing is answered.
        without = PlatformWhyQuery()
        standing, explanation = await opened_for_platform(
            call, why_answers.explain_to_platform_if_asked, None, without.question, are_limits_on=False
        )
        refusal = problem
    user_id = query.question.user_id
    return console_page(
        call,
        "platform/why.html",
        standing,
        program=Program(
            "platform_users_explain_any_sign_in",
            query={
                **query.kept,
                "email": (query.named or EXAMPLE) if user_id is None else "",
                "user_id": user_id or "",
                "way": query.question.way or "",
            },
        ),
        done=query.done,
        refusal=refusal,
        query=query,
        named=query.named,
        organization=picker(
            "organization",
            ("", found.organizations),
            chosen=query.organization.strip(),
            searched=query.find_organization,
            keeps=True,
        ),
        **pickers_of(found, query, query.named),
        ways=WAYS,
        page=WHY,
        lift=with_query(f"{WHY}/lift", **query.kept),
        resend=with_query(f"{WHY}/resend", **query.kept),
        sign_in_page=call.installation.settings.base_url + SIGN_IN,
        asked=explanation is not None,
        **(_answer(explanation, query) if explanation is not None else {}),
    )


@routes.post(f"{WHY}/lift", refuses=(Forbidden, BadRequest))
@platform_support_in_console
@shows_again(show_platform_why, BadRequest)
async def end_limit(call: Call, query: PlatformWhyQuery, form: WhyLimitForm) -> PageOrRedirect:
    """End the limits of an address; programs use `POST /api/platform/limits/lift`."""
    await call.transact(limits.lift_of_address, form.address)
    return _back(query, "limit-ended")


@routes.post(f"{WHY}/resend", refuses=(Forbidden, UserUnknown, NothingToVerify, VerificationHeld))
@platform_support_in_console
@shows_again(show_platform_why, UserUnknown, NothingToVerify, VerificationHeld)
async def send_verification(call: Call, query: PlatformWhyQuery, form: WhyVerificationForm) -> PageOrRedirect:
    """Send the verification again; programs use `POST /api/platform/users/:user_id/resend-verification`."""
    if not await call.transact(mails.resend_verification, id_or_none(form.user_id) or _NO_ID):
        # The attempt is recorded, so it is not rolled back.
        raise VerificationHeld
    return _back(query, "verification-sent")


def _back(query: PlatformWhyQuery, done: str) -> Response:
    """Lead back to the page with its question, which is answered anew."""
    return see_other(with_query(WHY, **query.kept, done=done))


def _answer(explanation: SignInExplanation, query: PlatformWhyQuery) -> dict[str, Any]:
    """Return the answer as the page shows it, with what helps."""
    account = explanation.account
    is_limited = tells_of(explanation, Rule.FAILURES, Rule.MAIL_LIMIT)
    address = account.email if account is not None else query.question.email
    return {
        **shown(explanation, _places(explanation, query.organization.strip()), is_platform=True),
        "limited": address if is_limited else "",
        "is_unverified": tells_of(explanation, Rule.ADDRESS_VERIFIED),
    }


def _places(explanation: SignInExplanation, organization: str) -> dict[Rule, SettingPlace]:
    """Return the pages on which the platform sees what the rules depend on."""
    found = dict[Rule, SettingPlace]()
    if organization:
        of_organization = SettingPlace(
            href=with_query(f"{PLATFORM}/organizations", search=organization), text=_ORGANIZATIONS
        )
        found |= dict.fromkeys((Rule.ORGANIZATION, Rule.ORGANIZATION_ACTIVE, Rule.SEAT), of_organization)
    if explanation.account is not None:
        of_account = SettingPlace(href=f"{PLATFORM}/users/{explanation.account.id}", text=_ACCOUNT)
        rules = (Rule.ACCOUNT, Rule.ACTIVATED, Rule.ADDRESS_VERIFIED, Rule.MEMBERSHIP, Rule.SECOND_FACTOR)
        found |= dict.fromkeys(rules, of_account)
    return found
