"""Where addresses stand in payloads, and what is left of them in the answers of receivers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from core.attempts import Attempt
from core.webhooks.events import with_addresses, without_addresses

ORGANIZATION = UUID(int=1)
ADA, EVE = UUID(int=2), UUID(int=3)
KNOWN = {ADA: "ada@example.com"}


def told(event: str, **data: Any) -> dict[str, Any]:
    """Return the data of an event with the addresses that the organization knows."""

    def known(wanted: Mapping[UUID, Collection[UUID]]) -> Mapping[UUID, Mapping[UUID, str]]:
        return dict.fromkeys(wanted, KNOWN)

    [payload] = with_addresses(known, ORGANIZATION, [{"id": "1", "event": event, "data": data}])
    assert (payload["id"], payload["event"]) == ("1", event)
    return payload["data"]


def test_each_address_stands_after_its_id() -> None:
    data = told("organization.owner.changed", old_owner_user_id=str(ADA), new_owner_user_id=str(EVE))

    assert list(data.items()) == [
        ("old_owner_user_id", str(ADA)),
        ("old_owner_user_email", "ada@example.com"),
        ("new_owner_user_id", str(EVE)),
        ("new_owner_user_email", None),
    ]


def test_what_has_no_id_stays_as_it_is() -> None:
    assert told("service.updated", service_slug="shop") == {"service_slug": "shop"}
    assert told("user.vanished", user_id=str(ADA)) == {"user_id": str(ADA)}


def test_ids_in_a_list_have_addresses_in_the_same_order() -> None:
    assert told("scim.kept", kept=[str(EVE), str(ADA)])["kept_emails"] == [None, "ada@example.com"]
    assert told("scim.kept", kept=[])["kept_emails"] == []


def test_what_names_no_user_has_no_address() -> None:
    assert told("session.revoked", sessions=1, revoked_by=f"api_key:{ADA}")["revoked_by_email"] is None
    # As another version may have recorded it.
    assert told("session.revoked", sessions=1, revoked_by=None)["revoked_by_email"] is None
    assert told("session.revoked", sessions=1, revoked_by=str(ADA))["revoked_by_email"] == "ada@example.com"


def test_an_answer_is_kept_without_the_addresses_of_the_payload() -> None:
    subject = {"subject": f"user:{ADA}", "roles": []}
    payload = {"event": "service.access_changed", "data": told("service.access_changed", added=[subject], removed=[])}
    answer = Attempt(status_code=200, body="ADA@example.com and bob@example.com", error=None)

    assert without_addresses(answer, payload).body == "[address] and bob@example.com"


def test_an_address_that_an_answer_has_in_ascii_is_left_out_too() -> None:
    payload = {"event": "user.removed", "data": {"user_id": str(ADA), "user_email": "ädä@example.com"}}
    answer = Attempt(status_code=200, body=r'{"of": "\u00e4d\u00E4@example.com"}', error=None)

    assert without_addresses(answer, payload).body == '{"of": "[address]"}'


def test_an_answer_without_a_body_and_a_payload_without_addresses_change_nothing() -> None:
    answer = Attempt(status_code=200, body="ada@example.com", error=None)
    none = Attempt(status_code=None, body=None, error="timeout")
    payload = {"event": "user.anonymized", "data": {"user_id": str(ADA)}}

    assert without_addresses(answer, payload) is answer
    assert without_addresses(none, {"event": "user.removed", "data": told("user.removed", user_id=str(ADA))}) is none
