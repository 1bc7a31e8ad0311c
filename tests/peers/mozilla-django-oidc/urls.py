"""The pages of a site in Django, to which the tests add the recipe's; the first page says who has signed in."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.urls import path


def home(request: Any) -> HttpResponse:
    """Say who has signed in."""
    user = request.user
    if not user.is_authenticated:
        return HttpResponse('<p id="state">nobody</p>')
    return HttpResponse(
        f'<p id="state">{user.email}{" (admin)" if user.is_superuser else ""}</p><form method="post"'
        f' action="/oidc/logout/"><input type="hidden" name="csrfmiddlewaretoken" value="{get_token(request)}">'
        '<button id="out">out</button></form>'
    )


urlpatterns = [path("", home), path("private", login_required(lambda _request: HttpResponseRedirect("/")))]
