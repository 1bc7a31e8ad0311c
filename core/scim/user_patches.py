"""Applies the operations of a PATCH to a user.

Standard attributes that are not kept are accepted and ignored, because directories send them whatever the schema says.
An attribute that the standard does not have is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Final, cast

from core.lazy_dataclasses import dataclass
from core.scim.filters import TargetPath, matches
from core.scim.patches import OperationKind, PatchOperation, attributes_of, target_of
from core.scim.refusals import InvalidPath, InvalidValue, ReadOnlyAttribute
from core.scim.user_filters import USER_SCHEMA
from core.scim.users import DirectoryUser
from core.wording import Wording

# Attributes whose value is a text, in lower case, with the names of the fields of `UserValues`.
TEXTS: Final = {
    "externalid": "external_id",
    "displayname": "display_name",
    "name.formatted": "formatted_name",
    "name.givenname": "given_name",
    "name.familyname": "family_name",
}
_OF_PROFILE: Final = ("user_name", *TEXTS.values(), "is_primary")
_READ_ONLY: Final = frozenset({"id", "meta", "groups"})
# The attributes of the standard (RFC 7643, 4.1) that are not kept.
_NOT_KEPT: Final = frozenset(
    {
        *("schemas", "nickname", "profileurl", "title", "usertype", "preferredlanguage", "locale", "timezone"),
        *("password", "phonenumbers", "ims", "photos", "addresses", "entitlements", "roles", "x509certificates"),
    }
)
_NAME: Final = "name"
_NAME_PARTS: Final = frozenset(key for key in TEXTS if key.startswith("name."))
_EMAILS: Final = "emails"
_EMAIL_VALUE: Final = "emails.value"
_EMAIL_PRIMARY: Final = "emails.primary"
_EMAIL_PREFIX: Final = "emails."
_WORK: Final = "work"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserValues:
    """The values that a directory sends for a user; None is no value. Without a userName it follows the address.

    `kept` are the parts of the name that a PATCH does not name.
    """

    user_name: str | None
    email: str | None = None
    external_id: str | None = None
    formatted_name: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    display_name: str | None = None
    is_primary: bool = True
    # None changes nothing, and means active for a new user: access never comes back by an omission.
    is_active: bool | None = None
    kept: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class Email:
    """An address, and whether the directory calls it the primary one."""

    address: str
    is_primary: bool


def patched(user: DirectoryUser, operations: Sequence[PatchOperation]) -> UserValues:
    """Return the user after the operations, applied in order."""
    draft = _Draft(user)
    for operation in operations:
        draft.apply(operation)
    return draft.values()


def boolean(name: str, value: Any) -> bool:
    """Return a boolean that may be written as a text; raise `InvalidValue` for anything else."""
    match value:
        case bool():
            return value
        case str() if value.lower() in {"true", "false"}:
            return value.lower() == "true"
        case _:
            raise InvalidValue(Wording("%(name)s: This must be true or false.", name=name))


def email_in(value: Any) -> Email | None:
    """Return the address that a value of `emails` names: the primary one, else the one for work, else the first.

    It counts as the primary one unless the value says otherwise.
    """
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
    emails = [_email(email) for email in listed]
    given = [email for email in emails if isinstance(email.get("value"), str) and email["value"].strip()]
    if not given:
        return None
    primary = [
        (email, boolean(_EMAIL_PRIMARY, email["primary"])) for email in given if email.get("primary") is not None
    ]
    preferred = next((email for email, is_primary in primary if is_primary), None)
    preferred = preferred or next((email for email in given if email.get("type") == _WORK), given[0])
    return Email(preferred["value"], is_primary=all(is_primary for email, is_primary in primary if email is preferred))


def _email(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"value": value}
    if not isinstance(value, dict):
        raise InvalidValue("emails: This must be a list of objects with a value.")
    return {str(name).lower(): part for name, part in cast("dict[Any, Any]", value).items()}


@dataclass(slots=True)
class _Draft:
    """A user while the operations are applied, with the changes so far."""

    user: DirectoryUser
    changed: dict[str, Any] = field(default_factory=dict[str, Any])

    def values(self) -> UserValues:
        profile = self.user.profile
        unchanged: dict[str, Any] = {name: getattr(profile, name) for name in _OF_PROFILE}
        unchanged["is_active"] = self.user.is_active
        if "email" in self.changed and "user_name" not in self.changed and "@" in profile.user_name:
            # The userName is the address, so it follows; else the old userName would win.
            is_same = self.changed["email"].lower() == profile.user_name.lower()
            unchanged["user_name"] = profile.user_name if is_same else None
        return UserValues(**(unchanged | self.changed), kept=frozenset(unchanged) - self.changed.keys())

    def apply(self, operation: PatchOperation) -> None:
        kind, target = operation.kind, operation.target
        if target is not None and (kind is OperationKind.REMOVE or not _is_schema(target)):
            self._apply_to(kind, target, operation.value)
            return
        for named, part in _attributes_in(operation.attributes):
            # Such objects are often whole resources, with attributes that only the server sets.
            if named.key.partition(".")[0] not in _READ_ONLY:
                self._apply_to(kind, named, part)

    def _apply_to(self, kind: OperationKind, target: TargetPath, value: Any) -> None:
        schema = target.attribute.schema
        if schema is not None and schema.lower() != USER_SCHEMA.lower():
            # An extension; none is kept.
            return
        new = None if kind is OperationKind.REMOVE else value
        key = target.key
        if key in TEXTS:
            self.changed[TEXTS[key]] = _text(str(target), new)
        elif key == "username":
            self.changed["user_name"] = _required_text("userName", new)
        elif key == "active":
            self.changed["is_active"] = boolean("active", new)
        elif key == _NAME:
            self._set_name(new)
        elif key in {_EMAILS, _EMAIL_VALUE, _EMAIL_PRIMARY}:
            self._set_address(target, key, new)
        elif target.attribute.name.lower() in _READ_ONLY:
            raise ReadOnlyAttribute(Wording("%(attribute)s is read-only.", attribute=target.attribute))
        elif not (_is_known(target) or kind is OperationKind.REMOVE):
            raise InvalidPath(Wording("A user has no attribute %(attribute)s.", attribute=target.attribute))

    def _set_name(self, value: Any) -> None:
        """Set the named parts of the name, or remove them all."""
        if value is not None and not isinstance(value, dict):
            raise InvalidValue("name: This must be an object.")
        given = {f"{_NAME}.{part.lower()}": text for part, text in cast("dict[str, Any]", value or {}).items()}
        for key in sorted(_NAME_PARTS if value is None else _NAME_PARTS & given.keys()):
            self.changed[TEXTS[key]] = _text(key, given.get(key))

    def _set_address(self, target: TargetPath, key: str, value: Any) -> None:
        """Change the address; further addresses are not kept, and this one is never removed."""
        current = {"value": self.user.email, "type": _WORK, "primary": self.user.profile.is_primary}
        if value is None or not (target.values is None or matches(target.values, current)):
            return
        if key == _EMAIL_PRIMARY:
            self.changed["is_primary"] = boolean(_EMAIL_PRIMARY, value)
            return
        email = email_in(value)
        if email is not None:
            self.changed["email"] = email.address
        if email is not None and key == _EMAILS:
            self.changed["is_primary"] = email.is_primary


def _attributes_in(attributes: dict[str, Any]) -> Iterator[tuple[TargetPath, Any]]:
    """List the attributes in an object, also the ones within the object of their schema."""
    for target, part in _targets_in(attributes):
        if _is_schema(target):
            yield from _targets_in(attributes_of(part))
        else:
            yield target, part


def _targets_in(attributes: dict[str, Any]) -> Iterator[tuple[TargetPath, Any]]:
    """List the attributes by their targets, without the texts that name none."""
    for name, part in attributes.items():
        try:
            target = target_of(name)
        except InvalidPath:
            continue
        yield target, part


def _is_schema(target: TargetPath) -> bool:
    return str(target).lower() == USER_SCHEMA.lower()


def _is_known(target: TargetPath) -> bool:
    name = target.attribute.name.lower()
    return name in _NOT_KEPT or name == _NAME or target.key.startswith(_EMAIL_PREFIX)


def _text(key: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise InvalidValue(Wording("%(key)s: This must be a text.", key=key))


def _required_text(name: str, value: Any) -> str:
    text = _text(name, value)
    if text is None:
        raise InvalidValue(Wording("%(name)s: This is required, so it cannot be removed.", name=name))
    return text
