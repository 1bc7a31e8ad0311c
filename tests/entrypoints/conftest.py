"""Processes and a name server, for the tests in this folder."""

from tests.processes import commands, commands_here, embedded_commands, embedded_services, services
from tests.world.fixtures import names

__all__ = ["commands", "commands_here", "embedded_commands", "embedded_services", "names", "services"]
