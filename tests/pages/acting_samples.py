"""Acting as another user with sample values: the banner, which can stand on every page."""

from typing import Final
from uuid import UUID

from entrypoints.pages.frame.impersonation_banner import Acted, Acting
from tests.pages.sample_values import EMAIL, ID, NOW

ACTING: Final = Acting(email=EMAIL, user_id=UUID(ID), until=NOW, seconds_left=3540, form_token="token")
ACTED: Final = Acted(form_token="token")
