"""A FastAPI application whose users sign in at Gatehouse.

pip install "../gatehouse/ops/clients/python[fastapi]" uvicorn
export ISSUER=http://localhost:8000 CLIENT_ID=… CLIENT_SECRET=… COOKIE_SECRET=$(openssl rand -hex 32)
uvicorn fastapi_app:app --port 9000
"""

import os
from typing import Annotated

from fastapi import Depends, FastAPI
from fastapi.responses import HTMLResponse

from gatehouse_client import AsyncSignIn, AsyncTokenVerifier, Caller
from gatehouse_client.starlette import Protection

HOME = os.environ.get("HOME_URL", "http://localhost:9000")

gatehouse = Protection(
    sign_in=AsyncSignIn(
        os.environ["ISSUER"],
        client_id=os.environ["CLIENT_ID"],
        client_secret=os.environ["CLIENT_SECRET"],
        redirect_uri=f"{HOME}/session/callback",
        post_logout_redirect_uri=f"{HOME}/",
        cookie_secret=os.environ["COOKIE_SECRET"],
    ),
    verifier=AsyncTokenVerifier(os.environ["ISSUER"], audience=os.environ["CLIENT_ID"]),
)
app = FastAPI()
app.router.routes.extend(gatehouse.routes)


@app.get("/", response_class=HTMLResponse)
async def home() -> str:
    return '<!doctype html><title>Shop</title><a href="/me">My account</a>'


@app.get("/me", response_class=HTMLResponse)
async def me(caller: Annotated[Caller, Depends(gatehouse.signed_in)]) -> str:
    sign_out = '<form method="post" action="/session/logout"><button>Sign out</button></form>'
    return f"<!doctype html><title>Shop</title><h1>Hello {caller.email}</h1>{sign_out}"


# Your own people, by their role in your organization; a person who came for a customer is refused.
@app.get("/admin")
async def admin(caller: Annotated[Caller, Depends(gatehouse.role("owner", "admin"))]) -> dict[str, str]:
    return {"admin": caller.subject}


# People of a customer, by their role there.
@app.get("/team")
async def team(caller: Annotated[Caller, Depends(gatehouse.customer_role("owner", "admin"))]) -> dict[str, str]:
    return {"team of": caller.customer.id if caller.customer else ""}


# People with a role of your product.
@app.get("/reports")
async def reports(caller: Annotated[Caller, Depends(gatehouse.service_role("editor"))]) -> dict[str, str]:
    return {"reports of": caller.subject}


@app.get("/exports")
async def exports(caller: Annotated[Caller, Depends(gatehouse.feature("exports"))]) -> dict[str, str]:
    return {"exports of": caller.subject}


@app.get("/api/things")
async def things(caller: Annotated[Caller, Depends(gatehouse.bearer())]) -> dict[str, str]:
    return {"things of": caller.subject}
