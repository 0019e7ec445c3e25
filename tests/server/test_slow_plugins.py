"""Packages that add to the agent and take long to import: the server answers meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.health import Health
from tests.support.jupyter import PYTHONPATH, RunningServer
from tests.support.packages import declare
from tests.support.until import until

GROUPS = ("tools", "model_providers", "services", "workflows", "sdk")
SECONDS = 3
MODULE = f"""
import time

time.sleep({SECONDS})
raise RuntimeError(f"{{__name__}} is broken.")
"""


def test_others_are_answered_while_packages_are_imported(tmp_path: Path) -> None:
    """One that is broken is not tried again, either, which would take as long."""
    site = tmp_path / "site"
    entries = "".join(
        f"[jupyter_datalayer_agent.{each}]\nslow = slow_{each}:ENTRY\n" for each in GROUPS
    )
    declare(site, "slow", entries)
    for each in GROUPS:
        (site / f"slow_{each}.py").write_text(MODULE)
    path = os.pathsep.join([str(site), PYTHONPATH])
    with RunningServer(tmp_path, environment={"PYTHONPATH": path}) as server:
        with Health(server) as health:
            for route in ("models", "services", "workflows", "tools"):
                server.get(route)
            assert server.request("POST", "chat", json={"message": "/help"}).ok
        for each in GROUPS:
            until(lambda each=each: f"slow_{each} is broken." in server.log.read_text())
    assert health.longest_wait < SECONDS
