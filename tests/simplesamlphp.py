"""SimpleSAMLphp as an identity provider: a program of its own, whose users are signed in there without a question."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, HTTPRedirectHandler, OpenerDirector, build_opener

import pytest

from tests.mellon import free_port
from tests.service_provider import KeyPair
from tests.waiting import wait_until

HOME = Path("/usr/share/simplesamlphp")
PHP = shutil.which("php")
SECONDS_MAX = 120.0

_CONFIGURATION = """<?php
$config = [
    'baseurlpath' => '{url}/',
    'certdir' => '{folder}/',
    'metadatadir' => '{folder}/metadata/',
    'loggingdir' => '{folder}/',
    'datadir' => '{folder}/',
    'tempdir' => '{folder}/temporary',
    'secretsalt' => 'a salt of the tests',
    'auth.adminpassword' => 'of nobody else',
    'technicalcontact_email' => 'na@example.com',
    'timezone' => 'UTC',
    'logging.handler' => 'file',
    'logging.logfile' => 'log',
    'logging.level' => 7,
    'enable.saml20-idp' => true,
    'module.enable' => ['exampleauth' => true, 'saml' => true, 'core' => true],
    'session.cookie.secure' => false,
    'session.phpsession.savepath' => '{folder}/sessions',
    'session.phpsession.httponly' => true,
    'store.type' => 'phpsession',
    'trusted.url.domains' => null,
    'metadata.sources' => [['type' => 'flatfile']],
];
"""
_SOURCES = """<?php
$config = ['static' => ['exampleauth:StaticSource', 'uid' => ['employee-1'], 'email' => ['ada@acme.example']]];
"""
_HOSTED = """<?php
$metadata['{url}/idp'] = [
    'host' => '__DEFAULT__',
    'privatekey' => 'key.pem',
    'certificate' => 'certificate.pem',
    'auth' => 'static',
    'sign.logout' => true,
    'authproc' => [
        3 => [
            'class' => 'saml:AttributeNameID',
            'attribute' => 'uid',
            'Format' => 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
        ],
    ],
    {options}
];
"""
# It reads our metadata as it would any service provider's.
_REMOTE = """<?php
$xml = '{folder}/service-provider.xml';
if (file_exists($xml)) {{
    $read = \\SimpleSAML\\Metadata\\SAMLParser::parseFile($xml)->getMetadata20SP();
    $metadata[$read['entityid']] = $read;
}}
"""


class _Nowhere(HTTPRedirectHandler):
    """Follows redirects within the identity provider, and stops at those that lead elsewhere."""

    def __init__(self, url: str) -> None:
        self._url = url

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if newurl.startswith(f"{self._url}/"):
            return super().redirect_request(req, fp, code, msg, headers, newurl)
        return None


@dataclass
class SimpleSamlPhp:
    """A running identity provider, and a browser that has been there."""

    url: str
    folder: Path
    opener: OpenerDirector = field(init=False)

    def __post_init__(self) -> None:
        self.opener = build_opener(HTTPCookieProcessor(CookieJar()), _Nowhere(self.url))

    @property
    def metadata(self) -> str:
        """Its metadata."""
        return self.open(f"{self.url}/saml2/idp/metadata.php")

    def know(self, metadata: str) -> None:
        """Give it the metadata of its service provider."""
        (self.folder / "service-provider.xml").write_text(metadata)

    def open(self, address: str, fields: Mapping[str, str] | None = None) -> str:
        """Return the page at an address, or the address elsewhere to which that leads."""
        data = urlencode(fields).encode() if fields is not None else None
        try:
            with self.opener.open(address, data=data, timeout=SECONDS_MAX) as answer:
                return answer.read().decode()
        except HTTPError as answer:
            if "Location" not in answer.headers:
                raise AssertionError(f"{answer.code}: {answer.read().decode()[:4000]}\n{self.log}") from None
            return answer.headers["Location"]

    @property
    def log(self) -> str:
        """What it has logged last."""
        log = self.folder / "log"
        return log.read_text()[-4000:] if log.exists() else ""


@contextmanager
def simplesamlphp(folder: Path, key: KeyPair, *options: str) -> Generator[SimpleSamlPhp]:
    """Run an identity provider with these options of its own metadata, until the block ends."""
    if PHP is None or not HOME.exists():
        # In CI a missing program is an error, so that success means that these tests ran.
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing("no SimpleSAMLphp; apt-get install simplesamlphp php-cli")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    for name in ("metadata", "sessions", "temporary"):
        (folder / name).mkdir()
    (folder / "key.pem").write_text(key.private_pem)
    (folder / "certificate.pem").write_text(key.certificate_pem)
    (folder / "config.php").write_text(_CONFIGURATION.format(folder=folder, url=url))
    (folder / "authsources.php").write_text(_SOURCES)
    hosted = _HOSTED.format(url=url, options="\n    ".join(f"{option}," for option in options))
    (folder / "metadata" / "saml20-idp-hosted.php").write_text(hosted)
    (folder / "metadata" / "saml20-sp-remote.php").write_text(_REMOTE.format(folder=folder))
    command = [PHP, "-d", "error_reporting=E_ALL & ~E_DEPRECATED", "-d", "display_errors=0", "-S", f"127.0.0.1:{port}"]
    environment = {**os.environ, "SIMPLESAMLPHP_CONFIG_DIR": str(folder)}
    with (
        (folder / "errors").open("w") as errors,
        subprocess.Popen(
            [*command, "-t", str(HOME / "www")],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        ) as process,
    ):
        try:
            _wait_until_it_answers(process, f"{url}/saml2/idp/metadata.php", folder)
            yield SimpleSamlPhp(url, folder)
        finally:
            process.terminate()


def _wait_until_it_answers(process: subprocess.Popen[bytes], address: str, folder: Path) -> None:
    def answers() -> bool:
        assert process.poll() is None, (folder / "errors").read_text()
        try:
            build_opener().open(address, timeout=SECONDS_MAX).close()
        except HTTPError as refused:
            raise AssertionError(f"{refused.code}: {refused.read().decode()[:3000]}") from None
        except OSError:
            return False
        return True

    wait_until(answers)
