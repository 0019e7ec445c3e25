"""How much of a text patterns are given, where that is not all of it.

The constants are those that the code itself applies. A pattern that is not listed is given texts of
any length.
"""

from __future__ import annotations

from jupyter_datalayer_agent import secrets_in_text
from jupyter_datalayer_agent.agent.features import strategist_turn
from jupyter_datalayer_agent.agent.tool_calls import written_calls
from jupyter_datalayer_agent.models import errors
from jupyter_datalayer_agent.protocol import json_text, limits
from jupyter_datalayer_agent.tools import data_rows
from jupyter_datalayer_agent.workflows.quality import rules
from tests.patterns.timed import SIZE

BOUNDS = {
    "agent.tool_calls.written_calls": written_calls.LONGEST,
    "protocol.json_text": json_text.LONGEST,
    "services.": limits.MOST_CHARACTERS,
    "tools.data_rows": data_rows.LOOKED_AT,
}
"""Characters, by the beginning of a module's name in the package."""

BOUNDED = {
    strategist_turn._LINK: strategist_turn.LONGEST,
    errors._WINDOW: errors.LONGEST_DETAIL,
    json_text._ESCAPED_HALF: SIZE,  # of a whole text, unlike the module's others
    **{pattern: rules.MOST_CHARACTERS for _, pattern in secrets_in_text._WHOLE},
    secrets_in_text._PLACEHOLDER: rules.MOST_CHARACTERS,
    rules._ABSOLUTE: rules.MOST_CHARACTERS,
}
"""Characters, by the pattern."""

OURS = {
    "settings.startup_layers": "reads the values of settings that the user made",
}
"""Modules whose patterns meet no text of somebody else's, and why."""
