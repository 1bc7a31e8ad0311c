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
from tests.world.peer_site import peer_site

APACHE = shutil.which("apache2") or shutil.which("apache2", path="/usr/sbin")
MODULES = Path("/usr/lib/apache2/modules")
MODULE = Path(os.environ.get("MOD_AUTH_OPENIDC", MODULES / "mod_auth_openidc.so"))
STOP_SECONDS_MAX = 10

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
    Require claim email:{EMAIL}
</Location>
"""


@contextmanager
def apache(folder: Path, known: Mapping[str, str]) -> Generator[str]:
    """Run a web server whose pages are protected; return its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    (folder / "pages" / "protected").mkdir(parents=True)
    (folder / "pages" / "protected" / "page.html").write_text("welcome")
    configuration = folder / "apache.conf"
    configuration.write_text(
        CONFIGURATION.format(
            folder=folder,
            port=port,
            modules=MODULES,
            module=MODULE,
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


def test_mod_auth_openidc_works_unchanged(
    connection: Connection,
    database_url: str,
    key_pairs: tuple[KeyPair, KeyPair],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    # Every part of the path has to be readable by the user of the web server.
    folder = tmp_path_factory.mktemp("apache")
    for parent in folder.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o011)
    with peer_site(connection, database_url, key_pairs) as known, apache(folder, known) as address:
        connection.execute(
            "UPDATE services SET redirect_uris = %s WHERE client_id = %s",
            ([f"{address}/protected/callback"], known["CLIENT_ID"]),
        )

        with httpx.Client(follow_redirects=False) as client, HttpVisitor(known["ISSUER"]) as visitor:
            asked = client.get(f"{address}/protected/page.html")
            back = destination_of(visitor.sign_in(asked.headers["Location"], EMAIL, PASSWORD))
            signed_in = client.get(back)
            shown = client.get(signed_in.headers["Location"])

        assert asked.headers["Location"].startswith(f"{known['ISSUER']}/auth/authorize?")
        assert (shown.status_code, shown.text) == (200, "welcome")
