"""What `gatehouse doctor` prints: a line for each check, with its advice below, and at the end what to do next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from entrypoints.operator.terminal import Color, colored, printable
from entrypoints.shared.platform.checks import Finding, Verdict

ADVICE_COLUMN: Final = 28
_VERDICT_COLUMNS: Final = 8
_SUBJECT_COLUMNS: Final = 20
_COLORS: Final = {Verdict.OK: Color.GREEN, Verdict.TRIAL: Color.YELLOW, Verdict.NOT_OK: Color.RED}


def print_findings(findings: Iterable[Finding], *, report: Callable[[str], None], has_colors: bool) -> int:
    """Print each finding as soon as it is there, and the summary; return the exit status."""
    found: list[Finding] = []
    for finding in findings:
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
