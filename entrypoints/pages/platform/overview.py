"""The overview of the platform: what waits first, then numbers that lead to their lists."""

from dataclasses import replace
from typing import Final, TypeAlias

from core.organizations.organizations import OrganizationStatus
from core.platform import overview
from core.platform.mails import ListedMailState
from core.platform.mfa import MfaAlertType
from core.platform.overview import PlatformNumbers, PlatformOverview
from core.tables import PartialTable
from entrypoints.pages.console.account import ACCOUNT
from entrypoints.pages.console.frame import (
    CONSOLE,
    PLATFORM,
    PLATFORM_ORGANIZATIONS,
    Program,
    console_page,
    opened_for_platform,
)
from entrypoints.pages.console.setup_steps import SetupStep, current_of
from entrypoints.pages.console.sign_in_plots import SignInLists, plot_values
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.home import HOME
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import platform_pages
from entrypoints.pages.platform import system
from entrypoints.shared.platform.checks import Verdict
from entrypoints.web.serving.admission.credentials import platform_support_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

ALERTS: Final = {
    MfaAlertType.MANY_MFA_FAILURES: marked("Many wrong codes in a short time"),
    MfaAlertType.BACKUP_CODE_FROM_NEW_DEVICE: marked("A backup code was used on a new device"),
    MfaAlertType.MFA_DISABLED_AFTER_RISKY_SIGN_IN: marked("Turned off soon after a risky sign-in"),
}
_STATUSES: Final = {
    OrganizationStatus.PENDING: marked("Organizations that wait"),
    OrganizationStatus.ACTIVE: marked("Active organizations"),
    OrganizationStatus.SUSPENDED: marked("Suspended organizations"),
    OrganizationStatus.REJECTED: marked("Rejected organizations"),
    OrganizationStatus.DELETING: marked("Organizations deleted by their owners"),
}
_STATES: Final = PartialTable(
    {
        ListedMailState.FAILED: marked("Mails that have failed"),
        ListedMailState.QUEUED: marked("Mails that wait"),
        ListedMailState.ROUTED: marked("Mails that wait for an organization's server"),
        ListedMailState.KEPT: marked("Mails kept in this installation"),
    }
)


@routes.get(PLATFORM)
@platform_support_in_console
async def show_platform(call: Call, query: DoneQuery) -> Page:
    """Show what waits for platform owners and support, and the numbers of the platform."""
    standing, found = await opened_for_platform(call, overview.show)
    # What the page of the system says is wrong, which owners alone may open.
    findings = (await system.checked(call))[1] if standing.is_owner else []
    failing = [(system.SUBJECTS[one.subject], one) for one in findings if one.verdict is Verdict.NOT_OK]
    steps = _steps_of(call, found)
    return console_page(
        call,
        "platform/overview.html",
        standing,
        program=Program(
            "platform_organizations_list_organizations", query={"status": OrganizationStatus.PENDING.value}
        ),
        besides=[
            Program("platform_organizations_approve", "$ID", body={}),
            Program("platform_mails_list_mails", query={"state": ListedMailState.FAILED.value}),
        ],
        done=query.done,
        found=found,
        failing=failing,
        steps=steps,
        current_step=current_of(steps),
        is_set_up=all(one.is_done for one in steps),
        # No one works with it yet.
        is_new=found.setup is not None and not found.setup.has_sign_in,
        failed=ListedMailState.FAILED,
        alerts=ALERTS,
        groups=numbers_of(found.numbers),
        shown=plot_values(
            language_of(call),
            found.numbers.sign_ins,
            SignInLists(sign_ins=f"{PLATFORM}/sign-ins", users=f"{PLATFORM}/active-users"),
        ),
        pending=f"{PLATFORM_ORGANIZATIONS}?status={OrganizationStatus.PENDING.value}",
        organizations=PLATFORM_ORGANIZATIONS,
    )


def _steps_of(call: Call, found: PlatformOverview) -> list[SetupStep]:
    """Return what a new installation has to set up; none for support, which sets up nothing."""
    done, settings = found.setup, call.installation.settings
    if done is None:
        return []
    has_organization = any(found.numbers.organizations.values())
    steps = [
        SetupStep(
            title=marked("Protect your own account"),
            text=marked("With a second factor or a passkey, a stolen password opens nothing."),
            is_done=not found.owners_without_second_factor,
            action=marked("Set one up"),
            address=f"{ACCOUNT}/second-factor",
            is_optional=True,
        ),
        SetupStep(
            title=marked("Create your organization"),
            text=marked("It has the people and the applications of your company."),
            is_done=has_organization,
            action=marked("Create an organization"),
            address=f"{CONSOLE}#create",
        ),
        SetupStep(
            title=marked("Connect an application"),
            text=marked("A service of your organization, with programs to copy."),
            is_done=done.has_service,
            action=marked("Open your organization"),
            address=HOME if has_organization else "",
        ),
        SetupStep(
            title=marked("See a first sign-in"),
            text=marked("A service has programs to copy, and “Try it”, which shows what is in the tokens."),
            is_done=done.has_sign_in,
            action=marked("Open your organization"),
            address=HOME if done.has_service else "",
        ),
        SetupStep(
            title=marked("Send mail"),
            text=marked("Set GATEHOUSE_SMTP_URL to your mail server. Until then, mails stay here."),
            is_done=settings.smtp_url is not None,
            action=marked("Outgoing mail"),
            address=f"{PLATFORM}/mail",
        ),
        SetupStep(
            title=marked("Serve it by HTTPS"),
            text=marked(
                "Set GATEHOUSE_BASE_URL to an address that begins with https, behind a proxy that has its certificate."
            ),
            is_done=settings.base_url.startswith("https://"),
            action=marked("Settings"),
            address=f"{PLATFORM}/system/settings",
        ),
        SetupStep(
            title=marked("Make a backup"),
            text=marked("Run `gatehouse backup` each night, and keep the file elsewhere."),
            is_done=done.has_backup,
            action=marked("System"),
            address=f"{PLATFORM}/system",
        ),
    ]
    return [replace(one, text="", address="") if one.is_done else one for one in steps]


# A text, a number, whether it is exact beyond 10,000, and the address of its list, which may be empty.
LinkedNumber: TypeAlias = tuple[str, int, bool, str]


def numbers_of(found: PlatformNumbers) -> list[tuple[str, str, list[LinkedNumber]]]:
    """Return the groups of numbers: each with its id, its title and its numbers."""
    users: list[LinkedNumber] = []
    if found.figures is not None:
        users = [
            (marked("Users in use"), found.figures.active_users, True, f"{PLATFORM}/users"),
            (marked("Of them with a second factor"), found.figures.mfa_users, True, ""),
            (marked("New in the last 30 days"), found.new_users, False, f"{PLATFORM}/users"),
        ]
    return [
        ("users", marked("Users"), users),
        (
            "organizations",
            marked("Organizations"),
            [
                (text, found.organizations[status], False, f"{PLATFORM_ORGANIZATIONS}?status={status.value}")
                for status, text in _STATUSES.items()
            ],
        ),
        (
            "mails",
            marked("Outgoing mail"),
            [
                (text, found.mails[state], False, f"{PLATFORM}/mail?state={state.value}")
                for state, text in _STATES.items()
            ],
        ),
    ]
