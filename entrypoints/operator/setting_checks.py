"""What `gatehouse doctor` checks without a database: the settings, and the machine that Gatehouse runs on."""

from __future__ import annotations

import os
import resource
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from core.billing.provider import BillingMode, mode_of_key
from core.colors import WHITE, contrast
from core.organizations.settings.pictures import PictureType
from core.platform_brand import NAME_DEFAULT
from entrypoints import billing_settings, database, equipment, main, master_keys
from entrypoints.operator.findings import Finding
from entrypoints.refusals import CannotStart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from entrypoints.settings import Settings

FILES_MIN: Final = 4096
FREE_BYTES_MIN: Final = 1024**3
PORTABLE_BUILD_ADVICE: Final = (
    "A build for this processor may be two or three times as fast: `.venv/bin/python ops/build_argon2.py --plan` says"
    " whether it can be made here."
)
GEOIP_AGE_MAX: Final = timedelta(days=90)
ENCRYPTION_ADVICE: Final = "Put a proxy with TLS in front and set GATEHOUSE_BASE_URL to its https address."


def base_settings(settings: Settings, unknown_settings: Sequence[str]) -> Finding:
    """Check what the settings say together; a wrong value of one alone has stopped the command before."""
    if unknown_settings:
        return Finding("settings", False, " ".join(unknown_settings), "Correct the name, or unset it.")
    is_encrypted = settings.base_url.startswith("https:")
    is_here = billing_settings.is_this_machine(urlsplit(settings.base_url).hostname or "")
    what = f"the base URL {settings.base_url} is not encrypted"
    if not is_encrypted and not is_here and not settings.dev:
        return Finding("settings", False, what, ENCRYPTION_ADVICE)
    reasons = [
        (settings.dev, "development mode", "Set GATEHOUSE_DEV=off for production."),
        (not is_encrypted, what, ENCRYPTION_ADVICE),
        (not settings.rate_limits, "rate limits are off", "Unset GATEHOUSE_RATE_LIMITS."),
    ]
    applying = [(problem, advice) for applies, problem, advice in reasons if applies]
    if applying:
        whats, advices = zip(*applying, strict=True)
        return Finding("settings", True, "; ".join(whats), " ".join(advices), is_for_production=False)
    return Finding("settings", True, f"the base URL is {settings.base_url}")


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
    free = shutil.disk_usage(folder).free
    advice = "" if free >= FREE_BYTES_MIN else "Free disk space: with less than 1 GiB the database may stop."
    return Finding("data folder", free >= FREE_BYTES_MIN, f"{folder}, {free / 1024**3:.1f} GiB free", advice)


def file_descriptors() -> Finding:
    """Check how many files and connections the process may have open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_enough = hard == resource.RLIM_INFINITY or hard >= FILES_MIN
    advice = "" if is_enough else f"Raise the limit to {FILES_MIN} or more (LimitNOFILE= or ulimit -Hn)."
    what = "no limit" if hard == resource.RLIM_INFINITY else f"at most {hard}"
    return Finding("file descriptors", is_enough, what, advice)


def password_hashing() -> Finding:
    """Check that password hashing works here, and measure it."""
    if not equipment.hashing_is_correct():
        return Finding("password hashing", False, "wrong results", "Remove .venv and run ops/run again.")
    rate, instructions = equipment.hashes_per_second(), equipment.hashing_built_for()
    build = f"built for {instructions}" if instructions else "the build for any processor"
    what = f"{rate:.0f} per second on each processor, {build}"
    return Finding("password hashing", True, what, "" if instructions else PORTABLE_BUILD_ADVICE)


def master_key(settings: Settings) -> Finding:
    """Check that the key that encrypts secrets is there."""
    try:
        master_keys.vault(settings)
    except main.REFUSALS as refusal:
        return Finding("master key", False, str(refusal), "The checks that need the master key were skipped.")
    place = master_keys.place(settings)
    return Finding("master key", True, f"from {place}", "Keep a copy of it: what it encrypts is lost without it.")


def mail_server(settings: Settings) -> Iterator[Finding]:
    """Yield a finding when the address of the mail server is not usable."""
    try:
        equipment.mail_gateway(settings, main.now)
    except main.REFUSALS as refusal:
        yield Finding("mail", False, str(refusal), "The checks that need every setting were skipped.")


def billing(settings: Settings) -> Finding:
    """Check whether plans cost money."""
    key = settings.billing_secret_key
    if key is not None:
        what = f"the payment provider at {settings.billing_url}"
        if mode_of_key(key) is BillingMode.TEST:
            advice = "Set GATEHOUSE_BILLING_SECRET_KEY to the live key to charge for plans."
            return Finding("billing", True, f"{what}, with a test key: no money moves", advice, is_for_production=False)
        return Finding("billing", True, what)
    if settings.has_billing_sandbox:
        what = "the sandbox, where no money moves"
        return Finding("billing", True, what, billing_settings.SANDBOX_ADVICE, is_for_production=False)
    return Finding("billing", True, "no payment provider is set", billing_settings.NOTHING_FOR_SALE_ADVICE)


def geoip(settings: Settings) -> Finding:
    """Check the GeoIP database."""
    try:
        edition = equipment.geoip_edition(settings)
    except main.REFUSALS as refusal:
        return Finding("GeoIP", False, str(refusal), "Set GATEHOUSE_GEOIP_DB to another file, or unset it.")
    assert edition is not None, "the GeoIP database has no edition"
    age = main.now() - edition.made_at
    advice = (
        f"It is {age.days} days old and may be outdated. Replace it with a newer one." if age > GEOIP_AGE_MAX else ""
    )
    return Finding("GeoIP", True, f"{edition.kind}, made on {edition.made_at:%Y-%m-%d}", advice)
