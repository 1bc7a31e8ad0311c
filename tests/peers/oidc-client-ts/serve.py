"""Serves the files of the folder in which it runs at a port; what is none of them is the page itself."""

import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(SimpleHTTPRequestHandler):
    """Answers with the page for every path of the application."""

    def do_GET(self) -> None:
        """Answer with the file, or the page."""
        if not Path(self.path.partition("?")[0].lstrip("/")).is_file():
            self.path = "/index.html"
        super().do_GET()


ThreadingHTTPServer(("localhost", int(sys.argv[1])), Handler).serve_forever()
