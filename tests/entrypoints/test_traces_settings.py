"""The settings of traces, and what a start needs for them."""

from __future__ import annotations

import sys

import pytest

from adapters.prometheus import PrometheusMetrics
from adapters.tracing.spans import SamplingTracer
from entrypoints import equipment
from entrypoints.refusals import CannotStart
from entrypoints.settings import SettingInvalid, load
from tests.shown_text import shows

URL = "http://127.0.0.1:4318/v1/traces"


def test_without_a_collector_there_is_nothing_that_traces() -> None:
    assert equipment.tracing(load({}), version="1.2.3", metrics=PrometheusMetrics(version="1.2.3")) is None


def test_with_a_collector_the_share_that_is_set_is_traced() -> None:
    settings = load({"GATEHOUSE_TRACES_URL": URL, "GATEHOUSE_TRACES_PERCENT": "100"})

    tracing = equipment.tracing(settings, version="1.2.3", metrics=PrometheusMetrics(version="1.2.3"))

    assert tracing is not None
    tracing.close()
    assert isinstance(tracing.tracer, SamplingTracer)


def test_a_collector_without_the_packages_for_it_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As where they are not installed.
    monkeypatch.setitem(sys.modules, "adapters.tracing.exporting", None)

    with pytest.raises(CannotStart, match=r"requirements-traces\.lock"):
        equipment.tracing(
            load({"GATEHOUSE_TRACES_URL": URL}), version="1.2.3", metrics=PrometheusMetrics(version="1.2.3")
        )


def test_an_authorization_cannot_add_a_header() -> None:
    with pytest.raises(SettingInvalid, match="TRACES_AUTHORIZATION"):
        load({"GATEHOUSE_TRACES_AUTHORIZATION": "Bearer one\r\nX-Other: two"})


def test_the_address_of_a_collector_has_no_query() -> None:
    with pytest.raises(SettingInvalid, match="TRACES_URL"):
        load({"GATEHOUSE_TRACES_URL": f"{URL}?token=s3cret"})


def test_the_authorization_is_a_header_value_and_a_secret() -> None:
    settings = load({"GATEHOUSE_TRACES_AUTHORIZATION": "Bearer s3cret"})

    assert settings.traces_authorization is not None
    assert settings.traces_authorization.reveal() == "Bearer s3cret"
    assert not shows(repr(settings), "s3cret")
