"""The requests that Okta and Microsoft publish get the answers they expect, except where Gatehouse promises others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.http.scim.published_requests import MICROSOFT, MICROSOFT_GROUPS, OKTA, OKTA_GROUPS, Request
from tests.world.directory import Directory

GONE = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"


def at(value: Any, place: str) -> Any:
    """Return what is at a place in an answer."""
    for step in place.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


@pytest.mark.parametrize("requests", [OKTA, MICROSOFT], ids=["Okta", "Microsoft"])
async def test_the_published_requests_are_answered_as_expected(directory: Directory, requests: list[Request]) -> None:
    await assert_answered(directory, requests)


@pytest.mark.parametrize("requests", [OKTA_GROUPS, MICROSOFT_GROUPS], ids=["Okta", "Microsoft"])
async def test_so_are_those_of_a_directory_that_sends_groups(groups: Directory, requests: list[Request]) -> None:
    await assert_answered(groups, requests)


async def assert_answered(directory: Directory, requests: list[Request]) -> None:
    """Assert that requests are answered as their directory expects."""
    ids = {"{group}": str(directory.organization_id), "{other}": str(directory.team.ids["member"]), "{gone}": GONE}

    def filled(text: str) -> str:
        for name, value in ids.items():
            text = text.replace(name, value)
        return text

    for request in requests:
        body = json.loads(filled(json.dumps(request.body)))
        answer = await directory.request(request.method, filled(request.path), body)

        assert answer.status == request.status, f"{request.title}: {answer.text}"
        if answer.status == 201:
            ids["{user}" if request.path.startswith("/Users") else "{group}"] = answer.json["id"]
        held = {place: at(answer.json, place) for place in request.has}
        assert held == json.loads(filled(json.dumps(request.has))), request.title
