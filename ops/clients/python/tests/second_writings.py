"""Other texts of a token, which lenient readers of base64 take for the same one."""

from __future__ import annotations

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def second_writings(token: str) -> dict[str, str]:
    """Return them, by what differs."""
    written = {repr(end): token + end for end in ("=", "==", "\n", "\r\n", " ", "\t", "\xa0", "!", ".")}
    written |= {"a blank before": f" {token}", "a new line within": f"{token[:-4]}\n{token[-4:]}"}
    parts = token.split(".")
    for number, part in enumerate(parts):
        # The last character of a part has two bits, or four, that encode nothing, unless its bytes fill all characters.
        unused = 4 ** (-len(part) % 4)
        others = [part[:-1] + LETTERS[LETTERS.index(part[-1]) + bits] for bits in range(1, unused)]
        others += [part + "=" * (-len(part) % 4 or 4), part.replace("-", "+").replace("_", "/")]
        for other in others:
            written[f"part {number + 1}, ending in {other[-2:]}"] = ".".join(
                [*parts[:number], other, *parts[number + 1 :]]
            )
    return {name: text for name, text in written.items() if text != token}
