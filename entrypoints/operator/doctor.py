"""`gatehouse doctor`: checks what Gatehouse depends on, with advice for what is not OK.

It prints a line for each check, with its advice below, and at the end what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Final

import trio

from entrypoints import database, exits
from entrypoints.deprecations import Deprecation
from entrypoints.operator import database_checks, dependency_checks, server_checks, setting_checks
from entrypoints.operator.terminal import Color, colored, printable
from entrypoints.settings import Settings
from entrypoints.shared.platform import checks
from entrypoints.shared.platform.checks import Finding, Verdict

FULL_DISK_ADVICE: Final = "See ops/runbooks/database-outage.md, The disk of PostgreSQL is full."
ADVICE_COLUMN: Final = 28
_VERDICT_COLUMNS: Final = 8
_SUBJECT_COLUMNS: Final = 20
_COLORS: Final = {Verdict.OK: Color.GREEN, Verdict.TRIAL: Color.YELLOW, Verdict.NOT_OK: Color.RED}


def examine(
    settings: Settings,
    *,
    unknown_settings: Sequence[str],
    deprecated: Sequence[Deprecation],
    mail_to: str | None,
    report: Callable[[str], None],
    has_colors: bool = False,
) -> int:
    """Print what each check has found, and what to do next; return the exit status of the worst verdict."""
    found: list[Finding] = []
    for finding in _findings(settings, unknown_settings, deprecated, mail_to):
        found.append(finding)
        verdict = finding.verdict
        word = colored(verdict.word, _COLORS[verdict]) if has_colors else verdict.word
        # Padded by itself: the codes of a colour are no columns.
        padding = " " * (_VERDICT_COLUMNS - len(verdict.word))
        # Some texts quote what servers of others have answered.
        report(f"{word}{padding}{finding.subject:<{_SUBJECT_COLUMNS}}{printable(finding.what)}")
        if finding.advice:
            report(f"{'':<{ADVICE_COLUMN}}{finding.advice}")
    verdict = _worst(found)
    sentence = _summary(verdict, found)
    report("")
    report(colored(sentence, _COLORS[verdict]) if has_colors else sentence)
    return verdict.exit_status


def _findings(
    settings: Settings, unknown_settings: Sequence[str], deprecated: Sequence[Deprecation], mail_to: str | None
) -> Iterator[Finding]:
    yield setting_checks.version()
    wrong = list(setting_checks.mail_server(settings))
    with ThreadPoolExecutor(max_workers=1) as thread:
        # Meanwhile this machine is looked at.
        asked = thread.submit(trio.run, partial(dependency_checks.findings, settings, has_mail_server=not wrong))
        yield checks.base_settings(settings, unknown_settings)
        yield setting_checks.deprecations(deprecated)
        yield from _of_this_machine(settings)
        mail, others = asked.result()
    if settings.geoip_db is not None:
        geoip = setting_checks.geoip(settings)
        yield geoip
        # The other checks can run without it.
        settings = settings if geoip.is_ok else replace(settings, geoip_db=None)
    if any(finding.subject == dependency_checks.BREACHED and not finding.is_ok for finding in others):
        # The other checks can run without it.
        settings = replace(settings, breached_passwords=None)
    brand = setting_checks.brand(settings)
    yield brand
    settings = settings if brand.is_ok else replace(settings, logo=None)
    required = [setting_checks.master_key(settings), *wrong]
    yield from required
    # A test mail says more of a server that answers.
    mail_to = mail_to if mail is not None and mail.is_ok and settings.smtp_url is not None else None
    if mail is not None and mail_to is None:
        yield mail
    yield from others
    yield from _of_database(settings, mail_to, has_requirements=all(finding.is_ok for finding in required))


def _of_this_machine(settings: Settings) -> Iterator[Finding]:
    yield setting_checks.data_folder(settings)
    yield checks.file_descriptors()
    yield setting_checks.password_hashing()
    yield setting_checks.passwords(settings)
    yield checks.billing(settings)


def _of_database(settings: Settings, mail_to: str | None, *, has_requirements: bool) -> Iterator[Finding]:
    try:
        with exits.ungrouped_errors(), database.address_of(settings) as address:
            plan = database.migration_plan(address)
            is_direct = database.session_address(settings, address) == address
            how = "connected" if is_direct else "connected by a pooler in transaction mode"
            if (problem := database.writing_problem(address)) is not None:
                yield Finding("database", False, problem, FULL_DISK_ADVICE)
            else:
                yield Finding("database", True, "embedded" if settings.is_embedded else how)
            if not settings.is_embedded:
                facts = database.facts_of_server(address)
                yield from server_checks.findings(facts, pool_size=settings.database_connections)
            if settings.database_listen_url is not None:
                yield database_checks.listening(database.listening_problem(settings, address))
            yield checks.migrations(
                newest=str(plan.applied[-1]) if plan.applied else "", pending=len(plan.pending), ahead=len(plan.ahead)
            )
            if not plan.pending:
                yield from database_checks.replicas(database.replica_reports(settings, address))
                yield database_checks.addresses(database.accounts_without_canonical_address(address))
                yield from database_checks.connections(database.connections_with_changed_issuer(address))
            if not plan.pending and has_requirements:
                yield from trio.run(partial(database_checks.connected_findings, settings, address, mail_to))
    except exits.REFUSALS as refusal:
        yield Finding("database", False, str(refusal), "The checks that need the database were skipped.")


def _worst(found: Sequence[Finding]) -> Verdict:
    verdicts = {finding.verdict for finding in found}
    return next(
        verdict for verdict in (Verdict.NOT_OK, Verdict.TRIAL, Verdict.OK) if verdict in {*verdicts, Verdict.OK}
    )


def _summary(verdict: Verdict, found: Sequence[Finding]) -> str:
    # A subject that has several findings is named once.
    subjects = ", ".join(dict.fromkeys(finding.subject for finding in found if finding.verdict is verdict))
    if verdict is Verdict.NOT_OK:
        return f"Not OK: {subjects}. Do what stands below these lines, and run `gatehouse doctor` again."
    if verdict is Verdict.TRIAL:
        return f"It works, but not for production: {subjects}. See to these before people depend on it."
    return "Everything is OK. There is nothing to do."
