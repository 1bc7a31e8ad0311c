"""The settings of a site in Django, to which the tests add the settings of the recipe."""

from pathlib import Path

ALLOWED_HOSTS = ["localhost"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(Path(__file__).parent / "site.sqlite3")}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
ROOT_URLCONF = "urls"
SECRET_KEY = "of the tests"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates"}]
USE_TZ = True
