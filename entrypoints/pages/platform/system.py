"""The pages of the system: its checks, queues, the process that answers, signing keys and settings, each a tab."""

import os
import platform
from dataclasses import replace
from functools import partial
from typing import Any, Final

import trio
from quart import Response

from core.organizations.authorization import authorize_platform
from core.platform import system
from core.platform.console import PlatformStanding
from core.platform.system import SystemChecks
from entrypoints import settings as settings_module
from entrypoints.pages.console.frame import PLATFORM, Program, console_page, opened_for_platform
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page
from entrypoints.pages.frame.routes import platform_pages
from entrypoints.settings import Settings
from entrypoints.shared.platform import checks, late_work
from entrypoints.shared.platform.checks import Finding, Verdict
from entrypoints.web.serving.admission.credentials import platform_owner_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from ports.actors import BackgroundTaskState

routes: Routes = platform_pages()

# Of its own, so that a slow disk holds up no other work.
THREADS: Final = trio.CapacityLimiter(1)
SUBJECTS: Final = {
    "settings": marked("Settings"),
    "data folder": marked("Data folder"),
    "file descriptors": marked("Open files and connections"),
    "billing": marked("Billing"),
    "migrations": marked("Schema of the database"),
    "clock": marked("Clock"),
    "platform owner": marked("Platform owners"),
    "mail": marked("Mail"),
    "mails waiting": marked("Mails that wait"),
    "events": marked("Events"),
    "webhooks": marked("Webhooks"),
    "SIEM streams": marked("SIEM streams"),
    "payments": marked("Payments"),
    "jobs": marked("Jobs"),
    "background work": marked("Background work"),
    "audit seals": marked("Seals of audit logs"),
    "sign-in counts": marked("Counts of sign-ins"),
    "housekeeping": marked("Housekeeping"),
    "logs": marked("Months of the logs"),
}
# The badge of each verdict: its kind and its text.
VERDICTS: Final = {
    Verdict.OK: ("good", marked("OK")),
    Verdict.TRIAL: ("warning", marked("not for production")),
    Verdict.NOT_OK: ("bad", marked("not OK")),
}
ACTOR_STATES: Final = {
    BackgroundTaskState.STARTING: ("info", marked("starting")),
    BackgroundTaskState.RUNNING: ("good", marked("running")),
    BackgroundTaskState.BACKING_OFF: ("bad", marked("crashed, and is started again")),
    BackgroundTaskState.STOPPED: ("warning", marked("stopped")),
}
STANDS_STILL: Final = ("bad", marked("runs, and takes no messages"))
# By the state of the key.
KEY_STATES: Final = {
    "next": ("info", marked("signs next")),
    "active": ("good", marked("signs")),
    "retired": ("warning", marked("verifies only")),
}


SYSTEM: Final = f"{PLATFORM}/system"
TABS: Final = [
    (SYSTEM, marked("Checks"), None),
    (f"{SYSTEM}/queues", marked("Queues"), None),
    (f"{SYSTEM}/process", marked("Background tasks and database"), None),
    (f"{SYSTEM}/keys", marked("Signing keys"), None),
    (f"{SYSTEM}/settings", marked("Settings"), None),
]


async def checked(call: Call) -> tuple[PlatformStanding, list[Finding]]:
    """Return what the checks of the installation find that are quick and reach nothing but this machine."""
    installation = call.installation
    before = installation.machine_clock()
    standing, state = await opened_for_platform(
        call,
        system.read_checks,
        installation.billing.mode,
        installation.settings.kept_for,
        installation.settings.logs_kept_for,
    )
    now = installation.machine_clock()
    on_machine = await trio.to_thread.run_sync(partial(_of_machine, installation.settings), limiter=THREADS)
    return standing, [
        *on_machine,
        checks.migrations(newest=state.schema.newest, pending=state.schema.pending, ahead=state.schema.ahead),
        checks.clock(before, state.schema.database_time, now),
        *_of_people(installation.settings, state),
        *late_work.findings(state.late, installation.settings),
        *([] if (missing := late_work.log_months(state.late)) is None else [missing]),
    ]


@routes.get(SYSTEM)
@platform_owner_in_console
async def show_system(call: Call) -> Page:
    """Show what the checks of the installation find that are quick and reach nothing but this machine."""
    standing, findings = await checked(call)
    return _tab(
        call,
        "system",
        "",
        standing,
        findings=[(SUBJECTS[finding.subject], VERDICTS[finding.verdict], finding) for finding in findings],
    )


@routes.get(f"{SYSTEM}/queues")
@platform_owner_in_console
async def show_queues(call: Call) -> Page:
    """Show what waits in the installation."""
    standing, queues = await opened_for_platform(call, system.read_queues)
    return _tab(
        call, "system_queues", "/queues", standing, program="metrics_metrics", work=queues.work, figures=queues.figures
    )


@routes.get(f"{SYSTEM}/process")
@platform_owner_in_console
async def show_process(call: Call) -> Page:
    """Show the background tasks of the process that answers, and its database."""
    installation = call.installation
    standing, schema = await opened_for_platform(call, system.read_schema)
    return _tab(
        call,
        "system_process",
        "/process",
        standing,
        program="metrics_metrics",
        actors=[
            (
                report,
                STANDS_STILL if report.stands_still else ACTOR_STATES[report.state],
                late_work.age(report.oldest_seconds),
            )
            for report in installation.actors.reports()
        ],
        processes=installation.processes.number,
        pool=installation.pool.statistics() if installation.pool is not None else None,
        schema=schema,
    )


@routes.get(f"{SYSTEM}/keys")
@platform_owner_in_console
async def show_signing_keys(call: Call) -> Page:
    """Show the signing keys."""
    standing, keys = await opened_for_platform(call, system.read_keys)
    now = call.installation.machine_clock()
    shown = [(key, KEY_STATES[key.state.value], max((now - key.created_at).days, 0)) for key in keys]
    return _tab(call, "system_keys", "/keys", standing, program="signing_keys_jwks", keys=shown)


@routes.get(f"{SYSTEM}/settings")
@platform_owner_in_console
async def show_settings(call: Call) -> Page:
    """Show the settings as the process that answers read them, with masked secrets."""
    standing, _ = await opened_for_platform(call, authorize_platform)
    return _tab(
        call, "system_settings", "/settings", standing, settings=settings_module.rows(call.installation.settings)
    )


def _tab(
    call: Call, name: str, path: str, standing: PlatformStanding, *, program: str = "health_ready", **values: Any
) -> Response:
    return console_page(
        call,
        f"platform/{name}.html",
        standing,
        program=Program(program),
        python=platform.python_version(),
        worker=call.installation.worker,
        process_id=os.getpid(),
        tabs=TABS,
        here=SYSTEM + path,
        **values,
    )


def _of_machine(settings: Settings) -> list[Finding]:
    """Return what the checks of the settings and of this machine find; on a thread, because they read the disk."""
    return [
        checks.base_settings(settings),
        # Where everything is set, there may be none.
        *([checks.free_space(settings)] if settings.data_dir.exists() else []),
        checks.file_descriptors(),
        checks.billing(settings),
    ]


def _of_people(settings: Settings, state: SystemChecks) -> list[Finding]:
    owners = checks.platform_owners(settings, present=state.owners, without_factor=state.owners_without_factor)
    return [
        # The overview suggests it too; the operator's command only mentions it.
        replace(owners, is_for_production=owners.is_for_production and not state.owners_without_factor),
        checks.mail(settings),
    ]
