"""How an organization signs people in: the overview in the console, its rules, and the second factors that count."""

from typing import Annotated, Any, Final

import msgspec

from core.errors import BadRequest, Refusal
from core.organizations.access import Operation
from core.organizations.management import OrganizationSettings
from core.organizations.organizations import DEVICE_TRUST_DAYS_MAX
from core.organizations.session_strength import NoFactorOfOwn, SecondFactorRequired
from core.sessions.mfa_methods import MfaMethods
from core.sign_in import sign_in_rules
from core.sign_in.sign_in_rules import MethodsChangedSince
from core.sign_in.upstream import configuring
from core.sign_in.upstream.configuring import RulesChangedSince
from core.wording import Wording
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of
from entrypoints.pages.console.lists import ways
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.shared.sign_in.identities import offered_by_platform
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SIGN_IN: Final = "/app/organizations/:org_slug/sign-in"
# How many connections the page shows at once, and how many mail domains beside their own list.
CONNECTIONS_SHOWN: Final = 20
DOMAINS_SHOWN: Final = 5
METHODS: Final = f"{SIGN_IN}/second-factors"


class SignInQuery(DoneQuery, kw_only=True):
    """Where the list of connections begins, and what was just done."""

    after: Annotated[str, msgspec.Meta(description="The connection after which the list begins.", max_length=36)] = ""


class RulesForm(ProtectedForm, kw_only=True):
    """The rules of an organization, now and as the page has shown them."""

    mfa_required: str = ""
    device_trust_days: str = ""
    seen_mfa_required: str = ""
    seen_device_trust_days: str = ""

    @property
    def settings(self) -> OrganizationSettings:
        """The rules to set; raise `BadRequest`."""
        return OrganizationSettings(
            mfa_required=self.mfa_required == "on", device_trust_days=_days(self.device_trust_days)
        )

    @property
    def seen(self) -> OrganizationSettings:
        """The rules that the page has shown; what the form does not name was not seen."""
        return OrganizationSettings(
            mfa_required=self.seen_mfa_required == "yes" if self.seen_mfa_required else None,
            device_trust_days=_days(self.seen_device_trust_days),
        )


