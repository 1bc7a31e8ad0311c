"""A site in Django that is an identity provider: its users, its server on a free port, and what a test tells it.

It is imported by the scripts of the peers (`tests/peers/django-allauth/provider.py` and its like), and run by their own
Python. A script binds a port, prepares the site, and serves it until its standard input ends. A test tells it what to
do by lines in JSON: the name of a command, and its arguments.
"""

import importlib
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

CALLBACK = "http://localhost:8000/auth/upstream/callback"
SIGNED_OUT = "http://localhost:8000/auth/upstream/signed-out"
# The people of the provider, whose ids are their numbers in this order.
PEOPLE = os.environ["PEOPLE"].split(",")
PASSWORD = "of this provider alone"

_conf = importlib.import_module("django.conf")


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the library
        """Log nothing."""


def bound() -> Any:
    """Return a server at a free port of this machine, which serves nothing yet."""
    return _Server(("127.0.0.1", 0), _Silent)


def url_of(server: Any) -> str:
    """Return the address of a server."""
    return f"http://127.0.0.1:{server.server_port}"


def prepare(folder: Path, *applications: str, **settings: Any) -> None:
    """Configure the site, with its database in a folder, and make its tables and users."""
    _conf.settings.configure(
        ALLOWED_HOSTS=["127.0.0.1"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / "site.sqlite3")}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.messages",
            "django.contrib.sessions",
            *applications,
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            *settings.pop("MIDDLEWARE", ()),
        ],
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        ROOT_URLCONF="__main__",
        SECRET_KEY="of the tests",
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [str(folder / "templates")],
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        USE_TZ=True,
        **settings,
    )
    importlib.import_module("django").setup()
    importlib.import_module("django.core.management").call_command("migrate", verbosity=0)
    for name in PEOPLE:
        user = _users().create_user(name, f"{name}@acme.example", PASSWORD)
        user.first_name, user.last_name = name.title(), "Example"
        user.save()


def set_groups(name: str, groups: list[str]) -> None:
    """Put a user into these groups alone."""
    models = importlib.import_module("django.contrib.auth.models")
    _users().get(username=name).groups.set([models.Group.objects.get_or_create(name=group)[0] for group in groups])


def groups_of(user: Any) -> list[str]:
    """Return the groups of a user."""
    return sorted(group.name for group in user.groups.all())


def change_setting(name: str, value: Any) -> None:
    """Change a setting of the running site, and tell the applications that have read it."""
    setattr(_conf.settings, name, value)
    importlib.import_module("django.core.signals").setting_changed.send(
        sender=None, setting=name, value=value, enter=True
    )


def serve(server: Any, commands: Mapping[str, Callable[..., Any]]) -> None:
    """Serve the site, print its address, and do what the lines of the standard input say until they end."""
    server.set_app(importlib.import_module("django.core.wsgi").get_wsgi_application())
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    _print(url_of(server))
    for line in sys.stdin:
        name, arguments = json.loads(line)
        _print(commands[name](**arguments))


def _users() -> Any:
    return importlib.import_module("django.contrib.auth").get_user_model().objects


def _print(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
