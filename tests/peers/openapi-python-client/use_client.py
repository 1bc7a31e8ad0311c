"""Signs in with and without a second factor and lists members, with nothing but the generated client.

    python use_client.py BASE_URL EMAIL PASSWORD SLUG

It is run by the peer's own Python, below the folder of the generated package `gatehouse_client`.
"""

import hashlib
import hmac
import importlib
import struct
import sys
import time
from base64 import b32decode
from typing import Any


def module(path: str) -> Any:
    """Return a module of the generated package."""
    return importlib.import_module(f"gatehouse_client.{path}")


def totp(secret: str) -> str:
    """Return the present code of an authenticator app (RFC 6238)."""
    counter = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.new(b32decode(secret), counter, hashlib.sha1).digest()
    offset = digest[-1] & 15
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"


def main(base_url: str, email: str, password: str, slug: str) -> None:
    """Run the whole flow; an assertion says which step failed."""
    client_module, models = module("client"), module("models")
    log_in, mfa = module("api.login.login_log_in"), "api.multi_factor_authentication.multi_factor_authentication"
    public = client_module.Client(base_url=base_url, raise_on_unexpected_status=True)

    def sign_in(password: str) -> Any:
        return log_in.sync(client=public, body=models.Login(email=email, password=password))

    def signed_in(tokens: Any) -> Any:
        assert isinstance(tokens, models.SignInTokens), tokens
        return client_module.AuthenticatedClient(
            base_url=base_url, token=tokens.access_token, raise_on_unexpected_status=True
        )

    refused = sign_in("wrong")
    assert isinstance(refused, models.UnauthorizedError), refused
    assert refused.error_code == "UNAUTHORIZED", refused

    ada = signed_in(sign_in(password))
    setup = module(f"{mfa}_set_up").sync(client=ada)
    enabled = module(f"{mfa}_enable").sync(client=ada, body=models.MfaActivation(code=totp(setup.secret)))
    assert isinstance(enabled, models.MfaEnabled), enabled

    pending = sign_in(password)
    assert isinstance(pending, models.PendingSecondFactor), pending
    between = client_module.AuthenticatedClient(base_url=base_url, token=pending.preauth_token)
    verified = module(f"{mfa}_verify").sync(
        client=between, body=models.MfaVerification(code=enabled.backup_codes[0], trust_device=False)
    )
    members = module("api.members.members_list_members").sync(slug, client=signed_in(verified))
    assert isinstance(members, models.MemberList), members
    print(*[member.user.email for member in members.members])  # noqa: T201 - what the test compares

    invalid = module("api.organizations.organizations_create_organization").sync(
        client=signed_in(verified), body=models.OrganizationCreation(slug="-", name="")
    )
    assert isinstance(invalid, models.InputError), invalid
    print(*[problem.field for problem in invalid.details])  # noqa: T201 - likewise


main(*sys.argv[1:])
