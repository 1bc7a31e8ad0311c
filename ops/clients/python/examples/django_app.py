"""A Django project in one file, whose users sign in at Gatehouse.

pip install "../gatehouse/ops/clients/python[django]"
export ISSUER=http://localhost:8000 CLIENT_ID=… CLIENT_SECRET=… COOKIE_SECRET=$(openssl rand -hex 32)
python django_app.py runserver 9000
"""

import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

HOME = os.environ.get("HOME_URL", "http://localhost:9000")

settings.configure(
    SECRET_KEY=os.environ["COOKIE_SECRET"],
    ALLOWED_HOSTS=["localhost"],
    ROOT_URLCONF=__name__,
    GATEHOUSE={
        "issuer": os.environ["ISSUER"],
        "client_id": os.environ["CLIENT_ID"],
        "client_secret": os.environ["CLIENT_SECRET"],
        "redirect_uri": f"{HOME}/session/callback",
        "post_logout_redirect_uri": f"{HOME}/",
    },
)

from gatehouse_client.django import (  # noqa: E402 - after the settings
    bearer,
    caller_of,
    customer_role,
    feature,
    role,
    service_role,
    signed_in,
    urls,
)


def home(_request: HttpRequest) -> HttpResponse:
    return HttpResponse('<!doctype html><title>Shop</title><a href="/me">My account</a>')


@signed_in
def me(request: HttpRequest) -> HttpResponse:
    sign_out = '<form method="post" action="/session/logout"><button>Sign out</button></form>'
    return HttpResponse(f"<!doctype html><title>Shop</title><h1>Hello {caller_of(request).email}</h1>{sign_out}")


# Your own people, by their role in your organization; a person who came for a customer is refused.
@role("owner", "admin")
def admin(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"admin": caller_of(request).subject})


# People of a customer, by their role there.
@customer_role("owner", "admin")
def team(request: HttpRequest) -> HttpResponse:
    customer = caller_of(request).customer
    return JsonResponse({"team of": customer.id if customer else ""})


# People with a role of your product.
@service_role("editor")
def reports(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"reports of": caller_of(request).subject})


@feature("exports")
def exports(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"exports of": caller_of(request).subject})


@bearer()
def things(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"things of": caller_of(request).subject})


views = {"": home, "me": me, "admin": admin, "team": team, "reports": reports, "exports": exports, "api/things": things}
urlpatterns = [*urls(), *(path(name, view) for name, view in views.items())]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
