"""The entries of an audit log for pages: actor, action and target in words, and each change with its old value.

The log of an organization, the log of the platform and the page of a person share this.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast
from uuid import UUID

from core.audit.audit_log import IMPERSONATION_SESSION, IMPERSONATOR, ORGANIZATION_KEY, SYSTEM_ID, FoundEntry
from core.audit.browser import API_KEY, NAMED_DETAILS, SCIM_TOKEN, EntryNames
from core.events.actions import AuditAction, PlatformAction, TargetType
from core.lazy_dataclasses import dataclass
from entrypoints.pages.console.audit_details import FIELDS, NO, PLATFORM_FIELDS, VALUES, YES
from entrypoints.pages.events.actions import (
    ACTIONS,
    CHANGES,
    PARTS,
    PLATFORM_ACTIONS,
    SETUP_LINKS,
    STATUSES,
    TARGET_TYPES,
    UNDONE,
)

# Details that say who did it, and stand there.
_OF_ACTOR: Final = frozenset(
    {IMPERSONATOR, IMPERSONATION_SESSION, ORGANIZATION_KEY, "organization_key_name", SCIM_TOKEN}
)
# Details that name the target, the most telling first.
_NAMES_OF_PERSON: Final = ("invited_email", "email")
_NAMES_OF_TARGET: Final = (
    *(*_NAMES_OF_PERSON, "service_name", "organization_name", "organization_slug", "plan_name", "name", "domain"),
    *("slug", "service_slug", "recipient"),
)
# The detail that is an object, whose parts are shown as fields.
_SETUP_LINK: Final = "setup_link"
# Details that name files by their hashes.
_FILES: Final = frozenset({"icon", "logo"})
# Values that the words of the entry say.
_SAID: Final[Mapping[str, Mapping[str, str]]] = {"change": CHANGES, f"{_SETUP_LINK}.action": SETUP_LINKS}
# Of what an entry of the list says, so much is shown.
_BRIEF_MAX: Final = 2
VALUE_CHARACTERS_MAX: Final = 400
JSON_CHARACTERS_MAX: Final = 12_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownActor:
    """Who did it: the kind, with an address or a name where there is one, and what to search for."""

    kind: str
    name: str
    search: str
    impersonator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownValue:
    """A value as text, which is translated if it is one of our words; `id` is the id of what it names, or empty."""

    text: str
    is_word: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A field that was changed, with both values; or a fact, whose `before` is None.

    `words` are empty where the field has none, because a later version has written it.
    """

    field: str
    words: str
    before: ShownValue | None
    after: ShownValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """A row of the list, and the begin of a page of one entry."""

    id: UUID
    at: datetime
    what: str
    action: str
    is_failed: bool
    actor: ShownActor
    target_type: str
    target: str
    target_id: str
    ip_address: str | None
    user_agent: str | None
    request_id: str | None
    position: int | None
    # The organization that the platform's entry concerns, if there is one.
    organization: str
    comparisons: Sequence[Comparison]

    @property
    def target_name(self) -> str:
        """The name of the target; empty for one that has an id alone."""
        return "" if self.target == self.target_id else self.target

    @property
    def brief(self) -> Sequence[Comparison]:
        """What the list says of it: neither ids and files nor what the row has already."""
        told = [one for one in self.comparisons if one.field not in _FILES]
        return [one for one in told if one.before is not None or one.after.text not in {"", self.target}][:_BRIEF_MAX]


def rows_of(entries: Sequence[FoundEntry], names: EntryNames, *, is_platform: bool) -> list[ShownRow]:
    """Return entries as rows."""
    return [row_of(entry, names, is_platform=is_platform) for entry in entries]


