"""A form that came too fast is shown again with what was typed, without the secrets."""

import re
from html import escape
from urllib.parse import urlencode

import pytest

from core.rate_limits import RateLimit
from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.rate_limiting import RateLimiter
from tests.application import Client, serving_with_rate_limits
from tests.pages.platform.conftest import browser_of
from tests.world.builder import EMAIL, PASSWORD
from tests.world.callers import Caller, insert_callers
from tests.world.visitor import FORM, Visitor, forms_of
from tests.world.world import World

ATTEMPTS_MAX = 10
IDS = [f"0191d3c1-0000-7000-8000-{number:012}" for number in range(3)]
HIDDEN = re.compile('<input type="hidden" name="([^"]+)" value="([^"]*)">')


async def test_a_limited_form_is_shown_again_with_what_was_typed_and_for_workloadss(
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


@pytest.mark.parametrize(
    ("caller", "path", "name", "values", "others"),
    [
        (Caller.SUPPORT, "/app/platform/mail?state=failed&after=x", "mail", IDS, {}),
        (
            Caller.PLATFORM_OWNER,
            "/app/platform/organizations/approvals?search=%22a+b&status=pending",
            "ids",
            IDS,
            {"decision": "reject", "reason": "A copy."},
        ),
        (
            Caller.OWNER,
            "/app/organizations/acme/people/selected/change",
            "rows",
            [f"{user_id} member" for user_id in IDS],
            {"role": "admin"},
        ),
        (Caller.OWNER, "/app/organizations/acme/people/selected/remove", "rows", [], {"note": "x"}),
    ],
)
async def test_a_limited_form_keeps_its_ticked_boxes_and_its_query(
    world: World,
    installation: Installation,
    caller: Caller,
    path: str,
    name: str,
    values: list[str],
    others: dict[str, str],
) -> None:
    callers = insert_callers(world)
    limiter = RateLimiter(monotonic=lambda: 0.0)
    for _ in range(RateLimit.SIGNED_IN.burst):
        limiter.take((RateLimit.SIGNED_IN,), str(callers.people[caller]))
    visitor = browser_of(callers, caller)
    visitor.client = Client(Application(installation, capabilities.routes(is_development=True), rate_limiter=limiter))

    sent = [("form_token", "token"), *((name, value) for value in values), *others.items()]
    refused = await visitor.send("POST", path, data=urlencode(sent).encode(), headers={"Content-Type": FORM})

    assert refused.status == 429
    [form] = forms_of(refused)
    assert form.action == path
    shown = refused.text.partition(f'action="{escape(path)}"')[2].partition("</form>")[0]
    assert sorted(HIDDEN.findall(shown)) == sorted(sent)


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


async def test_the_reason_for_what_is_done_already_is_shown_to_copy(world: World, visitor: Visitor) -> None:
    organization_id = world.organization()
    world.member(organization_id, world.user(), "owner")
    bob_id = world.user("bob@example.com")
    world.member(organization_id, bob_id, "member")
    await visitor.sign_in(EMAIL)
    removal = f"/app/organizations/acme/people/{bob_id}/remove"
    first, second = await visitor.open(removal), await visitor.open(removal)
    await visitor.submit(first, removal, note="He moved to Bolt.")

    late = await visitor.submit(second, removal, note="He moved to <b>Bolt</b>.")
    forged = await visitor.submit(second, removal, note="He moved to Bolt.", form_token="wrong")

    assert late.status == 404
    assert "He moved to &lt;b&gt;Bolt&lt;/b&gt;." in late.text
    assert 'href="/app/organizations/acme/people"' in late.text
    assert "He moved" not in forged.text


async def test_the_reason_of_decisions_that_others_have_made_is_shown_to_copy(world: World, visitor: Visitor) -> None:
    callers = insert_callers(world)
    owner = browser_of(callers, Caller.PLATFORM_OWNER)
    waiting = world.organization("grove", status="pending")
    page = await owner.open("/app/platform/organizations?status=pending")
    world.set_organization_status(waiting, "active")

    late = await owner.submit(
        page,
        "/app/platform/organizations/approvals?status=pending",
        ids=str(waiting),
        decision="reject",
        reason="Spam.",
    )

    assert "Unchanged" in late.text
    assert "You typed this for “Reason”" in late.text
    assert "Spam." in late.text
