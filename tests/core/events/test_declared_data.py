"""The data of each type of event: every user's id has the address beside it, unless it must not."""

from __future__ import annotations

from core.events.data import keys_of
from core.events.declared_data import DATA, address_keys_of
from core.events.events import EventType

# Ids without an address beside them, and why.
WITHOUT_ADDRESS = {
    # It is in `email`.
    EventType.CUSTOMER_USER_ADDED: {"user_id"},
    EventType.CUSTOMER_USER_CHANGED: {"user_id"},
    # The vendor learns nothing else about a removed person.
    EventType.CUSTOMER_USER_REMOVED: {"user_id"},
    # An anonymized person has no address.
    EventType.USER_ANONYMIZED: {"user_id"},
}


def test_every_type_has_data() -> None:
    assert set(DATA) == set(EventType)


def test_the_address_stands_beside_each_id_of_a_user_and_is_named_after_it() -> None:
    for event, data in DATA.items():
        keys = keys_of(data)
        addresses = {key.address_of: key.name for key in keys if key.address_of is not None}
        ids = {key.name for key in keys if key.name.endswith("user_id") or key.name in {"kept", "revoked_by"}}

        assert addresses.keys() == ids - WITHOUT_ADDRESS.get(event, set()), event
        for name, address in addresses.items():
            assert address == (f"{name}_emails" if name == "kept" else f"{str(name).removesuffix('_id')}_email"), event
            assert [key.name for key in keys].index(address) == [key.name for key in keys].index(str(name)) + 1, event


def test_an_address_may_be_left_out_where_its_id_may() -> None:
    for event, data in DATA.items():
        keys = {key.name: key for key in keys_of(data)}
        for name, address in address_keys_of(event.value).own.items():
            assert keys[address].is_always_there == keys[name].is_always_there, event


def test_the_keys_that_all_events_may_have_come_last() -> None:
    names = [key.name for key in keys_of(DATA[EventType.DOMAIN_SET]) if key.place is None]

    assert names[:2] == ["domain", "replaced"]
    assert names[2:] == [
        "organization_key_id",
        "organization_key_name",
        "organization_key_workload_id",
        "setup_link_id",
    ]


def test_an_event_of_a_type_that_there_is_no_more_has_no_addresses() -> None:
    keys = address_keys_of("user.vanished")

    assert (keys.own, keys.within) == ({}, {})


def test_the_parts_of_a_list_have_addresses_too() -> None:
    keys = address_keys_of(EventType.SERVICE_ACCESS_CHANGED.value)

    assert keys.own == {}
    assert {name: part.own for name, part in keys.within.items()} == {
        "added": {"subject": "user_email"},
        "removed": {"subject": "user_email"},
    }
