"""The answers to OWASP ASVS 5.0, level 2: reads `asvs.toml`, checks it, and writes `ops/docs/security/asvs.md`.

    .venv/bin/python -m ops.security.asvs

An answer is one of four: tests that prove the requirement, code or documents that fulfil it, why it does not apply, or
what is missing. The words of the requirements are ours; the numbers are the standard's.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from ops.security.asvs_levels import CHAPTERS, LEVELS
from ops.security.names import ROOT, is_test

SOURCE: Final = ROOT / "ops" / "security" / "asvs.toml"
PAGE: Final = ROOT / "ops" / "docs" / "security" / "asvs.md"
TESTS_MAX: Final = 3
KINDS: Final = {"tests": "tested", "code": "in code", "not_applicable": "does not apply", "gap": "gap"}
FIELDS: Final = {"level", "asks", "note", *KINDS}

INTRODUCTION: Final = """\
# OWASP ASVS 5.0, level 2

For security reviewers: what Gatehouse answers to each requirement of levels 1 and 2.

The numbers are those of the [OWASP Application Security Verification Standard 5.0.0](https://github.com/OWASP/ASVS/tree/v5.0.0);
the requirements are told in our own words, so read the standard for its full text. This is our own assessment, and no
certificate. An answer is one of four:

- **tested**: the tests that are named prove it. They run with every change, some of them in turn.
- **in code**: the files or pages that are named do it, without a test that proves all of it.
- **does not apply**: Gatehouse has nothing that is meant.
- **gap**: it is not done, or not completely. The row says what is missing.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One requirement in our words, and what Gatehouse answers to it.

    `tests` are names of tests as pytest takes them, `code` the files with a half-sentence on each, `not_applicable` and
    `gap` are reasons.
    """

    number: str
    fields: dict[str, Any]

    @property
    def chapter(self) -> int:
        return int(self.number.partition(".")[0])

    @property
    def kind(self) -> str:
        [kind] = (kind for kind in KINDS if kind in self.fields)
        return kind

    @property
    def tests(self) -> list[str]:
        return self.fields.get("tests", [])

    @property
    def code(self) -> dict[str, str]:
        return self.fields.get("code", {})


def read(text: str) -> list[Answer]:
    """Return the answers of a source, in its order."""
    return [
        Answer(number=f"{chapter}.{section}.{number}", fields=fields)
        for chapter, sections in tomllib.loads(text).items()
        for section, numbers in sections.items()
        for number, fields in numbers.items()
    ]


def problems(answers: list[Answer]) -> list[str]:
    """Return what is wrong with the answers: each begins with the number of its requirement."""
    numbers = [answer.number for answer in answers]
    found = [f"{number}: has no answer" for number in LEVELS if number not in numbers]
    found += [f"{number}: is no requirement of levels 1 and 2" for number in numbers if number not in LEVELS]
    order = [number for number in LEVELS if number in numbers]
    misplaced = next((number for number, rightly in zip(numbers, order, strict=False) if number != rightly), None)
    if misplaced is not None and not found:
        found.append(f"{misplaced}: does not stand in the order of the numbers")
    return found + [f"{answer.number}: {problem}" for answer in answers for problem in _problems_of(answer)]


def _problems_of(answer: Answer) -> list[str]:
    fields = answer.fields
    found = [f"has the unknown field {name}" for name in fields if name not in FIELDS]
    if fields.get("level") != LEVELS.get(answer.number):
        found.append(f"is of level {LEVELS.get(answer.number)}, not {fields.get('level')}")
    if not fields.get("asks"):
        found.append("lacks `asks`")
    kinds = [kind for kind in KINDS if kind in fields]
    if len(kinds) > 1:
        found.append(f"has more than one answer: {', '.join(kinds)}")
    elif not any(fields[kind] for kind in kinds):
        found.append(f"has no answer of: {', '.join(KINDS)}")
    if len(answer.tests) > TESTS_MAX:
        found.append(f"names more than {TESTS_MAX} tests")
    found += [f"the test {test} does not exist" for test in answer.tests if not is_test(test)]
    found += [f"the file {path} does not exist" for path in answer.code if not (ROOT / path).is_file()]
    found += [f"the file {path} has no half-sentence" for path, what in answer.code.items() if not what]
    return found


def page(answers: list[Answer]) -> str:
    """Return the page of the manual."""
    parts = [INTRODUCTION, _counts(answers), _gaps(answers)]
    for chapter, title in CHAPTERS.items():
        of_chapter = [answer for answer in answers if answer.chapter == chapter]
        if of_chapter:
            rows = "\n".join(_row(answer) for answer in of_chapter)
            parts.append(
                f"## V{chapter} {title}\n\n| Number | Level | What is asked | Answer |\n|---|---|---|---|\n{rows}\n"
            )
    return "\n".join(parts)


def _counts(answers: list[Answer]) -> str:
    lines = [f"| Chapter | {' | '.join(KINDS.values())} | all |", f"|---|{'---|' * (len(KINDS) + 1)}"]
    for chapter, title in CHAPTERS.items():
        name = f"V{chapter} {title}"
        anchor = name.lower().replace(" ", "-")
        lines.append(_count(f"[{name}](#{anchor})", [answer for answer in answers if answer.chapter == chapter]))
    lines.append(_count("**All**", answers))
    return "\n".join(lines) + "\n"


def _gaps(answers: list[Answer]) -> str:
    lines = [
        f"Gaps of level {level}: "
        + ", ".join(answer.number for answer in answers if answer.kind == "gap" and answer.fields["level"] == level)
        for level in sorted(set(LEVELS.values()))
    ]
    return ".<br>\n".join(lines) + ".\n"


def _count(name: str, answers: list[Answer]) -> str:
    counted = Counter(answer.kind for answer in answers)
    return f"| {name} | {' | '.join(str(counted[kind]) for kind in KINDS)} | {len(answers)} |"


def _row(answer: Answer) -> str:
    fields = answer.fields
    match answer.kind:
        case "tests":
            shown = "<br>".join(
                f"[`{test.rpartition('::')[2]}`]({_link(test.partition('::')[0])})" for test in answer.tests
            )
        case "code":
            shown = "<br>".join(f"[`{path}`]({_link(path)}): {what}" for path, what in answer.code.items())
        case "not_applicable":
            shown = f"Does not apply: {fields['not_applicable']}"
        case _:
            shown = f"**Gap**: {fields['gap']}"
    note = f"<br>{fields['note']}" if "note" in fields else ""
    cells = (answer.number, str(fields["level"]), fields["asks"], shown + note)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _link(path: str) -> str:
    return f"../../../{path}"


def main() -> int:
    """Write the page, or say what is wrong with the source; return the exit status."""
    answers = read(SOURCE.read_text())
    if found := problems(answers):
        print("\n".join(found), file=sys.stderr)
        return 1
    PAGE.write_text(page(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