def row_of(entry: FoundEntry, names: EntryNames, *, is_platform: bool) -> ShownRow:
    """Return an entry as a row."""
    words: Mapping[Any, str] = PLATFORM_ACTIONS if is_platform else ACTIONS
    actions: type[PlatformAction | AuditAction] = PlatformAction if is_platform else AuditAction
    try:
        what = words[actions(entry.action)]
    except ValueError:
        # A later version has written it.
        what = entry.action
    else:
        what = _change_of(entry.details) or what
        undone = UNDONE.get(entry.action)
        if undone is not None and entry.details.get(undone[0]) is False:
            what = undone[1]
    target_type, target = _target_of(entry, names)
    concerned = names.named.get(entry.organization_id) if entry.organization_id is not None else None
    return ShownRow(
        id=entry.id,
        at=entry.created_at,
        what=what,
        action=entry.action,
        is_failed=not entry.success,
        actor=_actor_of(entry, names, is_platform=is_platform),
        target_type=target_type,
        target=target,
        target_id=entry.target_id,
        ip_address=entry.ip_address,
        user_agent=entry.user_agent,
        request_id=entry.request_id,
        position=entry.position,
        organization=concerned or (str(entry.organization_id) if entry.organization_id is not None else ""),
        comparisons=comparisons_of(entry.details, names, is_platform=is_platform),
    )


def comparisons_of(details: Mapping[str, Any], names: EntryNames, *, is_platform: bool) -> list[Comparison]:
    """Return what details say: the changed fields first, each with its old and its new value, then the facts."""
    labels = {**FIELDS, **PLATFORM_FIELDS} if is_platform else FIELDS
    changed: list[Comparison] = []
    facts: list[Comparison] = []

    def compare(field: str, before: Any, after: Any) -> None:
        both = _shown(field, before, names), _shown(field, after, names)
        changed.append(Comparison(field=field, words=labels.get(field, ""), before=both[0], after=both[1]))

    def tell(field: str, value: Any) -> None:
        shown = _shown(field, value, names)
        facts.append(Comparison(field=field, words=labels.get(field, ""), before=None, after=shown))

    changes = _fields_of(details.get("changes"))
    for name, change in changes.items():
        both = _fields_of(change)
        if both.keys() == {"from", "to"}:
            compare(name, both["from"], both["to"])
        else:
            tell(name, change)
    for name, value in _with_parts(details).items():
        kind, _, field = name.partition("_")
        if (
            name in _OF_ACTOR
            or (name == "changes" and changes)
            or (isinstance(value, str) and value in _SAID.get(name, {}))
        ):
            continue
        if kind == "old" and f"new_{field}" in details:
            compare(field, value, details[f"new_{field}"])
        elif kind != "new" or f"old_{field}" not in details:
            tell(name, value)
    return changed + facts


def written(entry: FoundEntry) -> str:
    """Return an entry as JSON, as the interface has it, cut where it is very long."""
    text = json.dumps(
        {
            "id": str(entry.id),
            "action": entry.action,
            "actor": {
                "id": entry.actor.id,
                "email": entry.actor.email,
                "is_platform_owner": entry.actor.is_platform_owner,
            },
            "target_type": entry.target_type,
            "target_id": entry.target_id,
            "ip_address": entry.ip_address,
            "user_agent": entry.user_agent,
            "success": entry.success,
            "details": entry.details,
            "created_at": entry.created_at.isoformat(),
        },
        ensure_ascii=False,
        indent=2,
    )
    return text if len(text) <= JSON_CHARACTERS_MAX else f"{text[:JSON_CHARACTERS_MAX]}\n…"


def _actor_of(entry: FoundEntry, names: EntryNames, *, is_platform: bool) -> ShownActor:
    details, actor = entry.details, entry.actor
    # In the log of the platform, the impersonator is the actor.
    is_another = IMPERSONATOR in details and details[IMPERSONATOR] != actor.id
    impersonator = _named(details[IMPERSONATOR], names.impersonators) if is_another else ""
    kind, _, actor_id = actor.id.rpartition(":")
    if kind == "api_key":
        name = str(details.get("organization_key_name") or _named(actor_id, names.named))
        return ShownActor(kind="key", name=name, search=actor.id, impersonator=impersonator)
    if kind:
        return ShownActor(kind="setup_link", name="", search=actor.id, impersonator=impersonator)
    if actor.id != SYSTEM_ID:
        return ShownActor(kind="user", name=actor.email, search=actor.id, impersonator=impersonator)
    for kind, credential in (("directory", SCIM_TOKEN), ("backend", API_KEY)):
        if credential in details:
            name = _named(details[credential], names.named)
            return ShownActor(kind=kind, name=name, search=SYSTEM_ID, impersonator=impersonator)
    is_by_command = is_platform and entry.action != PlatformAction.PERSON_ANONYMIZED.value
    kind = "command" if is_by_command else "system"
    return ShownActor(kind=kind, name="", search=SYSTEM_ID, impersonator=impersonator)


