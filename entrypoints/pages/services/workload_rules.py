"""What the pages of workloads share: the form of a new one, with the claims that its platform asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, cast

import msgspec

from core.errors import BadRequest, Refusal
from core.services.workload_rules import CLAIMS_MAX, RefusalReason, WorkloadFields
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.services.workload_presets import BY_WORD, PRESETS, Preset
from entrypoints.web.serving.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call

# Why a token was refused, for the owner of the rule.
REASONS: Final = {
    RefusalReason.KEYS_UNAVAILABLE: marked("The keys of the issuer could not be had."),
    RefusalReason.SIGNATURE: marked("No key of the issuer has signed it."),
    RefusalReason.AUDIENCE: marked("It was for another audience."),
    RefusalReason.LIFETIME: marked("It has no end, or is valid for more than 24 hours."),
    RefusalReason.EXPIRED: marked("It had expired."),
    RefusalReason.NOT_YET_VALID: marked("It was not valid yet."),
    RefusalReason.CLAIMS: marked("Its claims did not fit."),
}
Texts = Annotated[list[str], msgspec.Meta(max_length=CLAIMS_MAX + len(PRESETS))]


class PresetQuery(msgspec.Struct, kw_only=True):
    """For which platform the form asks."""

    preset: Annotated[str, msgspec.Meta(description="The platform of the program.", max_length=20)] = "github"

    @property
    def chosen(self) -> Preset:
        """The platform; for an unknown word the one for any issuer."""
        return preset_of(self.preset)


class WorkloadForm(ProtectedForm, kw_only=True):
    """A new workload; the names of its claims and their values are in the same order."""

    preset: str = ""
    name: str = ""
    issuer: str = ""
    claim: Texts = msgspec.field(default_factory=list[str])
    value: Texts = msgspec.field(default_factory=list[str])
    audience: str = ""
    jwks_uri: str = ""
    jwks: str = ""

    @property
    def chosen(self) -> Preset:
        """The platform for which the form asked."""
        return preset_of(self.preset)

    @property
    def typed(self) -> list[tuple[str, str]]:
        """The claims with what was typed for them."""
        return [(name.strip(), value.strip()) for name, value in zip(self.claim, self.value, strict=False)]

    def read(self) -> WorkloadFields:
        """Return what the workload is to be; raise `BadRequest` for what cannot be read."""
        given = [(name, value) for name, value in self.typed if value]
        if len({name for name, _ in given}) < len(given):
            raise BadRequest.of_field("match", "Name each claim once. All of them must fit.")
        return WorkloadFields(
            name=self.name,
            issuer=self.issuer,
            match=dict(given),
            jwks_uri=self.jwks_uri.strip() or None,
            jwks=_key_set(self.jwks),
            audience=self.audience.strip() or None,
        )


def preset_of(word: str) -> Preset:
    """Return the platform with a word; for an unknown word the one for any issuer."""
    return BY_WORD.get(word, PRESETS[-1])


def form_values(
    call: Call, preset: Preset, form: WorkloadForm | None, refusal: Refusal | None, *, client_id: str, page: str
) -> dict[str, Any]:
    """Return what the template of the form shows."""
    typed = form.typed if form is not None else []
    values = dict(typed)
    named = {claim.name for claim in preset.claims}
    return {
        "preset": preset,
        "presets": PRESETS,
        "form": form or WorkloadForm(issuer=preset.issuer),
        "values": values,
        "free": ([(name, value) for name, value in typed if name not in named] + [("", "")] * preset.rows_free)[
            : max(preset.rows_free, len(values))
        ],
        "problems": problems_of(refusal),
        "pipeline": preset.program(issuer=call.installation.settings.base_url, client_id=client_id),
        "page": page,
    }


def example(preset: Preset) -> Mapping[str, Any]:
    """Return a body of the interface that makes such a workload."""
    names = [claim.name for claim in preset.claims if claim.is_required]
    return {
        "name": "Deployment",
        "issuer": preset.issuer or "https://issuer.example",
        "match": dict.fromkeys(names, "…"),
    }


def _key_set(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return None
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadRequest.of_field("jwks", 'This is a JSON Web Key Set: an object with the list "keys" alone.')
    return cast("dict[str, Any]", found)
