"""A receiver of deliveries to copy: it verifies their signatures, with the standard library of Python alone."""

from typing import Final

RECEIVER: Final = """\
import base64, hashlib, hmac, http.server, os, time
KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sent_at = self.headers.get("webhook-timestamp", "0")
        body = self.rfile.read(int(self.headers["content-length"]))
        signed = f"{self.headers['webhook-id']}.{sent_at}.".encode() + body
        mac = b"v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256))
        given = self.headers.get("webhook-signature", "").encode().split()
        is_ours = abs(time.time() - int(sent_at)) < 300 and any(hmac.compare_digest(mac, one) for one in given)
        self.send_response(204 if is_ours else 401)
        self.end_headers()
        if is_ours:
            print(self.headers["webhook-id"], body.decode(), flush=True)
http.server.HTTPServer(("", int(os.environ.get("PORT", "9000"))), Receiver).serve_forever()
"""
