"""The programs of others that are connected by name: another one is an entry in the module of its family."""

from collections.abc import Mapping
from typing import Final

from entrypoints.pages.console.recipes import (
    data_tools,
    infrastructure,
    javascript_libraries,
    portals,
    python_libraries,
    teamwork,
)
from entrypoints.pages.console.recipes.recipe import Recipe

# In the order of their names, as people look for them.
RECIPES: Final[Mapping[str, Recipe]] = {
    recipe.word: recipe
    for recipe in sorted(
        (
            *data_tools.RECIPES,
            *teamwork.RECIPES,
            *infrastructure.RECIPES,
            *python_libraries.RECIPES,
            *javascript_libraries.RECIPES,
            *portals.RECIPES,
        ),
        key=lambda recipe: recipe.name.lower(),
    )
}
