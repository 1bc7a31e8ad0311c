"""What the forms have in common that assign a service to everyone, a role, a group or a person."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import msgspec

from core.errors import BadRequest
from core.organizations.choices import Choice, Choices
from core.services.assignments import Assignable, SubjectKind
from entrypoints.pages.console.pickers import Picker, picker
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import translated
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call


class AssignmentForm(ProtectedForm, kw_only=True):
    """An assignment: its subject as the record says it, its roles, and what was searched for."""

    subject: str = ""
    find_subject: str = ""
    roles: Annotated[list[str], msgspec.Meta(description="The names of roles of the service.")] = msgspec.field(
        default_factory=list[str]
    )

    @property
    def chosen(self) -> str:
        """The subject; raise `BadRequest` for none."""
        if not self.subject:
            raise BadRequest.of_field("subject", "Choose who gets it.")
        return self.subject


class SubjectForm(ProtectedForm, kw_only=True):
    """The subject of an assignment."""

    subject: str = ""


class AssignmentQuery(DoneQuery, kw_only=True):
    """What was just done, and what the form of a new assignment held when it was searched with."""

    subject: Annotated[str, msgspec.Meta(description="The subject of a new assignment.", max_length=100)] = ""
    find_subject: Annotated[
        str, msgspec.Meta(description="A part of an address, or of the name of a role or group.", max_length=254)
    ] = ""
    roles: Annotated[list[str], msgspec.Meta(description="The roles of the new assignment.")] = msgspec.field(
        default_factory=list[str]
    )


def subjects_to_choose(
    call: Call, assignable: Assignable | None, form: AssignmentForm | AssignmentQuery
) -> Picker | None:
    """Return what can be assigned to, each as the subject of an assignment; None where nothing can."""
    if assignable is None:
        return None
    everyone = Choice(value=SubjectKind.EVERYONE.value, name=translated(call, "Every active member"))
    roles = [Choice(value=f"{SubjectKind.ROLE}:{role}", name=role) for role in assignable.roles]
    return picker(
        "subject",
        ("", Choices(found=[everyone], is_whole=True)),
        (translated(call, "Members with a role"), Choices(found=roles, is_whole=True)),
        (translated(call, "Groups of your directory"), _of_kind(SubjectKind.GROUP, assignable.groups)),
        (translated(call, "Members"), _of_kind(SubjectKind.USER, assignable.people)),
        chosen=form.subject,
        searched=form.find_subject,
    )


def _of_kind(kind: SubjectKind, listed: Choices | None) -> Choices | None:
    if listed is None:
        return None
    return replace(listed, found=[replace(one, value=f"{kind}:{one.value}") for one in listed.found])
