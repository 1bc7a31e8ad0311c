"""The programs on the page of a service: each a whole application with the real values of the service, to copy and run.

A value stands in a program as a literal of its language, so that no redirect URI can become a part of the program. For
the same reason all of them are filled in at once: a redirect URI may contain the name of a placeholder.
"""

from __future__ import annotations

import html
import json
import re
import shlex
from dataclasses import field
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from core.lazy_dataclasses import dataclass
from core.services.services import Service, ServiceType
from entrypoints.pages.frame.languages import marked

# Stands in for the secret, which is shown once.
SECRET_PLACEHOLDER: Final = "YOUR_CLIENT_SECRET"  # noqa: S105 - it says where the secret goes
_PLACEHOLDER: Final = re.compile("@([A-Z_]+)@")
_FOLDER: Final = Path(__file__).parent / "programs"
# Where an application listens whose redirect URI names no port of this machine.
_PORT: Final = 8080


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A program: its name, the file to save it as, how to install what it needs, how to start it, and its text.

    `opens` is the address to open then; empty where the program itself says what to do. It leads to the machine of the
    program when `is_local`, and else has to be made to lead to its port. `guide` is the page of the manual that has its
    other files, if there are any.
    """

    word: str
    name: str
    file: str
    language: str
    install: str
    start: str
    opens: str
    is_local: bool
    port: int
    guide: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Program:
    """A program before the values are in it; `template` is its file in the folder `programs`.

    Another one is such a file, with its name in `_OF_TYPE`, and its language in `frame/highlighting.py`.
    """

    word: str
    name: str
    file: str
    language: str
    start: str
    template: str
    install: str = ""
    guide: str = ""

    def filled(self, values: dict[str, str], *, opens: str = "") -> Snippet:
        """Return it with these values in place of their names."""
        return Snippet(
            word=self.word,
            name=self.name,
            file=self.file,
            language=self.language,
            install=_with_values(self.install, values),
            start=_with_values(self.start, values),
            opens=opens,
            is_local=urlsplit(opens).scheme == "http",
            port=int(values["PORT"]),
            guide=self.guide,
            text=_with_values(_text(self.template), values),
        )


# In an environment of its own, and by the address and the hash of the wheel: the name is not ours on the package index.
_PIP: Final = "python3 -m venv .venv\n.venv/bin/pip install"
_FASTAPI: Final = _Program(
    word="fastapi",
    name=marked("Python, with FastAPI"),
    file="app.py",
    language="python",
    install=f'{_PIP} "gatehouse-client[fastapi] @ @DOWNLOAD@" uvicorn',
    start=".venv/bin/python app.py",
    template="fastapi.py.txt",
)
_DJANGO: Final = _Program(
    word="django",
    name=marked("Python, with Django"),
    file="app.py",
    language="python",
    install=f'{_PIP} "gatehouse-client[django] @ @DOWNLOAD@"',
    start=".venv/bin/python app.py",
    template="django.py.txt",
)
_FLASK: Final = _Program(
    word="flask",
    name=marked("Python, with Flask"),
    file="app.py",
    language="python",
    install=f'{_PIP} "gatehouse-client[flask] @ @DOWNLOAD@"',
    start=".venv/bin/python app.py",
    template="flask.py.txt",
)
_EXPRESS: Final = _Program(
    word="express",
    name=marked("Node, with Express"),
    file="app.mjs",
    language="javascript",
    install="npm install express express-session openid-client",
    start="node app.mjs",
    template="express.mjs.txt",
)
_NEXT: Final = _Program(
    word="nextjs",
    name=marked("Node, with Next.js"),
    file="gatehouse.js",
    language="javascript",
    install="npm init --yes\nnpm pkg set type=module\nnpm install next react react-dom openid-client jose",
    start="NEXT_TELEMETRY_DISABLED=1 npx next build && NEXT_TELEMETRY_DISABLED=1 npx next start --port @PORT@",
    template="nextjs.js.txt",
    guide="guides/nextjs",
)
_NODE: Final = _Program(
    word="openid-client",
    name=marked("Node, with openid-client"),
    file="app.mjs",
    language="javascript",
    install="npm install openid-client",
    start="node app.mjs",
    template="application.mjs.txt",
)
_BROWSER: Final = _Program(
    word="browser",
    name=marked("JavaScript in the browser"),
    file="app.mjs",
    language="javascript",
    start="node app.mjs",
    template="single_page.mjs.txt",
)
_CURL: Final = _Program(
    word="curl",
    name=marked("Shell, with curl"),
    file="sign-in.sh",
    language="shell",
    start="sh sign-in.sh",
    template="sign_in.sh.txt",
)
_MACHINES: Final = (
    _Program(
        word="curl",
        name=marked("Shell, with curl"),
        file="machine.sh",
        language="shell",
        start="sh machine.sh",
        template="machine.sh.txt",
    ),
    _Program(
        word="authlib",
        name=marked("Python, with Authlib"),
        file="machine.py",
        language="python",
        install=f"{_PIP} authlib requests",
        start=".venv/bin/python machine.py",
        template="machine.py.txt",
    ),
    _Program(
        word="openid-client",
        name=marked("Node, with openid-client"),
        file="machine.mjs",
        language="javascript",
        install="npm install openid-client",
        start="node machine.mjs",
        template="machine.mjs.txt",
    ),
)
# In the order of their tabs; those in Python stand together, the first of all is open.
_OF_TYPE: Final = {
    ServiceType.WEB: (_FASTAPI, _DJANGO, _FLASK, _EXPRESS, _NEXT),
    ServiceType.MOBILE: (_BROWSER,),
    ServiceType.DESKTOP: (_NODE,),
    ServiceType.API: _MACHINES,
}


def of_service(service: Service, issuer: str, secret: str = "", *, download: str) -> list[Snippet]:
    """Return the programs for a service; none for one with a security profile, which signs with keys of its own.

    `download` is the address of the Python package, with its hash.
    """
    if service.security_profile is not None:
        return []
    values = _values(service, issuer, secret or SECRET_PLACEHOLDER) | {"DOWNLOAD": download}
    if service.service_type is ServiceType.API:
        return [program.filled(values) for program in _OF_TYPE[ServiceType.API]]
    home = _home(service)
    # At the address of an installed application no other program can be.
    listening = _OF_TYPE[service.service_type] if home else ()
    return [*(program.filled(values, opens=home) for program in listening), _CURL.filled(values)]


def example(template: str) -> str:
    """Return a program with examples in place of the values, as guides of the manual have it."""
    values = _all_values(
        issuer="http://localhost:8000",
        client_id="YOUR_CLIENT_ID",
        secret=SECRET_PLACEHOLDER,
        redirect_uri=local_redirect_uri(),
        is_public=template == _BROWSER.template,
    )
    return _with_values(_text(template), values)


def local_redirect_uri() -> str:
    """Return a redirect URI to try a program on the machine of its developer."""
    return f"http://localhost:{_PORT}/callback"


def _redirect_uri(service: Service) -> str:
    """Return the redirect URI that a program uses: the first on this machine, else the first of the web, else any.

    Without any it is the one that the page offers to register.
    """
    of_web = [uri for uri in service.redirect_uris if urlsplit(uri).scheme in {"https", "http"}]
    here = [uri for uri in of_web if urlsplit(uri).scheme == "http"]
    return next(iter([*here, *of_web, *service.redirect_uris]), local_redirect_uri())


def _port(uri: str) -> int:
    parts = urlsplit(uri)
    return parts.port or 80 if parts.scheme == "http" else _PORT


def _home(service: Service) -> str:
    """Return the address at which an application on this machine is opened, or else the service's address."""
    parts = urlsplit(_redirect_uri(service))
    return f"{parts.scheme}://{parts.netloc}/" if parts.scheme in {"https", "http"} else ""


