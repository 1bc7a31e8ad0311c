"""The file of settings that `GATEHOUSE_SETTINGS_FILE` names, which a running server can read again.

The environment of a process does not change, so settings that are to change without a restart stand in a file: a line
`NAME=value` for each, with or without quotes around the value. It takes the place of the variable of that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from entrypoints.refusals import CannotStart
from entrypoints.setting_kinds import PREFIX

SETTINGS_FILE: Final = f"{PREFIX}SETTINGS_FILE"
_QUOTES: Final = frozenset({'"', "'"})


def with_file(environment: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment with the settings of the file that it names; raise `CannotStart` when that is wrong."""
    file = environment.get(SETTINGS_FILE, "").strip()
    if not file:
        return environment
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise CannotStart(f"{SETTINGS_FILE} names {file}, which cannot be read: {error.strerror}.") from None
    except ValueError:
        raise CannotStart(f"{SETTINGS_FILE} names {file}, which is not text in UTF-8.") from None
    return {**environment, **_settings(text, file)}


def _settings(text: str, file: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), start=1):
        if not line or line[0] in "#;":
            continue
        name, is_setting, value = line.partition("=")
        name, value = name.rstrip(), value.lstrip()
        if not is_setting or not name.startswith(PREFIX) or name == SETTINGS_FILE:
            raise CannotStart(f"Line {number} of {file} is no setting. A line is {PREFIX}NAME=value.")
        if len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES:
            value = value[1:-1]
        found[name] = value
    return found
