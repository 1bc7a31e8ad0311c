"""What `gatehouse doctor` checks without a database: the settings, and the machine that Gatehouse runs on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from core.colors import WHITE, contrast
from core.limits import PASSWORD_CHARACTERS_ALONE_MIN
from core.organizations.settings.pictures import PictureType
from core.platform_brand import NAME_DEFAULT
from entrypoints import clocks, database, equipment, exits, master_keys
from entrypoints import version as running
from entrypoints.deprecations import Deprecation
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings
from entrypoints.shared.platform import checks
from entrypoints.shared.platform.checks import Finding

PORTABLE_BUILD_ADVICE: Final = (
    "A build for this processor may be two or three times as fast: `.venv/bin/python ops/build_argon2.py --plan` says"
    " whether it can be made here."
)
GEOIP_AGE_MAX: Final = timedelta(days=90)


def version() -> Finding:
    """Say what runs here."""
    return Finding("version", True, f"Gatehouse {running.version()} on Python {platform.python_version()}")


def deprecations(deprecated: Sequence[Deprecation]) -> Finding:
    """Say which settings are set that a later version does not take."""
    if not deprecated:
        return Finding("deprecations", True, "no deprecated setting is set")
    what = " ".join(one.sentence for one in deprecated)
    return Finding("deprecations", True, what, " ".join(one.instead for one in deprecated))


def brand(settings: Settings) -> Finding:
    """Check the name, the colour and the logo of the platform, which the start would refuse if they are wrong."""
    try:
        shown = equipment.platform_brand_of(settings)
    except CannotStart as refusal:
        return Finding("brand", False, str(refusal), "Gatehouse does not start with it.")
    parts = [f"the name {shown.name}"]
    advice: list[str] = []
    if shown.name == NAME_DEFAULT:
        advice.append("Set GATEHOUSE_NAME to a name that the readers of pages and mails know.")
    if shown.color is not None:
        parts.append(f"the colour {shown.color}, whose contrast on white is {contrast(shown.color, WHITE):.1f}")
    if shown.logo is not None:
        parts.append(f"the logo {settings.logo}")
        if shown.logo.type is not PictureType.PNG:
            advice.append("Mails show the name in place of the logo: few mail programs show an SVG. Take a PNG.")
    return Finding("brand", True, ", ".join(parts), " ".join(advice))


def data_folder(settings: Settings) -> Finding:
    """Check the folder of the embedded database and of generated keys."""
    folder = settings.data_dir.resolve()
    try:
        database.make_data_folder(folder)
    except OSError as error:
        return Finding("data folder", False, f"{folder}: {error.strerror}", "Set GATEHOUSE_DATA_DIR to another one.")
    if not folder.is_dir():
        return Finding("data folder", False, f"{folder} is not a folder", "Set GATEHOUSE_DATA_DIR to another one.")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("data folder", False, f"{folder} is not writable", "Make Gatehouse's user its owner.")
    return checks.free_space(settings)


def password_hashing() -> Finding:
    """Check that password hashing works here, and measure it."""
    if not equipment.hashing_is_correct():
        return Finding("password hashing", False, "wrong results", "Remove .venv and run ops/run again.")
    rate, instructions = equipment.hashes_per_second(), equipment.hashing_built_for()
    build = f"built for {instructions}" if instructions else "the build for any processor"
    what = f"{rate:.0f} per second on each processor, {build}"
    return Finding("password hashing", True, what, "" if instructions else PORTABLE_BUILD_ADVICE)


def passwords(settings: Settings) -> Finding:
    """Say what new passwords have to be, and what NIST asks for where they are the only factor."""
    minimum = settings.password_min_length
    what = f"at least {minimum} characters, and none of the commonest 30,000"
    if minimum >= PASSWORD_CHARACTERS_ALONE_MIN:
        return Finding("passwords", True, what)
    advice = (
        f"NIST SP 800-63B-4 asks for {PASSWORD_CHARACTERS_ALONE_MIN} where an account has no second factor:"
        f" GATEHOUSE_PASSWORD_MIN_LENGTH={PASSWORD_CHARACTERS_ALONE_MIN} does so. See ops/docs/passwords.md."
    )
    return Finding("passwords", True, what, advice)


def master_key(settings: Settings) -> Finding:
    """Check that the key that encrypts secrets is there."""
    try:
        master_keys.vault(settings)
    except exits.REFUSALS as refusal:
        return Finding("master key", False, str(refusal), "The checks that need the master key were skipped.")
    place = master_keys.place(settings)
    return Finding("master key", True, f"from {place}", "Keep a copy of it: what it encrypts is lost without it.")


def mail_server(settings: Settings) -> Iterator[Finding]:
    """Yield a finding when the address of the mail server is not usable."""
    try:
        equipment.mail_gateway(settings, clocks.now)
    except exits.REFUSALS as refusal:
        yield Finding("mail", False, str(refusal), "The checks that need every setting were skipped.")


def geoip(settings: Settings) -> Finding:
    """Check the GeoIP database."""
    try:
        edition = equipment.geoip_edition(settings)
    except exits.REFUSALS as refusal:
        return Finding("GeoIP", False, str(refusal), "Set GATEHOUSE_GEOIP_DB to another file, or unset it.")
    assert edition is not None, "the GeoIP database has no edition"
    age = clocks.now() - edition.made_at
    advice = (
        f"It is {age.days} days old and may be outdated. Replace it with a newer one." if age > GEOIP_AGE_MAX else ""
    )
    return Finding("GeoIP", True, f"{edition.kind}, made on {edition.made_at:%Y-%m-%d}", advice)
