"""A connection is checked before a page of setup saves it: the issuer, the way to it, and the client secret."""

from __future__ import annotations

import base64
import socket
from typing import Any
from uuid import UUID

import pytest

from core.rate_limits import RateLimit
from core.secrets import Secret
from core.sign_in.upstream.flows import ProviderClient
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.clock import SettableClock
from tests.identity_provider import IdentityProvider
from tests.openid_provider import CLIENT_ID, CLIENT_SECRET, OpenIdProvider
from tests.upstream_provider import Request
from tests.upstream_provider import serving as serving_answers
from tests.world.openid_acme import Acme
from tests.world.setups import Setups

UPSTREAM = "/app/setup/parts/upstream"


class ChangedMeanwhile(list["Request"]):
    """The requests to a provider; with each, a member changes the connection."""

    def __init__(self, setups: Setups) -> None:
        super().__init__()
        self._connection = setups.team.world.connection

    def append(self, request: Request, /) -> None:
        super().append(request)
        self._connection.execute("UPDATE upstream_connections SET updated_at = updated_at + interval '1 second'")


async def connect(setups: Setups, **fields: Any) -> Answer:
    """Send the form of a new OpenID connection."""
    await setups.begin(await setups.create("upstream"))
    page = await setups.open("upstream?provider=oidc")
    filled = {"name": "Acme", "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, **fields}
    return await setups.visitor.submit(page, UPSTREAM, filled)


def closed_port() -> int:
    """Return a port at which nothing listens."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def is_saved(setups: Setups) -> bool:
    """Return whether a connection was made."""
    return setups.team.world.value("SELECT count(*) FROM upstream_connections") > 0


async def test_a_right_connection_is_saved_with_what_the_check_found(setups: Setups, provider: OpenIdProvider) -> None:
    page = await connect(setups, issuer=provider.url)

    assert page.status == 200
    assert "The last check found no problem." in page.text
    assert setups.team.world.rows("SELECT checked_at, check_problem FROM upstream_connections") == [
        (setups.team.world.clock(), None)
    ]


async def test_a_wrong_secret_is_told_before_anything_is_saved(setups: Setups, provider: OpenIdProvider) -> None:
    refused = await connect(setups, issuer=provider.url, client_secret="mistyped-secret")

    assert (refused.status, is_saved(setups)) == (400, False)
    assert 'id="client_secret-problem"' in refused.text
    assert "does not accept the client secret" in refused.text
    assert f'value="{provider.url}"' in refused.text
    assert f'value="{CLIENT_ID}"' in refused.text
    assert "mistyped-secret" not in refused.text


async def test_an_issuer_that_differs_by_a_slash_is_offered_as_the_provider_names_it(
    setups: Setups, provider: OpenIdProvider
) -> None:
    refused = await connect(setups, issuer=f"{provider.url}/")

    assert (refused.status, is_saved(setups)) == (400, False)
    assert f"calls itself <code>{provider.url}</code>" in refused.text
    assert f'name="issuer" type="url" value="{provider.url}"' in refused.text
    saved = await setups.visitor.submit(refused, UPSTREAM, {"client_secret": CLIENT_SECRET})
    assert (saved.status, is_saved(setups)) == (200, True)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"issuer": "https://evil.example"}, "names itself differently"),
        ({"issuer": 1}, "names itself differently"),
        ({"token_endpoint": None}, "lacks an address that signing in takes"),
        ({"jwks_uri": "ftp://idp.example/keys"}, "lacks an address that signing in takes"),
    ],
)
async def test_a_provider_that_describes_itself_wrongly_is_told(
    setups: Setups, provider: OpenIdProvider, document: dict[str, Any], told: str
) -> None:
    provider.document = document

    refused = await connect(setups, issuer=provider.url)

    assert (refused.status, is_saved(setups)) == (400, False)
    assert told in refused.text
    assert "evil.example" not in refused.text


async def test_each_thing_in_the_way_to_a_provider_has_a_sentence_of_its_own(setups: Setups) -> None:
    page: dict[str, tuple[int, str, bytes]] = {
        "/none/.well-known/openid-configuration": (404, "text/html", b"Not found"),
        "/html/.well-known/openid-configuration": (200, "text/html", b"<h1>Sign in</h1>"),
        "/list/.well-known/openid-configuration": (200, "application/json", b"[]"),
        "/null/.well-known/openid-configuration": (200, "application/json", b"null"),
    }
    with serving_answers(lambda _, path, __: page[path]) as url:
        told = {
            f"http://localhost:{closed_port()}": "does not accept connections",
            "https://192.168.7.7": "This is a private address",
            url.replace("http:", "https:"): "does not speak HTTPS",
            "http://idp.acme.example": "This must be an https address",
            f"{url}/none": "has no OpenID configuration",
            f"{url}/html": "something else than an OpenID configuration",
            f"{url}/list": "something else than an OpenID configuration",
            f"{url}/null": "has no OpenID configuration",
        }
        for issuer, sentence in told.items():
            refused = await connect(setups, issuer=issuer)
            assert (refused.status, is_saved(setups)) == (400, False), issuer
            assert sentence in refused.text, issuer
            assert f'value="{issuer}"' in refused.text, issuer
            setups.visitor.cookies.clear()


async def test_what_is_in_a_private_network_is_told_by_one_text(setups: Setups) -> None:
    """An open port, a closed one and no server at all look the same from outside."""
    with serving_answers(lambda *_: (200, "application/json", b"{}")) as url:
        port = url.rpartition(":")[2]
        texts = [
            (await connect(setups, issuer=f"https://10.1.2.3:{one}")).text.count("This is a private address")
            for one in (port, closed_port())
        ]

    assert texts[0] == texts[1] > 0


@pytest.mark.parametrize(
    ("error", "details", "told", "status"),
    [
        ("invalid_client", {"error_codes": [7_000_222]}, "has expired at the provider", 400),
        ("unauthorized_client", {}, "takes another client secret", 400),
        ("redirect_uri_mismatch", {}, "The redirect URI is not registered", 400),
        ("invalid_request", {}, "does not say whether the client secret is right", 200),
    ],
)
async def test_what_a_token_endpoint_says_of_our_credentials_is_told(
    setups: Setups, provider: OpenIdProvider, error: str, details: dict[str, Any], told: str, status: int
) -> None:
    provider.token_error, provider.token_details = error, details

    page = await connect(setups, issuer=provider.url)

    assert (page.status, is_saved(setups)) == (status, status == 200)
    assert told in page.text


async def test_a_change_is_checked_with_the_secret_that_is_stored(setups: Setups, provider: OpenIdProvider) -> None:
    page = await connect(setups, issuer=provider.url)
    [connection_id] = setups.team.world.rows("SELECT id FROM upstream_connections")[0]
    path = f"{UPSTREAM}/{connection_id}"

    refused = await setups.visitor.submit(page, path, client_id="mistyped")
    kept = await setups.visitor.submit(page, path, name="Acme at work", client_secret="")

    assert (refused.status, kept.status) == (400, 200)
    assert 'value="mistyped"' in refused.text
    assert setups.team.world.rows("SELECT name, client_id FROM upstream_connections") == [("Acme at work", CLIENT_ID)]


async def test_a_change_is_refused_when_the_connection_was_changed_while_its_provider_was_asked(
    setups: Setups, provider: OpenIdProvider
) -> None:
    page = await connect(setups, issuer=provider.url)
    [connection_id] = setups.team.world.rows("SELECT id FROM upstream_connections")[0]
    provider.requests = ChangedMeanwhile(setups)

    refused = await setups.visitor.submit(page, f"{UPSTREAM}/{connection_id}", name="Acme at work", client_secret="")

    assert refused.status == 409
    assert "was changed while its provider was asked" in refused.text
    assert setups.team.world.value("SELECT name FROM upstream_connections") == "Acme"


async def test_a_test_finds_a_secret_that_was_changed_at_the_provider_and_says_when(
    setups: Setups, provider: OpenIdProvider
) -> None:
    page = await connect(setups, issuer=provider.url)
    [connection_id] = setups.team.world.rows("SELECT id FROM upstream_connections")[0]
    provider.token_error = "invalid_client"

    tested = await setups.visitor.submit(page, f"{UPSTREAM}/{connection_id}/test")
    index = await setups.open("upstream")

    assert "does not accept the client secret" in tested.text
    assert "Found on" in tested.text
    assert "Not working" in index.text


async def test_what_was_checked_counts_no_more_when_a_member_changes_the_connection(
    setups: Setups, provider: OpenIdProvider
) -> None:
    await connect(setups, issuer=provider.url)
    [connection_id] = setups.team.world.rows("SELECT id FROM upstream_connections")[0]
    path, checked = f"/upstream-providers/{connection_id}", "SELECT checked_at FROM upstream_connections"

    await setups.team.request("owner", "PATCH", path, body={"name": "Acme at work"})
    assert setups.team.world.value(checked) is not None
    await setups.team.request("owner", "PATCH", path, body={"client_secret": "another-secret"})

    assert setups.team.world.value(checked) is None
    assert "was not asked about it since" in (await setups.visitor.open(f"{UPSTREAM}/{connection_id}")).text


async def test_a_client_id_and_a_secret_of_any_characters_are_sent_as_the_standard_has_them(acme: Acme) -> None:
    acme.provider.client_id, acme.provider.client_secret = "urn:client+1", "a:b%2B+c/d="
    await acme.change(client_id=acme.provider.client_id, client_secret=acme.provider.client_secret)

    tested = await acme.owner.post(f"{acme.path}/test")
    signed_in = await acme.sign_in()

    assert tested.json["success"] is True
    assert signed_in.status == 200
    assert acme.identities == 1
    sent = next(one for one in acme.provider.requests if one.path == "/token").headers["authorization"]
    assert base64.b64decode(sent.removeprefix("Basic ")) == b"urn%3Aclient%2B1:a%3Ab%252B%2Bc%2Fd%3D"


async def test_the_secret_of_any_language_is_sent_as_the_standard_has_it(acme: Acme) -> None:
    acme.provider.client_secret = "pässwörd: 100 % +"
    client = ProviderClient(client_id=CLIENT_ID, client_secret=Secret(acme.provider.client_secret))
    gateway = acme.world.installation.upstream_connections

    found = await gateway.try_credentials(acme.organization_id, acme.provider.url, client, redirect_uri="x")

    assert found is None


async def test_the_secret_of_another_issuer_is_read_for_no_check(acme: Acme) -> None:
    """The connection gets another issuer between two statements, or is deleted."""

    def read(uow: UnitOfWork, issuer: str) -> ProviderClient | None:
        return uow.upstream_connections.client_of(
            acme.organization_id, UUID(acme.connection_id), issuer, is_to_be_tested=True
        )

    database = acme.world.installation.database
    assert await database.read(read, "https://idp.example") is None
    assert await database.read(read, acme.provider.url) is not None


async def test_the_test_of_the_interface_includes_the_client_secret(acme: Acme) -> None:
    before = await acme.owner.post(f"{acme.path}/test")
    await acme.change(client_secret="another-secret")
    after = await acme.owner.post(f"{acme.path}/test")

    assert (before.json["success"], after.json["success"]) == (True, False)
    assert "client secret" in after.json["message"]


async def test_a_check_of_saml_metadata_is_told_at_its_field(setups: Setups, clock: SettableClock) -> None:
    await setups.begin(await setups.create("upstream"))
    page = await setups.open("upstream?provider=okta-saml")
    made = await setups.visitor.submit(page, UPSTREAM, name="Acme")
    [connection_id] = setups.team.world.rows("SELECT id FROM upstream_connections")[0]
    path = f"{UPSTREAM}/{connection_id}"

    closed = await setups.visitor.submit(made, path, metadata_url=f"http://localhost:{closed_port()}")
    nothing = await setups.visitor.submit(made, path, metadata_url="", metadata_xml="")
    wrong = await setups.visitor.submit(made, path, metadata_url="", metadata_xml="<html/>")
    saved = await setups.visitor.submit(
        made, path, metadata_url="", metadata_xml=IdentityProvider(now=clock).metadata()
    )

    assert "Attribute Statements" in made.text
    assert [one.status for one in (closed, nothing, wrong, saved)] == [400, 400, 400, 200]
    assert 'id="metadata_url-problem"' in closed.text
    assert "does not accept connections" in closed.text
    assert "&lt;html/&gt;" in wrong.text
    assert "The last check found no problem." in saved.text


def test_an_organization_asks_its_providers_a_few_times_a_minute() -> None:
    assert (RateLimit.CONNECTION_CHECK.burst, RateLimit.CONNECTION_CHECK.seconds_per_request) == (10, 6.0)
