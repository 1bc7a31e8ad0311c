"""The page of the password reset link: it needs no frontend, and opening it does not use the link up."""

from __future__ import annotations

from urllib.parse import urlencode

from tests.application import Answer, Client
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL
from tests.world.world import World

NEW_PASSWORD = "a quite different one & more +"
FORM = "application/x-www-form-urlencoded"


async def forgot_token(world: World, **return_request: str) -> str:
    """Register a user, request a password reset, and return the token in the mail."""
    await world.register_and_verify()
    await world.client.post("/api/auth/forgot-password", body={"email": EMAIL, **return_request})
    return (await world.mail()).values["token"]


async def submit(client: Client, media_type: str = FORM, **fields: str) -> Answer:
    """Submit the form."""
    return await client.post(
        "/auth/reset-password", data=urlencode(fields).encode(), headers={"Content-Type": media_type}
    )


async def test_the_link_shows_a_form_and_is_not_used_up(world: World) -> None:
    path = f"/auth/reset-password?token={await forgot_token(world)}"

    answers = [await world.client.get(path), await world.client.request("HEAD", path), await world.client.get(path)]

    assert [answer.status for answer in answers] == [200, 200, 200]
    assert EMAIL in answers[-1].text
    assert 'autocomplete="new-password"' in answers[-1].text
    assert (await world.log_in()).status == 200


async def test_the_form_changes_the_password_and_a_page_says_so(world: World) -> None:
    token = await forgot_token(world)

    answer = await submit(world.client, token=token, new_password=NEW_PASSWORD, repeated=NEW_PASSWORD)

    assert answer.status == 200
    assert "Your new password is saved" in answer.text
    assert (await world.log_in(EMAIL, NEW_PASSWORD)).status == 200
    assert (await world.client.get(f"/auth/reset-password?token={token}")).status == 400


async def test_the_page_links_back_to_the_service_that_requested_the_link(world: World, acme_shop: AcmeShop) -> None:
    token = await forgot_token(world, **acme_shop.return_request)

    form = await world.client.get(f"/auth/reset-password?token={token}")
    done = await submit(world.client, token=token, new_password=NEW_PASSWORD, repeated=NEW_PASSWORD)

    assert "at Acme Shop" in form.text
    assert f'href="{acme_shop.redirect_uri}"' in done.text


async def test_the_form_explains_an_invalid_password_and_can_be_submitted_again(world: World) -> None:
    token = await forgot_token(world)

    for new_password, repeated, problem in (
        ("7 chars", "7 chars", "A password has at least 8 characters."),
        (NEW_PASSWORD, "another one", "The passwords do not match."),
        ("", "", "A password has at least 8 characters."),
    ):
        refused = await submit(world.client, token=token, new_password=new_password, repeated=repeated)

        assert refused.status == 400, problem
        assert problem in refused.text
        assert 'aria-invalid="true"' in refused.text, problem
        assert not new_password or new_password not in refused.text
    assert (await submit(world.client, token=token, new_password=NEW_PASSWORD, repeated=NEW_PASSWORD)).status == 200


async def test_an_invalid_link_returns_a_page(client: Client) -> None:
    shown = await client.get("/auth/reset-password?token=nonsense")
    sent = await submit(client, token="nonsense", new_password=NEW_PASSWORD, repeated=NEW_PASSWORD)

    for answer in (shown, sent):
        assert answer.status == 400
        assert "This link is not valid" in answer.text
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


async def test_a_body_of_another_media_type_than_a_form_returns_a_page(client: Client) -> None:
    answer = await submit(client, media_type="application/json", token="nonsense")

    assert answer.status == 415
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


async def test_an_empty_form_returns_a_page(client: Client) -> None:
    answer = await client.post("/auth/reset-password")

    assert answer.status == 400
    assert "This link is not valid" in answer.text


async def test_the_page_of_an_internal_error_shows_the_request_id(world: World) -> None:
    world.connection.execute("ALTER TABLE one_time_tokens RENAME TO elsewhere")

    answer = await world.client.get("/auth/reset-password?token=nonsense")

    assert answer.status == 500
    assert answer.headers["X-Request-Id"] in answer.text
