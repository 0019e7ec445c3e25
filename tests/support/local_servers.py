"""Small model servers that speak the APIs of Ollama, LM Studio, llama.cpp and vLLM over real HTTP.

Each records what it was asked.
"""

from __future__ import annotations

import json
import ssl
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any]
"""A status, and JSON; a text and bytes are sent as they are."""


class LocalServer:
    """A server whose ``answer`` gets the path, the body and the key, at any free port."""

    def __init__(
        self,
        answer: Callable[[str, Any, str | None], Answer],
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.paths: list[str] = []
        self.bodies: list[Any] = []
        self.keys: list[str | None] = []
        self.headers: list[dict[str, str]] = []
        self._scheme = "https" if tls else "http"
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                if tls is not None:
                    self.request = tls.wrap_socket(self.request, server_side=True)
                super().setup()

            def finish(self) -> None:
                super().finish()
                if tls is not None:
                    self.request.close()

            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                header = self.headers.get("Authorization")
                key = header.removeprefix("Bearer ") if header else None
                outer.paths.append(self.path)
                outer.bodies.append(body)
                outer.keys.append(key)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, content = answer(self.path, body, key)
                text = content if isinstance(content, (str, bytes)) else json.dumps(content)
                data = text.encode() if isinstance(text, str) else text
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", data.decode())
                is_page = data.startswith(b"<")
                self.send_header("Content-Type", "text/html" if is_page else "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_CONNECT = do_GET

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        # A client that goes away early is no fault.
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        # A client that goes away early is no fault.
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        if tls is not None:
            # The handshake is the connection's thread's, so that one that fails stops no other.
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.daemon = True

    @property
    def origin(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def __enter__(self) -> LocalServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def ollama(
    port: int = 0,
    models: tuple[str, ...] = ("qwen3:8b", "nomic-embed-text:latest"),
    tls: ssl.SSLContext | None = None,
) -> LocalServer:
    """Ollama 0.12: ``/api/tags``, ``/api/show``, ``/api/chat``."""

    def answer(path: str, body: Any, _: str | None) -> Answer:
        if path == "/api/tags":
            return 200, {
                "models": [
                    {
                        "name": name,
                        "model": name,
                        "size": 5_225_388_164,
                        "details": {"parameter_size": "8.2B", "quantization_level": "Q4_K_M"},
                    }
                    for name in models
                ]
            }
        if path == "/api/show":
            can = ["embedding"] if "embed" in body["model"] else ["completion", "tools"]
            return 200, {"capabilities": can, "model_info": {"qwen3.context_length": 40_960}}
        if path == "/api/chat":
            line = {"model": body["model"], "created_at": "2026-11-24T00:00:00Z"}
            say = {**line, "message": {"role": "assistant", "content": "Ready."}, "done": False}
            end = {
                **line,
                "message": {"role": "assistant", "content": ""},
                "done": True,
                "done_reason": "stop",
                "prompt_eval_count": 12,
                "eval_count": 2,
            }
            return 200, f"{json.dumps(say)}\n{json.dumps(end)}\n"
        return 404, "404 page not found"

    return LocalServer(answer, port, tls)


def lm_studio(port: int = 0) -> LocalServer:
    """LM Studio's REST API v0, which answers an unknown path with 200."""

    def answer(path: str, body: Any, _: str | None) -> Answer:
        if path == "/api/v0/models":
            return 200, {
                "object": "list",
                "data": [
                    {
                        "id": "qwen2.5-coder-7b",
                        "object": "model",
                        "type": "llm",
                        "state": "not-loaded",
                        "max_context_length": 32_768,
                    },
                    {"id": "text-embedding-nomic", "type": "embeddings", "state": "loaded"},
                ],
            }
        return 200, {"error": f"Unexpected endpoint or method. (GET {path})"}

    return LocalServer(answer, port)


def llama_cpp(port: int = 0) -> LocalServer:
    """llama.cpp's server, which has Ollama's ``/api/tags`` as well."""
    listed = {
        "models": [{"name": "/models/qwen.gguf", "model": "/models/qwen.gguf"}],
        "object": "list",
        "data": [
            {
                "id": "/models/qwen.gguf",
                "object": "model",
                "owned_by": "llamacpp",
                "meta": {"n_ctx_train": 32_768, "size": 1_117_320_736},
            }
        ],
    }

    def answer(path: str, body: Any, _: str | None) -> Answer:
        if path == "/props":
            return 200, {
                "default_generation_settings": {"n_ctx": 8_192},
                "modalities": {"vision": False, "audio": False},
                "total_slots": 1,
            }
        if path in ("/v1/models", "/models", "/api/tags"):
            return 200, listed
        return 404, {"error": {"code": 404, "message": "File Not Found"}}

    return LocalServer(answer, port)


def vllm(port: int = 0, key: str | None = None) -> LocalServer:
    """vLLM, with ``--api-key`` if there is one."""

    def answer(path: str, body: Any, given: str | None) -> Answer:
        if not path.startswith("/v1/"):
            return 404, {"detail": "Not Found"}
        if key is not None and given != key:
            return 401, {"error": f"Unauthorized: {given}"}
        if path == "/v1/models":
            return 200, {
                "object": "list",
                "data": [
                    {"id": "Qwen/Qwen3-8B", "owned_by": "vllm", "max_model_len": 16_384},
                ],
            }
        return 404, {"detail": "Not Found"}

    return LocalServer(answer, port)


SERVERS: dict[str, Callable[[], LocalServer]] = {
    "ollama": ollama,
    "lm_studio": lm_studio,
    "llama_cpp": llama_cpp,
    "vllm": vllm,
}


def main() -> None:
    """``python -m tests.support.local_servers NAME`` prints its port, and ends with its input."""
    with SERVERS[sys.argv[1]]() as server:
        print(server.port, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
