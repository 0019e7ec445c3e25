"""The table of all settings in ``docs/settings.md``, made from the traits themselves.

``python -m jupyter_datalayer_agent.settings.docs_table docs/settings.md`` writes it into the file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from traitlets import Enum, TraitType

from ..protocol.requests import Overrides
from .definitions import AgentTraits, is_for_server, setting_traits
from .turn_settings import SESSION_NAMES

BEGIN = "<!-- made by jupyter_datalayer_agent.settings.docs_table: begin -->"
END = "<!-- end -->"
IN_REQUEST = {"model", "approval_policy", *Overrides.model_fields}
LEVEL = "Lines of the log: `DEBUG`, `INFO`, `WARNING`, `ERROR`."


def table() -> str:
    """A row for each setting: name, default, who may set it, what it does."""
    rows = [
        "| setting | default | besides in | what |",
        "| --- | --- | --- | --- |",
        *(_row(name, trait) for name, trait in setting_traits(AgentTraits()).items()),
        f"| `log_level` | `INFO` | | {LEVEL} |",
    ]
    return "\n".join(rows)


def with_table(text: str) -> str:
    """The text with the table as it is now between the two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _row(name: str, trait: TraitType[Any, Any]) -> str:
    about = " ".join((trait.help or "").split())
    if isinstance(trait, Enum):
        values = ", ".join(f"`{value}`" for value in trait.values or ())
        about = f"{about} One of {values}."
    return f"| `{name}` | {_default(trait)} | {_where(name, trait)} | {about.replace('|', '/')} |"


def _default(trait: TraitType[Any, Any]) -> str:
    value = trait.default() if callable(getattr(trait, "default", None)) else trait.default_value
    return "none" if value is None else f"`{json.dumps(value)}`"


def _where(name: str, trait: TraitType[Any, Any]) -> str:
    if is_for_server(name, trait):
        return ""
    where = ["JupyterLab"]
    if name in SESSION_NAMES.values():
        where.append("session")
    if name in IN_REQUEST:
        where.append("request")
    return ", ".join(where)


def main(file: Path) -> None:
    """Write the table into the file."""
    file.write_text(with_table(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
