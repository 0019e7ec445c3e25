"""What a server start costs, and what stays unloaded until it is needed."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    *("litellm", "mcp", "openai", "sqlalchemy", "pydantic", "nbclient", "pandas", "tiktoken"),
    *("acp", "jupyter_ai_persona_manager", "jupyter_datalayer_agent.server.persona"),
)

SCRIPT = """
import sys
from jupyter_server.serverapp import ServerApp
app = ServerApp()
app.initialize(
    argv=["--no-browser", "--allow-root", "--port=0", "--IdentityProvider.token=x",
          "--ServerApp.jpserver_extensions={'jupyter_datalayer_agent': True}"],
    new_httpserver=False,
)
print("LINKED", "jupyter_datalayer_agent" in app.extension_manager.extension_apps)
print("LOADED", *[name for name in %r if name in sys.modules])
"""


def test_after_a_server_start_nothing_heavy_is_loaded(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT % (HEAVY,)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert "LINKED True" in lines
    loaded = next(line for line in lines if line.startswith("LOADED")).split()[1:]
    assert loaded == []
