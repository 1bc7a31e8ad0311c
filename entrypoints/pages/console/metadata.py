"""The form of metadata: an object of JSON, of which the names that were changed are saved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from core.errors import BadRequest
from core.metadata import MetadataPatch
from entrypoints.web.serving.admission.browsers import ProtectedForm


class MetadataForm(ProtectedForm, kw_only=True):
    """Metadata as a text, now and as the page has shown them."""

    metadata: str = ""
    seen: str = ""

    @property
    def patch(self) -> MetadataPatch:
        """The change that is meant: of what differs from what the page has shown; raise `BadRequest` for no object."""
        wanted, seen = _object(self.metadata), _object(self.seen)
        gone = dict.fromkeys(seen.keys() - wanted.keys())
        changed = {name: value for name, value in wanted.items() if text_of(value) != text_of(seen.get(name))}
        if None in wanted.values():
            raise BadRequest.of_field("metadata", "To take a name away, delete its line.")
        return MetadataPatch(names={**gone, **changed})


def text_of(value: object) -> str:
    """Return metadata as the text that a person edits."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def metadata_values(metadata: Mapping[str, Any], form: MetadataForm | None) -> dict[str, Any]:
    """Return what `console/metadata.html` shows."""
    seen = text_of(metadata)
    return {"seen": seen, "typed": form.metadata if form is not None else seen}


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadRequest.of_field("metadata", 'This is an object of JSON, such as {"plan": "gold"}.')
    return cast("dict[str, Any]", found)
