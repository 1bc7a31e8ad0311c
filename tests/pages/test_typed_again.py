"""A form that came too fast is shown again with what was typed, without the secrets."""

from entrypoints.installation import Installation
from tests.application import serving_with_rate_limits
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

ATTEMPTS_MAX = 10


async def test_a_limited_form_is_shown_again_with_what_was_typed_and_without_secrets(
    world: World, visitor: Visitor, installation: Installation
) -> None:
    world.user()
    visitor.client = serving_with_rate_limits(installation)
    page = await visitor.open("/app/sign-in?return_to=%2Fapp%2Faccount")
    methods = await visitor.submit(page, "/app/sign-in", email=EMAIL)
    for _ in range(ATTEMPTS_MAX):
        await visitor.submit(methods, "/app/sign-in/password", password="a wrong password")

    refused = await visitor.submit(methods, "/app/sign-in/password", password=PASSWORD, stay="on")

    assert refused.status == 429
    assert "You can try again in 6 seconds." in refused.text
    assert refused.headers["Retry-After"] == "6"
    assert PASSWORD not in refused.text
    [form] = forms_of(refused)
    assert form.action == "/app/sign-in/password"
    sent = forms_of(methods)[0].fields
    assert form.fields == {
        "form_token": sent["form_token"],
        "return_to": "/app/account",
        "email": EMAIL,
        "stay": "on",
        "password": "",
    }
    visitor.client = world.client
    assert "Your account" in (await visitor.submit(refused, password=PASSWORD)).text


async def test_a_limited_page_is_tried_again_at_its_address(
    world: World, visitor: Visitor, installation: Installation
) -> None:
    visitor.client = serving_with_rate_limits(installation)
    path = "/auth/reset-password?token=0191d3c1-0000-7000-8000-00000000000f"
    answers = [await visitor.send("GET", path) for _ in range(25)]

    refused = answers[-1]
    assert refused.status == 429
    assert f'href="{path}"' in refused.text
    assert "You can try again in one second." in refused.text


async def test_a_large_message_of_another_system_is_not_shown_again(
    world: World, visitor: Visitor, installation: Installation
) -> None:
    visitor.client = serving_with_rate_limits(installation)
    path = "/auth/upstream/0191d3c1-0000-7000-8000-00000000000f/acs"
    answers = [await visitor.post(path, {"SAMLResponse": "x" * 1000}) for _ in range(25)]

    refused = answers[-1]
    assert refused.status == 429
    assert forms_of(refused) == []
    assert "x" * 1000 not in refused.text
    assert 'href="/app"' in refused.text


async def test_a_limit_tells_nothing_of_accounts(world: World, visitor: Visitor, installation: Installation) -> None:
    world.user()
    texts: list[str] = []
    for email in (EMAIL, "nothing@example.com"):
        one = Visitor(serving_with_rate_limits(installation))
        page = await one.open("/app/forgot-password")
        answers = [await one.submit(page, "/app/forgot-password", email=email) for _ in range(6)]
        assert answers[-1].status == 429
        kept = forms_of(page)[0].fields["form_token"]
        text = answers[-1].text.replace(email, "").replace(answers[-1].headers["X-Request-Id"], "").replace(kept, "")
        texts.append(text)

    assert texts[0] == texts[1]
