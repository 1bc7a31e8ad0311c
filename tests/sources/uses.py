"""Which tests reach a definition: through names, imports and fixtures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tests.sources.reading import Described, Key, Module

_CONFTEST = "conftest.py"


class Uses:
    """The uses of definitions, by name; it may count too many, where a local name equals a definition's."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self.definitions: dict[Key, Described] = {}
        # What mentions a name of a module, what has a parameter of a name, and where a name is imported to.
        self._mentions: dict[Key, set[Key]] = defaultdict(set)
        self._with_argument: dict[str, set[Key]] = defaultdict(set)
        self._imported: dict[Key, set[Key]] = defaultdict(set)
        for module in modules:
            for name, definition in module.definitions.items():
                self.definitions[module.path, name] = definition
                for mentioned in definition.mentions:
                    self._mentions[module.path, mentioned].add((module.path, name))
                for argument in definition.arguments:
                    self._with_argument[argument].add((module.path, name))
            for own, key in module.imports.items():
                self._imported[key].add((module.path, own))

    def tests_of(self, key: Key) -> set[Key]:
        """Return the tests that reach a definition, which may be one itself."""
        reached = self._reach({key}, only_fixtures=False)
        return {one for one in reached if one in self.definitions and self.definitions[one].is_test}

    def with_fixture(self, *names: str) -> set[Key]:
        """Return the definitions that have one of the fixtures, or a fixture that has it."""
        return self._reach({key for name in names for key in self._with_argument[name]}, only_fixtures=True)

    def _reach(self, keys: set[Key], *, only_fixtures: bool) -> set[Key]:
        reached: set[Key] = set()
        waiting = list(keys)
        while waiting:
            key = waiting.pop()
            if key not in reached:
                reached.add(key)
                waiting += self._users_of_fixture(key)
                if not only_fixtures:
                    waiting += self._mentions[key] | self._imported[key]
        return reached

    def _users_of_fixture(self, key: Key) -> set[Key]:
        path, name = key
        definition = self.definitions.get(key)
        if definition is not None and not definition.is_fixture:
            return set()
        # A fixture of `conftest.py`, or imported there, is for its folder; any other one for the modules that name it.
        scope = path.removesuffix(_CONFTEST) if path.endswith(f"/{_CONFTEST}") else path
        return {user for user in self._with_argument[name] if user[0].startswith(scope)} | self._imported[key]
