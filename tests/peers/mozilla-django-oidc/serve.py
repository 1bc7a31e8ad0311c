"""Serves the site of `settings.py` at a port, with empty tables. It is run by the peer's own Python."""

import importlib
import sys
from wsgiref.simple_server import make_server

importlib.import_module("django").setup()
importlib.import_module("django.core.management").call_command("migrate", verbosity=0)
application = importlib.import_module("django.core.wsgi").get_wsgi_application()
make_server("localhost", int(sys.argv[1]), application).serve_forever()
