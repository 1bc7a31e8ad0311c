"""What a takeover set, read from the entries of audit logs, and the settings without it.

What was added goes, and a replaced value becomes the one of before, unless another person has changed it since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from enum import StrEnum
from typing import Any, Final, TypeVar, cast
from uuid import UUID

from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations.takeovers import Act, MadeThing
from core.services.services import Admission, CustomerPolicy, Individuals, ServiceRole, ServiceType
from core.sessions.group_forms import GroupsAs
from core.sessions.security_profiles import SecurityProfile, SignatureAlgorithm

_ENUMERATIONS: Final[Mapping[str, Callable[[str], Any]]] = {
    "security_profile": SecurityProfile,
    "customers": CustomerPolicy,
    "individuals": Individuals,
    "access": Admission,
    "groups_as": GroupsAs,
    "token_signing": SignatureAlgorithm,
    "service_type": ServiceType,
}
# The field by which the objects of a list are recognized, so that one of before is found again.
_KEYS: Final[Mapping[str, str]] = {"scopes": "name", "claims": "claim"}
_Settings = TypeVar("_Settings")


@dataclass(frozen=True, slots=True)
class ChangedField:
    """What the takeover did to a field: its value before, the last one that it set, and what it added to a list."""

    before: object
    after: object
    added: Sequence[object]


def made(kind: str, organization_id: UUID, target_id: UUID, label: str) -> MadeThing:
    """Return a thing that has fallen back; the entry about it names no further details."""
    return MadeThing(kind=kind, organization_id=organization_id, id=target_id, label=label, recorded={})


def of_actions(acts: Iterable[Act], *actions: AuditAction) -> Iterable[Act]:
    """Return the acts that are one of these actions."""
    wanted = {action.value for action in actions}
    return (act for act in acts if act.action in wanted)


def by_target(acts: Iterable[Act], *actions: AuditAction) -> Mapping[tuple[UUID, str], Sequence[Act]]:
    """Return what was done to each target, in the order of targets, so that all transactions change them in one."""
    found: dict[tuple[UUID, str], list[Act]] = {}
    for act in of_actions(acts, *actions):
        found.setdefault((act.organization_id, act.target_id), []).append(act)
    return dict(sorted(found.items()))


def changes_of(acts: Iterable[Act], fields: Mapping[str, Any]) -> Mapping[str, ChangedField]:
    """Return what these acts did to the fields, in the form of audit entries."""
    found: dict[str, ChangedField] = {}
    for act in acts:
        changes: Mapping[str, Mapping[str, Any]] = act.details.get("changes", {})
        for name, change in changes.items():
            if name not in fields:
                continue
            old, new = change["from"], change["to"]
            known = found.get(name)
            # A value that another person has set in between is the value of before.
            before = known.before if known is not None and known.after == old else old
            more = [one for one in _list(new) if one not in _list(old) and one not in _list(before)]
            found[name] = ChangedField(
                before=before, after=new, added=[*(known.added if known is not None else ()), *more]
            )
    return found


def fallen(settings: _Settings, changes: Mapping[str, ChangedField]) -> _Settings:
    """Return settings without what was added, and with the values of before where the takeover set the present ones."""
    values: dict[str, Any] = {}
    for name, change in changes.items():
        present = getattr(settings, name)
        if isinstance(present, list):
            found = [_of_before(name, one, change) for one in cast("list[object]", present)]
            kept = [one for one in found if one is not None]
            if kept != present:
                values[name] = kept
        elif _shown(present) == change.after:
            values[name] = _stored(name, change.before, present)
    return replace(cast("Any", settings), **values)


def with_scopes_of_before(roles: Sequence[ServiceRole], change: ChangedField | None) -> list[ServiceRole]:
    """Return roles without the scopes that the takeover let them list."""
    if change is None:
        return list(roles)
    before, after = (
        {one["name"]: one.get("scopes", []) for one in cast("Any", of)} for of in (change.before, change.after)
    )
    return [
        replace(role, scopes=before.get(role.name, [])) if after.get(role.name) == role.scopes else role
        for role in roles
    ]


def _of_before(name: str, one: object, change: ChangedField) -> object | None:
    """Return an item of a list as it was before the takeover; None for one that was not there."""
    if _shown(one) not in change.added:
        return one
    key = _KEYS.get(name)
    named = getattr(one, key) if key is not None else None
    before = next((old for old in _list(change.before) if key and cast("dict[str, Any]", old)[key] == named), None)
    return type(one)(**cast("dict[str, Any]", before)) if before is not None else None


def _stored(name: str, before: object, present: object) -> object:
    """Return the value of before, which an audit entry names by its text."""
    if not isinstance(before, str):
        return before
    if name in _ENUMERATIONS:
        return _ENUMERATIONS[name](before)
    # An enumeration of another area.
    return type(present)(before) if isinstance(present, StrEnum) else before


def _shown(value: object) -> object:
    """Return a value in the form of an audit entry."""
    if isinstance(value, UUID):
        return str(value)
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