@routes.get(SIGN_IN)
@in_console(Operation.CONNECTIONS_READ)
async def show_sign_in_rules(
    call: Call,
    org_slug: str,
    *,
    query: SignInQuery | None = None,
    form: RulesForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the rules of signing in, the connections, the mail domains, and the credentials at providers."""
    standing, found = await opened(call, org_slug, Operation.CONNECTIONS_READ, configuring.overview)
    page = f"{page_of(org_slug)}/sign-in"
    organization = standing.organization
    ids = [str(one.connection.id) for one in found.connections]
    begin = ids.index(query.after) + 1 if query is not None and query.after in ids else 0
    shown = found.connections[begin : begin + CONNECTIONS_SHOWN]
    has_more = len(found.connections) > begin + CONNECTIONS_SHOWN
    typed: dict[str, Any] = {
        "mfa_required": form.mfa_required == "on" if form is not None else organization.mfa_required,
        "device_trust_days": form.device_trust_days if form is not None else organization.device_trust_days,
    }
    return console_page(
        call,
        "sign_in/sign_in_rules_overview.html",
        standing,
        program=Program(
            "organizations_change_organization",
            org_slug,
            body={
                "mfa_required": organization.mfa_required,
                "device_trust_days": organization.device_trust_days,
            },
        ),
        done=query.done if query is not None else "",
        refusal=refusal,
        problems=problems_of(refusal),
        found=found,
        shown=shown,
        names={one.connection.id: one.connection.name for one in found.connections},
        domains_shown=found.domains[:DOMAINS_SHOWN],
        typed=typed,
        days_max=DEVICE_TRUST_DAYS_MAX,
        providers=[
            (one.provider, one.title, found.client_id_at(one)) for one in call.installation.external_providers.values()
        ],
        offered=offered_by_platform(call),
        lacks_rules=standing.lacks(Operation.ORGANIZATION_UPDATE),
        lacks_configuring=standing.lacks(Operation.CONNECTION_CONFIGURE),
        page=page,
        setup_links=f"{page_of(org_slug)}/setup-links",
        **ways(page, {}, after=begin, following=shown[-1].connection.id if has_more else None),
    )


@routes.post(SIGN_IN, refuses=(BadRequest, RulesChangedSince, SecondFactorRequired))
@in_console(Operation.ORGANIZATION_UPDATE)
@shows_again(show_sign_in_rules, BadRequest, RulesChangedSince)
async def change_sign_in_rules(call: Call, org_slug: str, form: RulesForm) -> PageOrRedirect:
    """Change what the organization requires of its members; programs use `PATCH /api/organizations/:slug`."""
    await call.transact(configuring.change_rules, org_slug, form.settings, seen=form.seen)
    return after(f"{page_of(org_slug)}/sign-in", "rules-saved")


class MethodsForm(ProtectedForm, kw_only=True):
    """Which second factors count from now on, and which ones the page has shown to count."""

    mfa_methods: str = ""
    seen: str = ""


@routes.get(METHODS)
@in_console(Operation.SIGN_IN_RULES_READ)
async def show_methods(call: Call, org_slug: str, *, refusal: Refusal | None = None) -> Page:
    """Show which second factors count, and who would be asked for a passkey."""
    standing, found = await opened(call, org_slug, Operation.SIGN_IN_RULES_READ, sign_in_rules.show_to_change)
    wanted = (
        MfaMethods.ANY if found.rules.mfa_methods is MfaMethods.PHISHING_RESISTANT else MfaMethods.PHISHING_RESISTANT
    )
    return console_page(
        call,
        "sign_in/sign_in_rules.html",
        standing,
        program=Program("sign_in_rules_change_sign_in_rules", org_slug, body={"mfa_methods": wanted.value}),
        refusal=refusal,
        is_strict=found.rules.mfa_methods is MfaMethods.PHISHING_RESISTANT,
        wanted=wanted.value,
        seen=found.rules.mfa_methods.value,
        asked=found.asked,
        has_own=found.has_own,
        lacks_change=standing.lacks(Operation.SIGN_IN_RULES_CHANGE),
        page=f"{page_of(org_slug)}/sign-in",
    )


@routes.post(METHODS, refuses=(BadRequest, NoFactorOfOwn, MethodsChangedSince, SecondFactorRequired))
@in_console(Operation.SIGN_IN_RULES_CHANGE)
@shows_again(show_methods, BadRequest, MethodsChangedSince)
async def change_methods(call: Call, org_slug: str, form: MethodsForm) -> PageOrRedirect:
    """Change which second factors count; programs use `PATCH …/sign-in-rules`."""
    await call.transact(
        sign_in_rules.change, org_slug, mfa_methods=_methods(form.mfa_methods), seen=_methods(form.seen)
    )
    return after(f"{page_of(org_slug)}/sign-in", "rules-saved")


def _methods(typed: str) -> MfaMethods:
    try:
        return MfaMethods(typed)
    except ValueError:
        raise BadRequest.of_field("mfa_methods", "This must be any or phishing_resistant.") from None


def _days(typed: str) -> int | None:
    """Return a number of days; None for an empty field, which changes nothing. Raise `BadRequest`."""
    text = typed.strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(DEVICE_TRUST_DAYS_MAX))):
        raise _no_days()
    days = int(text)
    if days > DEVICE_TRUST_DAYS_MAX:
        raise _no_days()
    return days


def _no_days() -> BadRequest:
    return BadRequest.of_field(
        "device_trust_days", Wording("Enter a whole number from 0 to %(maximum)s.", maximum=DEVICE_TRUST_DAYS_MAX)
    )
