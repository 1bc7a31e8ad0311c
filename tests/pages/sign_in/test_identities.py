"""The page of linked accounts asks for a new sign-in before it links or unlinks one, and comes back."""

from __future__ import annotations

from datetime import timedelta

from tests.world.builder import PASSWORD
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

PAGE = "/app/account/identities"


async def test_linking_goes_on_after_a_new_sign_in_and_leads_back_to_its_page(world: World, visitor: Visitor) -> None:
    world.user()
    await visitor.sign_in()
    token = forms_of(await visitor.open("/app/sign-out"))[0].fields["form_token"]
    world.clock.advance(timedelta(minutes=11))

    asked = [
        await visitor.post(f"{PAGE}/{action}", {"form_token": token, "provider": "codehost"})
        for action in ("link", "unlink")
    ]
    waiting = await visitor.submit(asked[0], "/app/sign-in-again", password=PASSWORD)

    assert [form.action for form in forms_of(waiting)] == [f"{PAGE}/link"]
    assert forms_of(waiting)[0].fields["provider"] == "codehost"
    assert f'href="{PAGE}">Back</a>' in waiting.text
