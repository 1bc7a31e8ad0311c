"""The OpenAPI document, for the tests in this folder."""

from __future__ import annotations

import json
from typing import Any

import pytest

from entrypoints.web.describing.openapi import describe
from entrypoints.web.serving.answering.answers import encode
from tests.application import VERSION
from tests.web.describing.openapi_documents import BASE_URL, every_route


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The document, as it is sent."""
    return json.loads(encode(describe(every_route(), base_url=BASE_URL, version=VERSION)))