def _change_of(details: Mapping[str, Any]) -> str | None:
    """Return the words of a change that has no action of its own; None for any other."""
    link, status = _fields_of(details.get(_SETUP_LINK)), _fields_of(_fields_of(details.get("changes")).get("status"))
    return (
        CHANGES.get(str(details.get("change")))
        or SETUP_LINKS.get(str(link.get("action")))
        or STATUSES.get((str(status.get("from")), str(status.get("to"))))
    )


def _target_of(entry: FoundEntry, names: EntryNames) -> tuple[str, str]:
    """Return what kind of thing the target is, and its present name, else the one in the details, else its id.

    What the log has as done to the organization, and was done to a part of it, has this part as its target.
    """
    if entry.target_type == TargetType.ORGANIZATION.value:
        if _fields_of(entry.details.get(_SETUP_LINK)):
            return FIELDS[_SETUP_LINK], entry.target_id
        for part in PARTS:
            if entry.details.get(part.id_detail):
                present = _named(entry.details[part.id_detail], names.named)
                told = entry.details.get(part.name_detail)
                is_named = present != entry.details[part.id_detail]
                return part.words, present if is_named or not isinstance(told, str) else told
    present = _named(entry.target_id, names.named)
    if present == entry.target_id:
        known = _NAMES_OF_PERSON if entry.target_type == TargetType.USER.value else _NAMES_OF_TARGET
        told = (entry.details.get(name) for name in known)
        present = next((text for text in told if isinstance(text, str) and text), present)
    return TARGET_TYPES.get(entry.target_type, entry.target_type), present


def _named(value: Any, names: Mapping[UUID, str]) -> str:
    """Return the name of what an id names, or the id itself."""
    try:
        return names.get(UUID(str(value)), str(value))
    except ValueError:
        return str(value)


def _fields_of(value: Any) -> dict[str, Any]:
    """Return a value that is an object; an empty one for any other."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _with_parts(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return details with the parts of a setup link in its place, what was done to it first."""
    link = _fields_of(details.get(_SETUP_LINK))
    parts = {f"{_SETUP_LINK}.{name}": link[name] for name in sorted(link, key=lambda name: name != "action")}
    return {name: value for name, value in details.items() if name != _SETUP_LINK or not parts} | parts


def _shown(field: str, value: Any, names: EntryNames) -> ShownValue:
    """Return a value in words where it has some, with the present name of what it names, else as it is."""
    if isinstance(value, bool):
        return ShownValue(text=YES if value else NO, is_word=True)
    text = _text(value)
    word = VALUES.get(field, {}).get(text)
    if word is not None:
        return ShownValue(text=word, is_word=True)
    if _is_id(text):
        name = _named(text, names.named) if field in NAMED_DETAILS else text
        return ShownValue(text="" if name == text else name, id=text)
    return ShownValue(text=text)


def _is_id(text: str) -> bool:
    """Return whether a text is an id as the details write it."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _text(value: Any) -> str:
    """Return a value as text, cut where it is very long; nothing for null."""
    match value:
        case None:
            text = ""
        case str():
            text = value
        case list():
            texts = cast("list[Any]", value)
            text = ", ".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in texts)
        case _:
            text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= VALUE_CHARACTERS_MAX else f"{text[:VALUE_CHARACTERS_MAX]}…"
