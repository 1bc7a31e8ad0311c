"""The metrics endpoint; what is measured is tested with the adapter."""

from __future__ import annotations

from tests.application import Client


async def test_the_metrics_are_in_the_text_format_of_prometheus(client: Client) -> None:
    answer = await client.get("/metrics")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4"
    assert "# TYPE sso_http_request_duration_seconds histogram\n" in answer.text


async def test_a_request_is_counted_under_the_template_of_its_route(client: Client) -> None:
    await client.get("/dev/mailbox/00000000-0000-0000-0000-000000000000")

    answer = await client.get("/metrics")

    counted = 'sso_http_request_duration_seconds_count{method="GET",route="/dev/mailbox/:message_id",status="4xx"} 1.0'
    assert counted in answer.text


async def test_an_unknown_path_adds_no_label(client: Client) -> None:
    await client.get("/who/knows/what")

    answer = await client.get("/metrics")

    assert "/who/knows/what" not in answer.text
    assert 'route="unmatched"' in answer.text
