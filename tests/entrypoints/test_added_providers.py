"""The file of the providers that the operator adds: what it says, and what stops the start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.accounts.sign_in_methods import Provider
from core.organizations.settings.pictures import PictureType
from core.secrets import Secret
from entrypoints import capabilities, equipment, settings
from entrypoints.added_providers import FILE_BYTES_MAX
from entrypoints.refusals import CannotStart
from entrypoints.settings import SettingInvalid, load
from entrypoints.upstream_settings import added_to, external_providers

NAME = "GATEHOUSE_PROVIDERS_FILE"
SECRET = "a-long-secret-of-acme"
TABLE = f"""
title = "Acme ID"
issuer = "https://id.acme.example/realms/staff"
client_id = "gatehouse"
client_secret = "{SECRET}"
"""
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>alert(1)</script><path d="M0 0h8v8z"/></svg>'


def loaded(folder: Path, text: str) -> settings.Settings:
    """Return the settings with a file of that text."""
    file = folder / "providers.toml"
    file.write_text(text)
    return load({NAME: str(file)})


def test_a_table_adds_a_provider_after_the_documented_ones(tmp_path: Path) -> None:
    found = external_providers(loaded(tmp_path, f"[acme]{TABLE}"))

    assert list(found) == ["codehost", "websuite", "officesuite", "acme"]
    acme = found[Provider("acme")]
    assert (acme.title, acme.issuer) == ("Acme ID", "https://id.acme.example/realms/staff")
    assert acme.client is not None
    assert (acme.client.client_id, acme.client.client_secret) == ("gatehouse", Secret(SECRET))
    assert (acme.scopes, acme.trusts_email) == (("openid", "profile", "email"), False)


def test_scopes_and_trust_are_as_the_table_says(tmp_path: Path) -> None:
    [acme] = added_to(loaded(tmp_path, f'[acme]{TABLE}scopes = ["email", "staff"]\ntrusts_email = true'))

    assert (acme.scopes, acme.trusts_email) == (("openid", "email", "staff"), True)


def test_the_secret_may_be_in_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "acme.secret").write_text(f"{SECRET}\n")
    [acme] = added_to(
        loaded(tmp_path, f"[acme]{TABLE}".replace(f'client_secret = "{SECRET}"', 'client_secret_file = "acme.secret"'))
    )

    assert acme.client is not None
    assert acme.client.client_secret == Secret(SECRET)


def test_no_text_of_the_settings_has_the_secret(tmp_path: Path) -> None:
    found = loaded(tmp_path, f"[acme]{TABLE}")

    [row] = [row for row in settings.rows(found) if row.name == NAME]

    assert row.value == str(tmp_path / "providers.toml")
    assert SECRET not in f"{found!r} {found} {row} {external_providers(found)}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("acme = [", "is not TOML: "),
        ('title = "Acme"', "has the key 'title' outside of a table."),
        (f"[Acme]{TABLE}", "has the table [Acme]. Name it with 2 to 30"),
        (f"[a]{TABLE}", "has the table [a]. Name it with 2 to 30"),
        (f"[codehost]{TABLE}", "has the table [codehost], the name of another way to sign in."),
        (f"[password]{TABLE}", "has the table [password], the name of another way to sign in."),
        (f"[impersonation]{TABLE}", "has the table [impersonation], the name of another way to sign in."),
        (f'[acme]{TABLE}isuer = "x"', "has the key 'isuer' in [acme], which there is not. Is issuer meant?"),
        (f"[acme]{TABLE}color = 1", "has the key 'color' in [acme], which there is not. The keys are title, "),
        ('[acme]\ntitle = "Acme"', "has no issuer in [acme]. Add it."),
        (f'[acme]{TABLE}client_secret_file = "x"', "must have either client_secret or client_secret_file in [acme]."),
        (f"[acme]{TABLE}trusts_email = 1", "has a wrong trusts_email in [acme]: it takes true or false."),
        (f'[acme]{TABLE}scopes = "email"', "has a wrong scopes in [acme]: it takes a list of texts."),
        (f"[acme]{TABLE}scopes = [1]", "has a wrong scopes in [acme]: it takes a list of texts."),
        (f'[acme]{TABLE}scopes = ["a b"]', "has a wrong scopes in [acme]: At most 20 scopes"),
        (f"[acme]{TABLE}icon = 1", "has a wrong icon in [acme]: it takes a text."),
    ],
)
def test_what_is_wrong_is_named_with_its_table_and_key(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingInvalid) as refused:
        loaded(tmp_path, text)

    assert str(refused.value).startswith(f"{NAME} names {tmp_path / 'providers.toml'}, which {problem}")
    assert "\n" not in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("title", "", "it takes a text."),
        ("title", "x" * 41, "it takes at most 40 characters."),
        ("title", "www.example.com", "it takes a name for people. "),
        ("issuer", "id.acme.example", "it takes an address of at most 250 characters"),
        ("issuer", "https://id.acme.example?a=b", "it takes an address of at most 250 characters"),
        ("issuer", "https://id.acme.example#a", "it takes an address of at most 250 characters"),
        ("issuer", "https://user@id.acme.example", "it takes an address of at most 250 characters"),
        ("issuer", f"https://id.acme.example/{'x' * 250}", "it takes an address of at most 250 characters"),
        ("issuer", "http://id.acme.example", "it takes an https address"),
        ("issuer", "https://login.microsoftonline.com/common/v2.0", "it has no id of a tenant."),
        ("client_id", "two words", "it takes 1 to 255 characters without blanks."),
        ("client_secret", "short", "it takes 8 to 500 characters without blanks."),
        ("client_secret_file", "missing", "it names "),
        ("client_secret_file", r"a\u0000b", "it contains NUL"),
        ("icon", r"a\u0000b", "it contains NUL"),
    ],
)
def test_a_wrong_value_is_named_with_its_key(tmp_path: Path, key: str, value: str, problem: str) -> None:
    replaced = "client_secret" if key == "client_secret_file" else key
    lines = [line for line in TABLE.splitlines() if not line.startswith(f"{replaced} ")]

    with pytest.raises(SettingInvalid) as refused:
        loaded(tmp_path, "\n".join(["[acme]", *lines, f'{key} = "{value}"']))

    assert f", which has a wrong {key} in [acme]: {problem}" in str(refused.value)


def test_a_file_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "large").write_bytes(b"#" * (FILE_BYTES_MAX + 1))
    (tmp_path / "latin").write_bytes(b"# \xe9")
    problems = {
        "missing": "cannot be read: No such file or directory.",
        "pipe": "is a named pipe.",
        "large": "is larger than 64 KiB.",
        "latin": "is not text in UTF-8.",
        ".": "cannot be read: Is a directory.",
    }

    for name, problem in problems.items():
        with pytest.raises(SettingInvalid) as refused:
            load({NAME: str(tmp_path / name)})
        assert str(refused.value).startswith(f"{NAME} names {tmp_path / name}, which {problem}"), name


def test_too_many_tables_stop_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match=r"has 21 tables\. Keep 20 at most"):
        loaded(tmp_path, "\n".join(f"[p{number:02}]{TABLE}" for number in range(21)))


@pytest.mark.parametrize("name", ["authorize", "token", "device", "callback"])
def test_a_name_that_is_a_path_below_auth_stops_the_start(tmp_path: Path, name: str) -> None:
    added = added_to(loaded(tmp_path, f"[{name}]{TABLE}"))

    if name == "callback":
        routes = capabilities.routes(is_development=False, added=added)
        assert {"/auth/callback", "/auth/callback/callback"} <= {route.path for route in routes}
        return
    with pytest.raises(CannotStart, match=rf"\[{name}\], and /auth/{name} is a path of Gatehouse. Choose"):
        capabilities.routes(is_development=False, added=added)


def test_an_icon_is_rebuilt_as_a_logo_is(tmp_path: Path) -> None:
    (tmp_path / "acme.svg").write_bytes(SVG)

    brand = equipment.platform_brand_of(loaded(tmp_path, f'[acme]{TABLE}icon = "acme.svg"'))

    [acme] = brand.providers
    assert acme.icon is not None
    assert (acme.title, acme.icon.type, b"script" in acme.icon.content) == ("Acme ID", PictureType.SVG, False)


def test_an_icon_that_is_no_picture_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "acme.gif").write_bytes(b"GIF89a")

    with pytest.raises(CannotStart) as refused:
        equipment.platform_brand_of(loaded(tmp_path, f'[acme]{TABLE}icon = "acme.gif"'))

    assert "whose icon in [acme] takes the path of a PNG or SVG file of at most 256 KiB. " in str(refused.value)
