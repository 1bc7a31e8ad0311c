"""What `gatehouse doctor` prints: a line for each check, with its advice below, and at the end what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from entrypoints.operator.terminal import Color, colored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ADVICE_COLUMN: Final = 28
_VERDICT_COLUMNS: Final = 8
_SUBJECT_COLUMNS: Final = 20


class Verdict(Enum):
    """What a check says: its word in the output, its colour, and the exit status when there is nothing worse.

    The shell and the parser of arguments use the status 2.
    """

    OK = ("ok", Color.GREEN, 0)
    TRIAL = ("TRIAL", Color.YELLOW, 3)  # it works, but not for production
    NOT_OK = ("NOT OK", Color.RED, 1)

    word: str
    color: Color
    exit_status: int

    def __new__(cls, word: str, color: Color, exit_status: int) -> Verdict:
        """Create a verdict, known by its word."""
        member = object.__new__(cls)
        member._value_ = word
        member.word = word
        member.color = color
        member.exit_status = exit_status
        return member


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; `advice` is what to do when it is not OK, or what is worth knowing."""

    subject: str
    is_ok: bool
    what: str
    advice: str = ""
    is_for_production: bool = True

    @property
    def verdict(self) -> Verdict:
        """What the check says: that it works counts more than what it works for."""
        if not self.is_ok:
            return Verdict.NOT_OK
        return Verdict.OK if self.is_for_production else Verdict.TRIAL


def print_findings(findings: Iterable[Finding], *, report: Callable[[str], None], has_colors: bool) -> int:
    """Print each finding as soon as it is there, and the summary; return the exit status."""
    found: list[Finding] = []
    for finding in findings:
        found.append(finding)
        verdict = finding.verdict
        word = colored(verdict.word, verdict.color) if has_colors else verdict.word
        # Padded by itself: the codes of a colour are no columns.
        padding = " " * (_VERDICT_COLUMNS - len(verdict.word))
        report(f"{word}{padding}{finding.subject:<{_SUBJECT_COLUMNS}}{finding.what}")
        if finding.advice:
            report(f"{'':<{ADVICE_COLUMN}}{finding.advice}")
    verdict = _worst(found)
    sentence = _summary(verdict, found)
    report("")
    report(colored(sentence, verdict.color) if has_colors else sentence)
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
