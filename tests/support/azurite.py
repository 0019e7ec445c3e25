"""Azurite, the emulator of Azure Storage, with an account of its own."""

from __future__ import annotations

import base64
import os
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path

from .ports import free_port

PROGRAM = Path(sys.prefix) / "programs/node_modules/azurite/dist/src/blob/main.js"


class Azurite:
    """Starts on entry and ends on exit; what it holds is gone then."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.key = base64.b64encode(secrets.token_bytes(64)).decode()

    def connection(self, key: str | None = None) -> str:
        """Its connection string, or one with another key."""
        return (
            "DefaultEndpointsProtocol=http;AccountName=tests;"
            f"AccountKey={key or self.key};"
            f"BlobEndpoint=http://127.0.0.1:{self.port}/tests;"
        )

    def __enter__(self) -> Azurite:
        assert PROGRAM.is_file(), "Azurite is not installed: make tests-ready"
        self.folder.mkdir(exist_ok=True)
        with (self.folder / "azurite.log").open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *("node", PROGRAM, "--blobHost", "127.0.0.1", "--blobPort", str(self.port)),
                    # The newest library asks for a version of the API that it may not know yet.
                    *("--location", self.folder, "--silent", "--skipApiVersionCheck"),
                    "--disableTelemetry",
                ],
                env={**os.environ, "AZURITE_ACCOUNTS": f"tests:{self.key}"},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            except OSError:
                time.sleep(0.05)
            else:
                return self
        self.__exit__()
        raise RuntimeError((self.folder / "azurite.log").read_text())

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.wait(20)
