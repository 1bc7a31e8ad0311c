"""An Apache with mod_auth_mellon, a service provider that is a program of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.service_provider import KeyPair
from tests.waiting import wait_until

MODULES = Path("/usr/lib/apache2/modules")
APACHE = shutil.which("apache2", path=f"{os.environ['PATH']}:/usr/sbin")
SECONDS_MAX = 120.0

_CONFIGURATION = """
ServerRoot {folder}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile {folder}/pid
ErrorLog {folder}/errors
Mutex file:{folder}
{user}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule dir_module {modules}/mod_dir.so
LoadModule headers_module {modules}/mod_headers.so
LoadModule auth_mellon_module {modules}/mod_auth_mellon.so
DocumentRoot {folder}/pages
StartServers 1
<Location />
  MellonEnable info
  MellonEndpointPath /mellon
  MellonSPentityId http://127.0.0.1:{port}/mellon/metadata
  {own_metadata}
  MellonSPPrivateKeyFile {folder}/key
  MellonSPCertFile {folder}/certificate
  MellonIdPMetadataFile {folder}/metadata
  MellonSignatureMethod rsa-sha256
  Header set X-Name-Id "%{{MELLON_NAME_ID}}e"
  Header set X-Mail "%{{MELLON_mail}}e"
  Header set X-Tenant "%{{MELLON_tenant}}e"
  Header set X-Roles "%{{MELLON_roles_0}}e %{{MELLON_roles_1}}e"
</Location>
<Location /secret>
  AuthType Mellon
  MellonEnable auth
  Require valid-user
</Location>
"""
# Its own metadata, where it asks for other names of users than those that it would by itself.
_OWN_METADATA = """<?xml version="1.0" encoding="UTF-8"?>
<EntityDescriptor entityID="{url}/mellon/metadata" xmlns="urn:oasis:names:tc:SAML:2.0:metadata">
  <SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true"
                   protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data>
      <ds:X509Certificate>{certificate}</ds:X509Certificate>
    </ds:X509Data></ds:KeyInfo></KeyDescriptor>
    <NameIDFormat>{name_format}</NameIDFormat>
    <AssertionConsumerService index="0" isDefault="true" Location="{url}/mellon/postResponse"
                              Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"/>
  </SPSSODescriptor>
</EntityDescriptor>
"""


@dataclass(frozen=True)
class Mellon:
    """A running Apache, whose pages below `/secret/` ask for a sign-in."""

    url: str
    folder: Path

    @property
    def errors(self) -> str:
        """What it has logged."""
        return (self.folder / "errors").read_text()


@contextmanager
def mellon(*, metadata: str, key: KeyPair, name_format: str = "") -> Generator[Mellon]:
    """Run an Apache for an identity provider with these metadata, until the block ends.

    It asks for names of users of this format, if one is given.
    """
    if APACHE is None or not (MODULES / "mod_auth_mellon.so").exists():
        # In CI a missing program is an error, so that success means that these tests ran.
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing("no mod_auth_mellon; apt-get install libapache2-mod-auth-mellon")
    # Not below the folders of the test, which only its own user may open.
    with tempfile.TemporaryDirectory() as folder:
        yield from _running(APACHE, Path(folder), metadata, key, name_format)


def _running(apache: str, folder: Path, metadata: str, key: KeyPair, name_format: str) -> Generator[Mellon]:
    port = free_port()
    pages = folder / "pages" / "secret"
    pages.mkdir(parents=True)
    (pages / "index.html").write_text("a secret")
    (folder / "key").write_text(key.private_pem)
    (folder / "certificate").write_text(key.certificate_pem)
    (folder / "metadata").write_text(metadata)
    user = "User www-data\nGroup www-data" if os.geteuid() == 0 else ""
    own_metadata = ""
    if name_format:
        certificate = "".join(key.certificate_pem.splitlines()[1:-1])
        described = _OWN_METADATA.format(
            url=f"http://127.0.0.1:{port}", certificate=certificate, name_format=name_format
        )
        (folder / "own").write_text(described)
        own_metadata = f"MellonSPMetadataFile {folder}/own"
    configuration = _CONFIGURATION.format(
        folder=folder, port=port, modules=MODULES, user=user, own_metadata=own_metadata
    )
    (folder / "configuration").write_text(configuration)
    # Its workers are another user when it is started by root.
    for one in (folder, *folder.rglob("*")):
        one.chmod(0o755 if one.is_dir() else 0o644)
    command = [apache, "-d", str(folder), "-f", str(folder / "configuration"), "-D", "FOREGROUND"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        try:
            _wait_until_it_listens(process, port)
            yield Mellon(f"http://127.0.0.1:{port}", folder)
        finally:
            process.terminate()


def free_port() -> int:
    """Return a port of this machine that nothing uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int) -> None:
    def listens() -> bool:
        assert process.poll() is None, "Apache has stopped"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            return False
        return True

    wait_until(listens)
