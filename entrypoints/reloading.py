"""Reading the settings again while the server runs: it takes over some of them, and reports the others."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from typing import Final

import structlog

from entrypoints import equipment, exits
from entrypoints import settings as settings_module
from entrypoints.setting_kinds import variable_of
from entrypoints.settings import Settings

# What the process has taken at its start: its addresses, its folder and its database. A restart takes others.
FIXED: Final = ("bind", "metrics_bind", "data_dir", "dev")
RESTART_ADVICE: Final = "Restart the server; until then the value of its start holds."

log = structlog.get_logger(__name__)


def read_again(present: Settings) -> Settings | None:
    """Return the settings as they are now, with those of the start that only a restart changes.

    Return None, and log why, when they are wrong: then the present ones hold.
    """
    try:
        read = settings_module.load(settings_module.environment_with_file(os.environ))
        kept = {name: getattr(present, name) for name in FIXED}
        if read.is_embedded != present.is_embedded:
            kept["database_url"] = present.database_url
        _warn_of(kept, read)
        again = replace(read, **kept)
        equipment.require_settings(again)
    except exits.REFUSALS as refusal:
        log.error("reload.refused", reason=str(refusal))  # noqa: TRY400 - the sentence says it all
        return None
    return again


def _warn_of(kept: dict[str, object], read: Settings) -> None:
    for attribute in fields(read):
        if attribute.name in kept and kept[attribute.name] != getattr(read, attribute.name):
            log.warning("reload.not_applied", setting=variable_of(attribute), advice=RESTART_ADVICE)
