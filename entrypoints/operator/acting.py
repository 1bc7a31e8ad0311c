"""Who runs a command that changes data, as the platform's audit log names them."""

from __future__ import annotations

import os
import platform
import pwd
from typing import TYPE_CHECKING

from core.sessions.origins import Origin
from entrypoints.operator.terminal import printable

if TYPE_CHECKING:
    from entrypoints.installation import ConnectedInstallation
    from ports.database import Database

_NAME_CHARACTERS_MAX = 64


def database_for(connected: ConnectedInstallation, command: str) -> Database:
    """Return the database for a command, such as `users unlock`; audit entries name it and the account that ran it."""
    return connected.installation.database.on_behalf_of(Origin(user_agent=f"gatehouse {command} ({operator()})"))


def operator() -> str:
    """Return the account of this process and the name of its machine, such as `root@id-1`."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        # A container may run with an account that it does not know.
        name = str(os.getuid())
    return "@".join(printable(part)[:_NAME_CHARACTERS_MAX] for part in (name, platform.node()))
