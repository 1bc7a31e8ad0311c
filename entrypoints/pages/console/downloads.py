"""Files to download: the header that names them, and values as JSON.

No cache keeps them, which is the default of every answer (`entrypoints/web/serving/headers.py`).
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from quart import Response

from entrypoints.web.serving.answers import JSON, Media, encode

JsonFile: TypeAlias = Annotated[Response, Media(JSON)]


def as_file(name: str) -> dict[str, str]:
    """Return the header with which a browser saves an answer as a file of this name."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def json_file(name: str, value: Any) -> JsonFile:
    """Return the response that is a value as a JSON file of this name."""
    return Response(encode(value), headers=as_file(name), content_type=JSON)
