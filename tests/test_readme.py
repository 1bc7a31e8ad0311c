"""The README keeps its promises: the table of settings is the one in the code."""

import os
from pathlib import Path

from entrypoints import settings

README = Path(__file__).parent.parent / "README.md"
BEGIN = "<!-- settings: begin; written by tests/test_readme.py, which fails when this table and the code differ -->"
END = "<!-- settings: end -->"


def table() -> str:
    rows = settings.rows(settings.Settings())
    lines = ["| Setting | Takes | Default | |", "|---|---|---|---|"]
    lines += [
        f"| `{row.name}` | {row.takes} | {f'`{row.default}`' if row.default else ''} | {row.sentence} |" for row in rows
    ]
    return "\n".join(lines)


def test_the_table_of_settings_is_that_of_the_code() -> None:
    text = README.read_text()
    before, _, rest = text.partition(BEGIN)
    written, _, after = rest.partition(END)

    if os.environ.get("GATEHOUSE_TEST_RENEW"):
        README.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")
        return

    assert written.strip() == table(), "run GATEHOUSE_TEST_RENEW=1 .venv/bin/python -m pytest tests/test_readme.py"
