"""Work on a long request of a directory delays no request of others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.application import Answer
from tests.concurrency import held_by_another
from tests.web.serving.test_worst_bodies import Watch
from tests.world.directory import PATCH, SCIM_JSON, Directory, assert_scim_refused, insert_directory
from tests.world.world import World

# Together as long as a small body may be, with eleven terms each.
PATHS = [f"emails[{' or '.join(['a pr'] * 11)}]"] * 400
# Of what reads the paths, each of which makes some hundreds.
CALLS_MAX = 10_000


def patch(paths: list[str]) -> dict[str, Any]:
    """Return a change at each of the paths."""
    return {"schemas": [PATCH], "Operations": [{"op": "replace", "path": path, "value": "x"} for path in paths]}


async def test_long_paths_are_not_read_for_a_wrong_token(directory: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    user_id = directory.team.ids["member"]
    stranger = Directory(directory.team, f"{directory.token[:-1]}x")

    with monkeypatch.context() as patched:
        watch = Watch(patched)
        for path in (f"/Users/{user_id}", f"/Groups/{directory.organization_id}"):
            with watch.watching() as work:
                answer = await stranger.request("PATCH", path, patch(PATHS))
            assert_scim_refused(answer, 401)
            assert work.calls < CALLS_MAX


async def test_what_takes_long_runs_in_the_place_of_the_organization(
    world: World, directory: Directory, autojump_clock: Any
) -> None:
    groups = insert_directory(world.team("evil"), "scim_live_zzz999_" + "z" * 43, groups="directory")
    user_id = directory.team.ids["member"]
    members = [{"value": (await groups.create())["id"]}] * 5_000

    async def ask(own: Directory, method: str, path: str, body: dict[str, Any]) -> Answer:
        return await own.request(method, path, body, headers={"Content-Type": SCIM_JSON})

    async with held_by_another(world.client.application.large_bodies, str(directory.organization_id)):
        assert (await ask(directory, "PATCH", f"/Users/{user_id}", patch(PATHS))).status == 503
        assert (await ask(directory, "PATCH", f"/Users/{user_id}", patch(PATHS[:10]))).status == 200
        assert (await ask(groups, "POST", "/Groups", {"displayName": "A", "members": members})).status == 201
    assert (await ask(directory, "PATCH", f"/Users/{user_id}", patch(PATHS))).status == 200
