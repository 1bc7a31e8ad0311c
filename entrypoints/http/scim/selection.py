"""The attributes of a resource that a request wants to have answered (RFC 7644, 3.9)."""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import msgspec

from core.scim.user_filters import USER_SCHEMA
from entrypoints.http.scim.dialect import GROUP_SCHEMA
from entrypoints.web.input.decoding import Query

# Returned whatever the request names.
ALWAYS_ANSWERED: Final = frozenset({"schemas", "id"})
_RESOURCES: Final = "Resources"
_PREFIXES: Final = tuple(f"{schema.lower()}:" for schema in (USER_SCHEMA, GROUP_SCHEMA))

Resource = TypeVar("Resource", bound=msgspec.Struct)


class Selection(Query, kw_only=True, rename="camel"):
    """What of a resource to answer: lists of attributes, as in `userName,name.givenName`."""

    attributes: str | None = None
    excluded_attributes: str | None = None

    def of(self, resource: Resource) -> Resource:
        """Return a resource or a list of resources with the attributes that are wanted, or as it is."""
        wanted, unwanted = _names(self.attributes), _names(self.excluded_attributes)
        if not (wanted or unwanted):
            return resource
        # What is encoded already has the wanted parts alone (`of_element`).
        answer = msgspec.to_builtins(resource, builtin_types=[msgspec.Raw])
        if _RESOURCES in answer:
            parts = [_part_of(one, wanted, unwanted) for one in answer[_RESOURCES]]
            return cast("Resource", answer | {_RESOURCES: parts})
        # It encodes as the resource does, apart from the attributes that are left out.
        return cast("Resource", _part_of(answer, wanted, unwanted))

    def of_element(self, attribute: str, element: msgspec.Struct) -> Any:
        """Return the wanted parts of an element of an attribute that is a list."""
        wanted, unwanted = _names(self.attributes), _names(self.excluded_attributes)
        return _part_of({attribute: msgspec.to_builtins(element)}, wanted, unwanted)[attribute]

    def has(self, attribute: str) -> bool:
        """Return whether the answer has an attribute; if not, it need not be read."""
        wanted = _names(self.attributes)
        is_wanted = not wanted or any(name.partition(".")[0] == attribute for name in wanted)
        return is_wanted and attribute not in _names(self.excluded_attributes)


def _names(text: str | None) -> frozenset[str]:
    """Return the names of attributes in a list, in lower case and without the schema."""
    names = (name.strip().lower() for name in (text or "").split(","))
    return frozenset(_without_schema(name) for name in names if name)


def _without_schema(name: str) -> str:
    return next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)


def _part_of(resource: dict[str, Any], wanted: frozenset[str], unwanted: frozenset[str]) -> dict[str, Any]:
    """Return the attributes of a resource that are requested (RFC 7644, 3.9)."""
    part: dict[str, Any] = {}
    for name, value in resource.items():
        key = name.lower()
        if name in ALWAYS_ANSWERED or (key in wanted and key not in unwanted):
            part[name] = value if name in ALWAYS_ANSWERED else _without(value, _subs(key, unwanted))
        elif key in unwanted:
            continue
        elif not wanted:
            part[name] = _without(value, _subs(key, unwanted))
        elif subs := _subs(key, wanted):
            part[name] = _only(value, subs)
    return part


def _subs(key: str, names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.removeprefix(f"{key}.") for name in names if name.startswith(f"{key}."))


def _without(value: Any, subs: frozenset[str]) -> Any:
    return _filtered(value, lambda name: name.lower() not in subs) if subs else value


def _only(value: Any, subs: frozenset[str]) -> Any:
    return _filtered(value, lambda name: name.lower() in subs)


def _filtered(value: Any, keeps: Callable[[str], bool]) -> Any:
    if isinstance(value, list):
        return [_filtered(element, keeps) for element in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: part for name, part in cast("dict[str, Any]", value).items() if keeps(name)}
    return value
