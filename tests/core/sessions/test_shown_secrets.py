"""Who may see a secret that a page shows once."""

from __future__ import annotations

from core.secrets import hash_token
from core.sessions.shown_secrets import Holder, holder_of_setup


def test_the_holder_of_a_setup_link_is_known_by_the_hash_of_the_cookie() -> None:
    assert holder_of_setup("visit") == Holder(setup_visit_hash=hash_token("visit"))
