"""The words of a text are found wherever they are shown, and never inside of what is random."""

from __future__ import annotations

import base64
import json
import random
from uuid import UUID

import pytest

from tests.shown_text import shows, without_random

# The token that once held the name of a product.
TOKEN = "Qm9vs5eboltuu8-x_G3kPz7Yw2LhRtVbNcXeJd0aSfUi4Ov6MqBgHyTlKnZpE1Crw9DjsAWo8Ix5umFKQvt2"


@pytest.mark.parametrize(
    "text",
    [
        f'<input type="hidden" name="form_token" value="{TOKEN}">',
        f'<script nonce="{TOKEN[:22]}">start()</script>',
        f"Location: https://localhost/callback?code={TOKEN}&state={TOKEN[::-1]}bolt",
        f"eyJhbGciOiJFUzI1NiJ9.{TOKEN}.{TOKEN[:40]}",
        json.dumps({"secret": f"whsec_{TOKEN[:40]}="}),
        f'<img src="data:image/png;base64,iVBORw0KGgo/bolt+{TOKEN[:11]}==">',
        f"-----BEGIN CERTIFICATE-----\nMIIB/bolt/{TOKEN[:11]}\n{'A' * 60}\n-----END CERTIFICATE-----",
        f"SAMLRequest=fZJNb8Iw%2Bbolt9%2F{TOKEN[:7]}Fz0Kq8Yt3Wv5Rb7Nc2Xm4Pl6Jh9Gd1Sa0Qe%3D%3D&x",
    ],
)
def test_a_needle_inside_of_a_random_value_is_left_out(text: str) -> None:
    assert "bolt" in text

    assert shows(text, "bolt") == []


@pytest.mark.parametrize(
    ("text", "needle"),
    [
        ('<a href="/app/organizations/0198c5ad-0000-7abc-8def-0123456789ab">', "abc"),
        ('<link rel="stylesheet" href="/static/pages.3f2ace1b90.css">', "ace"),
        ("request_id=9f86d081884c7d659a2feaa0c55ad015", "feaa"),
        ("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "BVG"),
    ],
)
def test_ids_and_hashes_are_left_out(text: str, needle: str) -> None:
    assert needle in text

    assert shows(text, needle) == []


@pytest.mark.parametrize(
    "text",
    [
        "bolt",
        "<td>bolt</td>",
        "<p>Your bolts, thunderbolts and Nutsandbolts</p>",
        '<a href="/app/organizations/acme/services/bolt/options?page=2">Open</a>',
        '<a href="/app/organizations/0198c5ad-0000-7abc-8def-0123456789ab/bolt">Open</a>',
        f'<a href="https://localhost/{TOKEN[:40]}/bolt/0123abcd">Open</a>',
        '<button aria-label="Remove bolt" class="button-of-the-bolt-and-nut_2">',
        '<script id="boltOfTheDescribedOrganization">',
        json.dumps({"a": {"name": "bolt"}, "token": TOKEN}),
        '{"organization_service_bolt_is_deleted": true}',
        f"token={TOKEN} service=bolt",
        "Ein Verbindungsboltzen",
        "ARTEFACT-bolt-2026-02-03",
    ],
)
def test_a_needle_in_words_is_found(text: str) -> None:
    assert shows(text, "bolt")


def test_each_place_is_told_with_what_stands_around_it() -> None:
    text = f"{'x ' * 40}one bolt here, {'y ' * 40}and a bolt there"

    first, second = shows(text, "bolt")

    assert first.endswith(f"one bolt here, {'y ' * 16}y")
    assert second.endswith("y and a bolt there")


def test_drawn_tokens_hide_no_needle_and_show_none() -> None:
    draw = random.Random(63)
    for _ in range(2_000):
        value = draw.randbytes(draw.randrange(16, 90))
        for encoded in (
            base64.urlsafe_b64encode(value).decode().rstrip("="),
            base64.urlsafe_b64encode(value).decode(),
            value.hex(),
            str(UUID(bytes=value[:16], version=4)),
        ):
            text = f'<input name="form_token" value="{encoded}">'

            assert without_random(text) == '<input name="form_token" value="\N{HORIZONTAL ELLIPSIS}">'


def test_a_needle_that_looks_random_is_refused() -> None:
    with pytest.raises(AssertionError, match="look for it by `in`"):
        shows("a page", TOKEN)
    with pytest.raises(AssertionError, match="shown everywhere"):
        shows("a page", "")
