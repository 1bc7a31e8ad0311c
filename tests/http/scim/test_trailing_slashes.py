"""A path of SCIM that ends with a slash is the path without it: some directories send it so."""

from __future__ import annotations

from tests.world.directory import USER, Directory


async def test_a_slash_at_the_end_of_a_path_means_nothing(directory: Directory) -> None:
    created = await directory.request("POST", "/Users/", {"schemas": [USER], "userName": "ada@example.com"})
    assert created.status == 201, created.text
    path = f"/Users/{created.json['id']}/"

    assert (await directory.request("GET", path)).json["userName"] == "ada@example.com"
    assert (await directory.request("GET", "/Users/?count=1")).json["itemsPerPage"] == 1
    for name in ("/Groups/", "/Schemas/", "/ResourceTypes/", "/ServiceProviderConfig/"):
        assert (await directory.request("GET", name)).status == 200
    assert (await directory.request("PUT", "/Users/", {})).status == 405
    assert (await directory.request("DELETE", path)).status == 204
    assert (await directory.request("GET", path)).status == 404


async def test_two_slashes_and_other_paths_are_unknown(directory: Directory) -> None:
    assert (await directory.request("GET", "/Users//")).status == 404
    assert (await directory.request("GET", "/")).status == 404
    for path in ("/api/user/", "/scim/v2Users/"):
        assert (await directory.world.client.get(path)).status == 404
