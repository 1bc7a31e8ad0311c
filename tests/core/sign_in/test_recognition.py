"""Devices that were removed during a sign-in from them, without a database."""

from __future__ import annotations

from uuid import uuid4

import pytest

from core.secrets import Secret
from core.sign_in import recognition
from core.sign_in.recognition import AdmittedDevice, DeviceRemovedMeanwhile


def admitted(*, is_still_there: bool) -> AdmittedDevice:
    """Return a device whose sign-in is about to be committed."""
    return AdmittedDevice(
        device_id=uuid4(), name="Laptop", token=Secret("token"), is_still_there=lambda: is_still_there
    )


def test_a_sign_in_from_a_device_that_was_removed_meanwhile_is_refused() -> None:
    recognition.require(admitted(is_still_there=True))

    with pytest.raises(DeviceRemovedMeanwhile) as refused:
        recognition.require(admitted(is_still_there=False))

    assert refused.value.reason == "device_removed"
