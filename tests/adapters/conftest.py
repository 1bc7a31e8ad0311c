"""A builder of rows and a name server, for the tests in this folder."""

from tests.world.fixtures import builder, names

__all__ = ["builder", "names"]
