"""A web server with mod_auth_openidc (Debian) protects pages by signing in, unchanged.

The module is `apt-get install libapache2-mod-auth-openidc`; without it and Apache the test is skipped.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from adapters.postgres.driver.connection import Connection
from core.sessions.signing_keys import KeyPair
from tests.waiting import wait_until
from tests.world.builder import EMAIL, PASSWORD
from tests.world.http_visitor import HttpVisitor, destination_of
from tests.world.peer_customers import CY, insert_customers
from tests.world.peer_site import peer_site

APACHE = shutil.which("apache2") or shutil.which("apache2", path="/usr/sbin")
MODULES = Path("/usr/lib/apache2/modules")
MODULE = Path(os.environ.get("MOD_AUTH_OPENIDC", MODULES / "mod_auth_openidc.so"))
STOP_SECONDS_MAX = 60

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(APACHE is None or not MODULE.exists(), reason="no Apache with mod_auth_openidc"),
]

CONFIGURATION = """
ServerName localhost
ServerRoot "{folder}"
PidFile "{folder}/apache.pid"
Listen 127.0.0.1:{port}
ErrorLog "{folder}/error.log"
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule headers_module {modules}/mod_headers.so
LoadModule auth_openidc_module {module}
User {user}
DocumentRoot "{folder}/pages"
OIDCProviderMetadataURL {ISSUER}/.well-known/openid-configuration
OIDCClientID {CLIENT_ID}
OIDCClientSecret {CLIENT_SECRET}
OIDCRedirectURI http://localhost:{port}/protected/callback
OIDCCryptoPassphrase a-passphrase-of-the-test
OIDCScope "openid email"
OIDCPKCEMethod S256
<Location /protected>
    AuthType openid-connect
    Require valid-user
</Location>
{pages}
"""
OF_A_PERSON = """
<Location /protected/page.html>
    Require claim email:{EMAIL}
</Location>
"""
SHOWN = """
Header set Seen "%{OIDC_CLAIM_customer}e %{OIDC_CLAIM_customer_id}e %{OIDC_CLAIM_customer_role}e \
[%{OIDC_CLAIM_service_roles}e]"
"""
# The pages of a customer, which ask people of another one to sign in again, as in `ops/docs/customers.md`.
OF_A_CUSTOMER = """
<Location /protected/{customer}>
    OIDCPathAuthRequestParams customer={customer_id}
    Require claim customer_id:{customer_id}
    OIDCUnAutzAction auth
</Location>
"""
ALLOW = "/auth/authorize/allow"


@contextmanager
def apache(folder: Path, known: Mapping[str, str], pages: str) -> Generator[str]:
    """Run a web server whose pages are protected as is said; return its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for below in ("", "globex", "initech"):
        (folder / "pages" / "protected" / below).mkdir(parents=True, exist_ok=True)
        (folder / "pages" / "protected" / below / "page.html").write_text("welcome")
    configuration = folder / "apache.conf"
    configuration.write_text(
        CONFIGURATION.format(
            folder=folder,
            port=port,
            modules=MODULES,
            module=MODULE,
            pages=pages,
            user="www-data" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name,
            **known,
        )
    )
    folder.chmod(0o755)
    process = subprocess.Popen([APACHE or "apache2", "-DFOREGROUND", "-f", str(configuration)])
    try:
        wait_until(lambda: _answers(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "error.log").read_text()
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(STOP_SECONDS_MAX)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of which every part of the path is readable by the user of the web server."""
    folder = tmp_path_factory.mktemp("apache")
    for parent in folder.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o011)
    return folder


@pytest.fixture
def known(
    connection: Connection, database_url: str, key_pairs: tuple[KeyPair, KeyPair]
) -> Generator[Mapping[str, str]]:
    """A running server, as the web server knows it."""
    with peer_site(connection, database_url, key_pairs) as environment:
        yield environment


def register(connection: Connection, known: Mapping[str, str], address: str) -> None:
    """Register the callback of the web server."""
    connection.execute(
        "UPDATE services SET redirect_uris = %s WHERE client_id = %s",
        ([f"{address}/protected/callback"], known["CLIENT_ID"]),
    )


@pytest.mark.parametrize("signing", ["RS256", "ES256"])
def test_mod_auth_openidc_works_unchanged(
    connection: Connection, known: Mapping[str, str], folder: Path, signing: str
) -> None:
    connection.execute("UPDATE services SET token_signing = %s", (signing,))
    with apache(folder, known, OF_A_PERSON.format(**known)) as address:
        register(connection, known, address)

        with httpx.Client(follow_redirects=False) as client, HttpVisitor(known["ISSUER"]) as visitor:
            asked = client.get(f"{address}/protected/page.html")
            back = destination_of(visitor.sign_in(asked.headers["Location"], EMAIL, PASSWORD))
            signed_in = client.get(back)
            shown = client.get(signed_in.headers["Location"])

        assert asked.headers["Location"].startswith(f"{known['ISSUER']}/auth/authorize?")
        assert (shown.status_code, shown.text) == (200, "welcome")


def test_mod_auth_openidc_signs_people_of_two_customers_in(
    connection: Connection, known: Mapping[str, str], folder: Path
) -> None:
    sign_ins = insert_customers(connection, known)
    # The person in both comes to the pages of the second customer after the pages of the first.
    pages = [OF_A_CUSTOMER.format(**one.claims) for one in sign_ins if one.email == CY]
    with apache(folder, known, SHOWN + "".join(pages)) as address:
        register(connection, known, address)
        for email in dict.fromkeys(one.email for one in sign_ins):
            with httpx.Client(follow_redirects=False) as client, HttpVisitor(known["ISSUER"]) as visitor:
                for expected in (one.claims for one in sign_ins if one.email == email):
                    below = f"/{expected['customer']}" if email == CY else ""
                    asked = client.get(f"{address}/protected{below}/page.html")
                    where = asked.headers["Location"]
                    page = visitor.open(where) if visitor.cookies else visitor.sign_in(where, email, PASSWORD)
                    if not (page.has_redirect_location or "Refresh" in page.headers):
                        page = visitor.submit(page, ALLOW)
                    signed_in = client.get(destination_of(page))
                    shown = client.get(signed_in.headers["Location"])

                    assert (shown.status_code, shown.text) == (200, "welcome")
                    assert shown.headers["Seen"].split(" ") == [
                        expected["customer"],
                        expected["customer_id"],
                        expected["customer_role"],
                        f"[{','.join(expected['service_roles'])}]",
                    ]
