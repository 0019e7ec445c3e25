"""Model servers that are real programs, from packages beside the environment
(``scripts/test_programs.sh``). What they say is known: llama.cpp loads a model that recites, and
LiteLLM's proxy stands before the scripted model server."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

import requests
import yaml

from tests.support.beside import PROGRAMS, folder_of
from tests.support.jupyter import PYTHONPATH
from tests.support.model_request import RecordedRequest
from tests.support.model_server import (
    Answer,
    Call,
    Gate,
    Reasoning,
    Say,
    ScriptedModelServer,
    Step,
)
from tests.support.ports import free_port
from tests.support.preloaded import bare_environment
from tests.support.reciting_model import CONTEXT, reciting_model

KEY = "sk-test-0123456789abcdef"
TEXT = ["The ans", "wer is", " 42", "."]
LONG = [f"word{number} " for number in range(60)]
"""Again and again, until the limit."""
CALL = ("addNotebookCell", {"content": "print(6*7)", "type": "code"})
LIMIT = 2000
"""Tokens of a long answer; as many pieces."""

LLAMA_CPP_PYTHON = "LLAMA_CPP_PYTHON"
INSTALLED = (PROGRAMS / "xllamacpp").is_dir()


@dataclass(frozen=True)
class RealServer:
    """A server that listens. ``model`` is its name in a request of litellm."""

    address: str
    model: str


def version_of(folder: str, package: str) -> str:
    """The version of a package beside the environment, or of one in it."""
    path = [str(PROGRAMS / folder), *sys.path]
    return next(each.version for each in distributions(name=package, path=path))


@contextlib.contextmanager
def llama_cpp(folder: Path) -> Iterator[RealServer]:
    """llama.cpp's server."""
    model = reciting_model(folder / "recites.gguf", text=TEXT, long=LONG, call=CALL)
    job = {
        "path": str(model),
        "window": CONTEXT,
        "cache_mib": 0,
        "threads": 1,
        "key": KEY,
        "parent": os.getpid(),
    }
    command = [sys.executable, "-m", "jupyter_datalayer_agent.models.local.llama_process"]
    with (
        (folder / "llama.log").open("wb") as log,
        _running(command, "xllamacpp", stdin=subprocess.PIPE, stdout=subprocess.PIPE, log=log) as (
            process
        ),
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        yield RealServer(f"{answer['address']}/v1", "openai/recites")


@contextlib.contextmanager
def litellm_proxy(folder: Path) -> Iterator[RealServer]:
    """LiteLLM's proxy, and behind it a server that answers as the reciting model does."""
    with ScriptedModelServer(default=_recite) as behind:
        config = {
            "model_list": [
                {
                    "model_name": "recites",
                    "litellm_params": {
                        "model": "openai/recites",
                        "api_base": behind.base_url,
                        "api_key": KEY,
                    },
                }
            ],
            "general_settings": {"master_key": KEY},
        }
        file = folder / "config.yaml"
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        port = free_port()
        code = "import litellm; litellm.run_server()"
        command = [sys.executable, "-W", "ignore", "-c", code, "--config", str(file)]
        command += ["--host", "127.0.0.1", "--port", str(port)]
        log = folder / "proxy.log"
        with (
            log.open("wb") as out,
            _running(command, "litellm-proxy", stdout=out, log=out) as process,
        ):
            _wait_for(f"http://127.0.0.1:{port}/health/liveliness", process, log)
            yield RealServer(f"http://127.0.0.1:{port}/v1", "openai/recites")


@contextlib.contextmanager
def llama_cpp_python(folder: Path) -> Iterator[RealServer]:
    """llama-cpp-python's own server, of the interpreter that ``LLAMA_CPP_PYTHON`` names: it has no
    wheels, and takes minutes to compile."""
    model = reciting_model(folder / "recites.gguf", text=TEXT, long=LONG, call=CALL)
    port = free_port()
    command = [os.environ[LLAMA_CPP_PYTHON], "-m", "llama_cpp.server", "--model", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", str(CONTEXT)]
    log = folder / "llama-cpp-python.log"
    with log.open("wb") as out, _running(command, None, stdout=out, log=out) as process:
        _wait_for(f"http://127.0.0.1:{port}/v1/models", process, log)
        yield RealServer(f"http://127.0.0.1:{port}/v1", "openai/recites")


def version_by_hand(package: str) -> str:
    """The version of a package of the interpreter that ``LLAMA_CPP_PYTHON`` names, and today."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    command = [os.environ[LLAMA_CPP_PYTHON], "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    day = datetime.date.today()
    return f"{package} {done.stdout.strip()}, {day.day} {day:%B %Y}"


def _recite(request: RecordedRequest) -> Step:
    last = request.items[-1]
    if "LONG" in str(last.get("content")):
        if "max_tokens" in request.body:
            return Answer([Say("".join(_words(LIMIT)), chunk=30)], finish="length")
        return Gate(Say("".join(_words(LIMIT)), chunk=30), after=2)
    if "THINK" in str(last.get("content")):
        return Answer([Reasoning("Let me see."), Say("".join(TEXT), chunk=5)])
    if request.tool_names and last["role"] != "tool":
        return Call(*CALL)
    return Say("".join(TEXT), chunk=5)


def _words(count: int) -> Iterator[str]:
    return (LONG[number % len(LONG)] for number in range(count))


@contextlib.contextmanager
def _running(
    command: list[str], package: str | None, *, log: object, **streams: object
) -> Iterator[subprocess.Popen[bytes]]:
    """The command, with a package beside the environment, until the end of the block."""
    environment = bare_environment() | {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    if package is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(folder_of(package)), PYTHONPATH])
    process = subprocess.Popen(command, env=environment, stderr=log, **streams)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until the server answers: it reports nothing else."""
    deadline = time.monotonic() + 280
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(requests.ConnectionError):
            if requests.get(url, timeout=10).ok:
                return
        time.sleep(0.1)
    raise RuntimeError(f"The server did not start:\n{log.read_text(errors='replace')[-4000:]}")


def expected_long() -> str:
    """The text of a long answer."""
    return "".join(_words(LIMIT))
