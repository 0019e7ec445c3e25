"""Prints pip's settings on this machine (indexes, certificates, bounds) as settings of uv.

Lines of ``NAME=value`` for the environment. Fails where pip has a setting that has no line here,
so that nobody's index or proxy is passed by: pip itself is used then.
"""

import ast
import os
import subprocess
import sys

SETTINGS = {
    "cert": "SSL_CERT_FILE",
    "constraint": "UV_CONSTRAINT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "index-url": "UV_DEFAULT_INDEX",
    "no-index": "UV_NO_INDEX",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
    "trusted-host": "UV_INSECURE_HOST",
}
OF_NO_MATTER = {
    "break-system-packages", "cache-dir", "disable-pip-version-check", "no-cache-dir", "no-color",
    "no-input", "no-warn-script-location", "progress-bar", "quiet", "require-virtualenv", "retries",
    "root-user-action", "user", "verbose",
}  # fmt: skip
SECTIONS = ("global", "install", ":env:")
"""Later ones have the last word."""


def settings(config: str) -> dict[str, str]:
    """What ``pip config list`` printed, for uv. Raises ``SystemExit`` for what only pip knows."""
    variables: dict[str, str] = {}
    lines = [line.partition("=") for line in config.splitlines() if "=" in line]
    for section in SECTIONS:
        for name, _, value in lines:
            in_section, _, key = name.rpartition(".")
            if in_section != section or key in OF_NO_MATTER:
                continue
            if key not in SETTINGS:
                sys.exit(f"pip has a setting that only pip knows: {name}")
            # pip separates several by spaces or lines, uv paths of wheels by commas.
            parts = str(ast.literal_eval(value)).split()
            variables[SETTINGS[key]] = ("," if key == "find-links" else " ").join(parts)
    # As pip does, which takes the newest of all indexes.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **variables}


if __name__ == "__main__":
    pip = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(pip, check=True, capture_output=True, text=True).stdout
    for name, value in settings(listed).items():
        if name not in os.environ:
            print(f"{name}={value}")
