"""The attributes of a resource that a request wants to have answered (RFC 7644, 3.9)."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

import msgspec

from core.errors import BadRequest
from core.scim.user_filters import USER_SCHEMA
from entrypoints.http.scim.dialect import GROUP_SCHEMA
from entrypoints.web.input.decoding import Query

# In one list; a resource has some twenty.
NAMES_MAX: Final = 200
# Returned whatever the request names.
ALWAYS_ANSWERED: Final = frozenset({"schemas", "id"})
_RESOURCES: Final = "Resources"
_PREFIXES: Final = tuple(f"{schema.lower()}:" for schema in (USER_SCHEMA, GROUP_SCHEMA))

Resource = TypeVar("Resource", bound=msgspec.Struct)


class Selection(Query, kw_only=True, rename="camel"):
    """What of a resource to answer: lists of attributes, as in `userName,name.givenName`."""

    attributes: str | None = None
    excluded_attributes: str | None = None

    def __post_init__(self) -> None:
        for name, text in (("attributes", self.attributes), ("excludedAttributes", self.excluded_attributes)):
            if text is not None and text.count(",") >= NAMES_MAX:
                raise BadRequest.of_field(name, f"Name at most {NAMES_MAX} attributes.")

    def of(self, resource: Resource) -> Resource:
        """Return a resource or a list of resources with the attributes that are wanted, or as it is."""
        if not (_names(self.attributes) or _names(self.excluded_attributes)):
            return resource
        wanted, unwanted = _Named(self.attributes), _Named(self.excluded_attributes)
        # What is encoded already has the wanted parts alone (`of_element`).
        answer = msgspec.to_builtins(resource, builtin_types=[msgspec.Raw])
        if _RESOURCES in answer:
            parts = [_part_of(one, wanted, unwanted) for one in answer[_RESOURCES]]
            return cast("Resource", answer | {_RESOURCES: parts})
        # It encodes as the resource does, apart from the attributes that are left out.
        return cast("Resource", _part_of(answer, wanted, unwanted))

    def of_element(self, attribute: str, element: msgspec.Struct) -> Any:
        """Return the wanted parts of an element of an attribute that is a list."""
        wanted, unwanted = _Named(self.attributes), _Named(self.excluded_attributes)
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


class _Named:
    """The attributes in a list, read once for all resources: their names, and of which parts each is named with."""

    def __init__(self, text: str | None) -> None:
        self.names = _names(text)
        self._parts: dict[str, set[str]] = {}
        for name in self.names:
            attribute, dot, part = name.partition(".")
            if dot:
                self._parts.setdefault(attribute, set()).add(part)

    def parts_of(self, attribute: str) -> frozenset[str]:
        """Return the parts of an attribute that are named."""
        return frozenset(self._parts.get(attribute, ()))


def _part_of(resource: Mapping[str, Any], wanted: _Named, unwanted: _Named) -> dict[str, Any]:
    """Return the attributes of a resource that are requested (RFC 7644, 3.9)."""
    part: dict[str, Any] = {}
    for name, value in resource.items():
        key = name.lower()
        if name in ALWAYS_ANSWERED:
            part[name] = value
        elif key in unwanted.names:
            continue
        elif not wanted.names or key in wanted.names:
            part[name] = _without(value, unwanted.parts_of(key))
        elif parts := wanted.parts_of(key):
            part[name] = _only(value, parts)
    return part


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
