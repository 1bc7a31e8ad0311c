"""A builder of rows, for the tests in this folder."""

from tests.world.fixtures import builder

__all__ = ["builder"]
