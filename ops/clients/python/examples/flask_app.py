"""A Flask application whose users sign in at Gatehouse.

pip install "../gatehouse/ops/clients/python[flask]"
export ISSUER=http://localhost:8000 CLIENT_ID=… CLIENT_SECRET=… COOKIE_SECRET=$(openssl rand -hex 32)
flask --app flask_app run --port 9000
"""

import os

from flask import Flask, g

from gatehouse_client import SignIn, TokenVerifier
from gatehouse_client.flask import Protection

HOME = os.environ.get("HOME_URL", "http://localhost:9000")

app = Flask(__name__)
gatehouse = Protection(
    app,
    sign_in=SignIn(
        os.environ["ISSUER"],
        client_id=os.environ["CLIENT_ID"],
        client_secret=os.environ["CLIENT_SECRET"],
        redirect_uri=f"{HOME}/session/callback",
        post_logout_redirect_uri=f"{HOME}/",
        cookie_secret=os.environ["COOKIE_SECRET"],
    ),
    verifier=TokenVerifier(os.environ["ISSUER"], audience=os.environ["CLIENT_ID"]),
)


@app.get("/")
def home() -> str:
    return '<!doctype html><title>Shop</title><a href="/me">My account</a>'


@app.get("/me")
@gatehouse.signed_in
def me() -> str:
    sign_out = '<form method="post" action="/session/logout"><button>Sign out</button></form>'
    return f"<!doctype html><title>Shop</title><h1>Hello {g.caller.email}</h1>{sign_out}"


# Your own people, by their role in your organization; a person who came for a customer is refused.
@app.get("/admin")
@gatehouse.role("owner", "admin")
def admin() -> dict[str, str]:
    return {"admin": g.caller.subject}


# People of a customer, by their role there.
@app.get("/team")
@gatehouse.customer_role("owner", "admin")
def team() -> dict[str, str]:
    return {"team of": g.caller.customer.id}


# People with a role of your product.
@app.get("/reports")
@gatehouse.service_role("editor")
def reports() -> dict[str, str]:
    return {"reports of": g.caller.subject}


@app.get("/exports")
@gatehouse.feature("exports")
def exports() -> dict[str, str]:
    return {"exports of": g.caller.subject}


@app.get("/api/things")
@gatehouse.bearer()
def things() -> dict[str, str]:
    return {"things of": g.caller.subject}