def _values(service: Service, issuer: str, secret: str) -> dict[str, str]:
    return _all_values(
        issuer=issuer,
        client_id=str(service.client_id),
        secret=secret,
        redirect_uri=_redirect_uri(service),
        is_public=not service.has_client_secret,
    )


def _text(template: str) -> str:
    return (_FOLDER / template).read_text("utf-8").rstrip("\n")


def _with_values(text: str, values: dict[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found[1]], text)


def _all_values(*, issuer: str, client_id: str, secret: str, redirect_uri: str, is_public: bool) -> dict[str, str]:
    """Return what stands in the programs for each placeholder."""
    path = urlsplit(redirect_uri).path or "/"
    insecure = urlsplit(issuer).scheme == "http"
    return {
        "ISSUER": json.dumps(issuer),
        "CLIENT_ID": json.dumps(client_id),
        "SECRET": json.dumps(secret),
        "REDIRECT_URI": json.dumps(redirect_uri),
        "PATH": json.dumps(path),
        # Where the path of the answer is the one that an application would use itself, it takes another one.
        "SIGN_OUT": json.dumps(html.escape(f"{path.rpartition('/')[0]}/logout")),
        "HOME": json.dumps("/" if path != "/" else "/home"),
        "PORT": str(_port(redirect_uri)),
        "CLIENT_AUTHENTICATION": "undefined, client.None()" if is_public else json.dumps(secret),
        "INSECURE": _INSECURE[is_public] if insecure else "",
        "SHELL_ISSUER": shlex.quote(issuer),
        "SHELL_ADDRESS": shlex.quote(
            f"{issuer}/auth/authorize?response_type=code&client_id={client_id}"
            f"&redirect_uri={quote(redirect_uri, safe='')}&scope=openid%20email%20profile&code_challenge_method=S256"
        ),
        "SHELL_REDIRECT_URI": shlex.quote(redirect_uri),
        "SHELL_CLIENT": shlex.quote(f"{client_id}:{secret}"),
        "SHELL_CREDENTIALS": (
            f"--data-urlencode client_id={client_id}" if is_public else f"--user {shlex.quote(f'{client_id}:{secret}')}"
        ),
    }


# An issuer without https is for trying on one machine; a client of OpenID Connect refuses it otherwise.
_INSECURE: Final = {
    True: ", { execute: [client.allowInsecureRequests] }",
    False: ", undefined, { execute: [client.allowInsecureRequests] }",
}
