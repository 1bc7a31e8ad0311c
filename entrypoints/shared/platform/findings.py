"""The findings of checks of the installation: for `gatehouse doctor`, and for the page of the system."""

from __future__ import annotations

from enum import Enum

from core.lazy_dataclasses import dataclass


class Verdict(Enum):
    """The result of a check: its word in the output, and the exit status when there is nothing worse.

    The shell and the parser of arguments use the status 2.
    """

    OK = ("ok", 0)
    TRIAL = ("TRIAL", 3)  # it works, but not for production
    NOT_OK = ("NOT OK", 1)

    word: str
    exit_status: int

    def __new__(cls, word: str, exit_status: int) -> Verdict:
        """Create a verdict, known by its word."""
        member = object.__new__(cls)
        member._value_ = word
        member.word = word
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
        """The word for the result: whether it is OK counts before what it is good for."""
        if not self.is_ok:
            return Verdict.NOT_OK
        return Verdict.OK if self.is_for_production else Verdict.TRIAL
