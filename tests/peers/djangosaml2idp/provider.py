"""An identity provider of SAML that is made with djangosaml2idp, as its documents say.

    python provider.py FOLDER KEY…

Each KEY is a file with a private key, beside a certificate of the same name that ends in `.pem`; the first one signs,
and `rotate` goes on to the next one.
"""

import importlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from tests.identity_programs import django_site

folder, keys = Path(sys.argv[1]), sys.argv[2:]
server = django_site.bound()
url = django_site.url_of(server)
# Where it keeps the metadata of service providers.
METADATA = Path("/tmp/djangosaml2idp")  # noqa: S108 - its own choice
saml2 = importlib.import_module("saml2")
formats = importlib.import_module("saml2.saml")


def configuration(*former: str) -> dict[str, Any]:
    """Return the settings of pysaml2: the first key signs, and the former ones are published."""
    return {
        "entityid": f"{url}/idp/metadata/",
        "xmlsec_binary": shutil.which("xmlsec1"),
        "service": {
            "idp": {
                "name": "The provider",
                "endpoints": {
                    "single_sign_on_service": [
                        (f"{url}/idp/sso/post/", saml2.BINDING_HTTP_POST),
                        (f"{url}/idp/sso/redirect/", saml2.BINDING_HTTP_REDIRECT),
                    ],
                    "single_logout_service": [
                        (f"{url}/idp/slo/post/", saml2.BINDING_HTTP_POST),
                        (f"{url}/idp/slo/redirect/", saml2.BINDING_HTTP_REDIRECT),
                    ],
                },
                "name_id_format": [formats.NAMEID_FORMAT_PERSISTENT, formats.NAMEID_FORMAT_UNSPECIFIED],
                # Else pysaml2 signs answers to logouts too, with which the view of djangosaml2idp fails. For sign-ins,
                # what is said of a service provider (`know`) counts.
                "sign_response": False,
                "want_authn_requests_signed": False,
            }
        },
        "key_file": keys[0],
        "cert_file": f"{keys[0]}.pem",
        "additional_cert_files": [f"{key}.pem" for key in former],
        "encryption_keypairs": [],
        "valid_for": 24 * 365,
    }


django_site.prepare(folder, "djangosaml2idp", LOGIN_URL="/sign-in/", SAML_IDP_CONFIG=configuration())


class Processor(importlib.import_module("djangosaml2idp.processors").BaseProcessor):
    """What is said of a user besides the fields of the account."""

    def create_identity(self, user: Any, sp_attribute_mapping: dict[str, str]) -> dict[str, Any]:
        """Return the attributes of a user, with the groups."""
        return {**super().create_identity(user, sp_attribute_mapping), "groups": django_site.groups_of(user)}


urls = importlib.import_module("django.urls")
login_page = importlib.import_module("django.contrib.auth.views").LoginView
urlpatterns = [
    urls.path("idp/", urls.include("djangosaml2idp.urls", namespace="djangosaml2idp")),
    urls.path("sign-in/", login_page.as_view(template_name="sign-in.html")),
]
(folder / "templates").mkdir()
(folder / "templates" / "sign-in.html").write_text('<form method="post">{% csrf_token %}{{ form }}</form>')


def know(*, metadata: str, entity_id: str) -> None:
    """Register Gatehouse by its metadata."""
    models = importlib.import_module("djangosaml2idp.models")
    models.ServiceProvider.objects.create(
        # It keeps the metadata in a folder of the machine, in a file that is named by this id.
        id=os.getpid(),
        entity_id=entity_id,
        local_metadata=metadata,
        _processor="__main__.Processor",
        _nameid_field="username",
        # It signs neither by itself, whatever the configuration of pysaml2 says.
        _sign_response=True,
        _sign_assertion=True,
        _attribute_mapping=json.dumps({"email": "email", "first_name": "first_name", "last_name": "last_name"}),
    )


def rotate(*, keeps_old: bool) -> None:
    """Sign with the next key; keep the certificate of the old one in the metadata, or not."""
    old = keys.pop(0)
    django_site.change_setting("SAML_IDP_CONFIG", configuration(*([old] if keeps_old else [])))
    importlib.import_module("djangosaml2idp.idp").IDP.load(force_refresh=True)


try:
    django_site.serve(server, {"set_groups": django_site.set_groups, "rotate": rotate, "know": know})
finally:
    (METADATA / f"{os.getpid()}.xml").unlink(missing_ok=True)
