"""A server that stands for the Hugging Face Hub: the routes by which its library fetches a file."""

from __future__ import annotations

import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class HubServer:
    """Serves ``files`` by ``OWNER/REPOSITORY/FILE``. The first answer to a GET ends after
    ``breaks_at`` bytes; ``flips`` a bit of each answer. ``ranges`` are those that were asked for,
    ``bodies`` how many GETs there were."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.breaks_at: int | None = None
        self.flips = False
        self.ranges: list[str | None] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> HubServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(hub) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self._answer(with_body=False)

            def do_GET(self) -> None:
                self._answer(with_body=True)

            def log_message(self, *arguments: Any) -> None:
                pass

            def _answer(self, *, with_body: bool) -> None:
                match = re.fullmatch(r"/([^/]+/[^/]+)/resolve/main/(.+)", self.path)
                content = hub.files.get(f"{match[1]}/{match[2]}") if match else None
                if content is None:
                    known = match and any(name.startswith(f"{match[1]}/") for name in hub.files)
                    self.send_response(404)
                    self.send_header("X-Error-Code", "EntryNotFound" if known else "RepoNotFound")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                asked = self.headers.get("Range")
                start = int(asked.removeprefix("bytes=").partition("-")[0]) if asked else 0
                self.send_response(206 if asked else 200)
                digest = hashlib.sha256(content).hexdigest()
                self.send_header("ETag", f'"{digest}"')
                self.send_header("X-Linked-ETag", f'"{digest}"')
                self.send_header("X-Linked-Size", str(len(content)))
                self.send_header("X-Repo-Commit", COMMIT)
                self.send_header("Accept-Ranges", "bytes")
                if asked:
                    last = len(content) - 1
                    self.send_header("Content-Range", f"bytes {start}-{last}/{len(content)}")
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                if with_body:
                    hub.ranges.append(asked)
                    self.wfile.write(hub.body(content)[start : hub.end()])
                    self.close_connection = True

        return Handler

    def body(self, content: bytes) -> bytes:
        """What is sent in place of the content."""
        return content[:-1] + bytes([content[-1] ^ 1]) if self.flips else content

    def end(self) -> int | None:
        """Where this answer breaks off."""
        end, self.breaks_at = self.breaks_at, None
        return end
