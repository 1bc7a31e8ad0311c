"""A doctor whose findings are read, for the tests in this folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from entrypoints.deprecations import Deprecation
from entrypoints.operator import doctor
from entrypoints.settings import Settings


@dataclass(frozen=True)
class Finding:
    """The doctor's verdict on one subject."""

    verdict: str
    what: str
    advice: str = ""


@dataclass
class Doctor:
    """Examines an installation, and records the exit status."""

    settings: Settings
    status: int = 0
    summary: str = ""

    def examine(
        self,
        *,
        unknown: Sequence[str] = (),
        deprecated: Sequence[Deprecation] = (),
        mail_to: str | None = None,
        **changes: Any,
    ) -> dict[str, Finding]:
        """Examine everything with some settings changed, and return the findings by subject."""
        lines: list[str] = []
        self.status = doctor.examine(
            replace(self.settings, **changes),
            unknown_settings=unknown,
            deprecated=deprecated,
            mail_to=mail_to,
            report=lines.append,
        )
        findings: dict[str, Finding] = {}
        subject = ""
        *lines, empty, self.summary = lines
        assert empty == "", "the summary does not stand apart"
        for line in lines:
            verdict, what = line[:8].strip(), line[28:]
            if verdict:
                subject = line[8:28].strip()
                findings[subject] = Finding(verdict, what)
            else:
                findings[subject] = replace(findings[subject], advice=what)
        return findings
