"""The shape of SCIM's errors and its discovery (RFC 7644), also for paths without a route."""

from __future__ import annotations

import pytest

from tests.world.directory import GROUP, SCIM_JSON, TOKEN, USER, Directory, assert_scim_refused

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


async def test_a_path_that_does_not_exist_is_404(directory: Directory, subtests: pytest.Subtests) -> None:
    for path in ("/scim/v2", "/scim/v2/", "/scim/v2/nothing", "/scim/v2/Users/1/2"):
        with subtests.test(path=path):
            assert_scim_refused(await directory.world.client.get(path, token=TOKEN), 404)


async def test_a_path_beside_the_interface_has_the_usual_errors(directory: Directory) -> None:
    answer = await directory.world.client.get("/scim/v20/Users")

    assert (answer.status, answer.json["error_code"]) == (404, "NOT_FOUND")


async def test_a_method_that_a_path_does_not_have_is_405(directory: Directory) -> None:
    for method, path in [("DELETE", "/Users"), ("POST", "/Schemas"), ("PUT", "/Groups"), ("POST", "/Users/1")]:
        answer = await directory.request(method, path)
        assert_scim_refused(answer, 405)
        assert "GET" in answer.headers["Allow"]


async def test_me_is_501(directory: Directory, subtests: pytest.Subtests) -> None:
    for method in METHODS:
        with subtests.test(method=method):
            assert_scim_refused(await directory.request(method, "/Me"), 501)


async def test_bulk_requests_and_searching_by_post_are_501(directory: Directory, subtests: pytest.Subtests) -> None:
    for path in ("/Bulk", "/.search", "/Users/.search", "/Groups/.search"):
        with subtests.test(path=path):
            assert_scim_refused(await directory.request("POST", path, {"schemas": []}), 501)


async def test_a_body_that_cannot_be_read_is_refused(directory: Directory, subtests: pytest.Subtests) -> None:
    for case, data, headers, status, scim_type in (
        ("syntax", b"{", {}, 400, "invalidSyntax"),
        ("list", b"[]", {}, 400, "invalidSyntax"),
        ("nul", b'{"userName": "a\\u0000@example.com"}', {}, 400, "invalidValue"),
        ("surrogate", b'{"userName": "\\ud800@example.com"}', {}, 400, "invalidValue"),
        ("nesting", b"[" * 3000, {}, 400, "invalidSyntax"),
        ("type", b'{"userName": "a@example.com"}', {"Content-Type": "text/plain"}, 415, None),
        ("coding", b'{"userName": "a@example.com"}', {"Content-Encoding": "gzip"}, 415, None),
        ("size", b" " * (1024 * 1024 + 1), {}, 413, None),
    ):
        with subtests.test(case):
            sent = {"Content-Type": SCIM_JSON} | headers

            answer = await directory.world.client.post("/scim/v2/Users", token=TOKEN, data=data, headers=sent)

            assert_scim_refused(answer, status, scim_type)


async def test_a_body_may_have_a_mebibyte(directory: Directory) -> None:
    user = await directory.create(nickName="x" * (1024 * 1024 - 200))

    assert user["userName"] == "ada@example.com"


async def test_a_patch_that_cannot_be_applied_says_why(directory: Directory, subtests: pytest.Subtests) -> None:
    user_id = directory.team.ids["member"]

    for body, scim_type in (
        ({}, "invalidValue"),
        ({"Operations": []}, "invalidValue"),
        ({"Operations": [{"op": "move"}]}, "invalidSyntax"),
        ({"Operations": [{"op": "remove"}]}, "noTarget"),
        ({"Operations": [{"op": "add", "path": "a b"}]}, "invalidPath"),
        ({"Operations": [{"op": "replace", "path": "id", "value": "x"}]}, "mutability"),
        ({"Operations": [{"op": "replace", "path": "active", "value": "x"}]}, "invalidValue"),
        ({"Operations": [{"op": "replace", "path": "title", "value": "x"}] * 1001}, "tooMany"),
        ({"Operations": [{"op": "replace", "path": "a" * 500, "value": "x"}] * 201}, "tooMany"),
    ):
        with subtests.test(body=body, scim_type=scim_type):
            assert_scim_refused(await directory.request("PATCH", f"/Users/{user_id}", body), 400, scim_type)


async def test_the_features_are_published(directory: Directory) -> None:
    config = (await directory.request("GET", "/ServiceProviderConfig")).json

    supported = {
        name: config[name]["supported"] for name in ("patch", "bulk", "filter", "changePassword", "sort", "etag")
    }
    assert supported == {
        "patch": True,
        "bulk": False,
        "filter": True,
        "changePassword": False,
        "sort": False,
        "etag": True,
    }
    assert config["filter"]["maxResults"] == 1000


async def test_types_and_schemas_are_listed_and_shown(directory: Directory) -> None:
    for path, ids in [("/ResourceTypes", ["User", "Group"]), ("/Schemas", [USER, GROUP])]:
        listed = (await directory.request("GET", path)).json
        assert [one["id"] for one in listed["Resources"]] == ids
        assert (listed["totalResults"], listed["itemsPerPage"]) == (2, 2)
        for one in listed["Resources"]:
            assert (await directory.request("GET", f"{path}/{one['id']}")).json == one
            assert one["meta"]["location"] == f"http://localhost:8000/scim/v2{path}/{one['id']}"
        assert_scim_refused(await directory.request("GET", f"{path}/nothing"), 404)
        assert_scim_refused(await directory.request("GET", f"{path}?filter=id%20pr"), 403)


async def test_the_schemas_have_what_is_kept_and_nothing_else(directory: Directory) -> None:
    schemas = (await directory.request("GET", "/Schemas")).json["Resources"]
    user = await directory.create(externalId="1", displayName="Ada", name={"formatted": "Ada L."})
    group = (await directory.request("GET", f"/Groups/{directory.organization_id}")).json

    for schema, resource in zip(schemas, (user, group), strict=True):
        names = {attribute["name"] for attribute in schema["attributes"]}
        assert names == resource.keys() - {"schemas", "id", "meta"}
        for attribute in schema["attributes"]:
            values = resource[attribute["name"]]
            parts = values[0] if isinstance(values, list) else values
            if isinstance(parts, dict):
                assert {part["name"] for part in attribute["subAttributes"]} >= parts.keys()
