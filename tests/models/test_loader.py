"""The import of litellm: late, once, in a thread, without the network, leaving nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from jupyter_datalayer_agent.models import loader
from tests.support.jupyter import PYTHONPATH

ROOT = Path(__file__).parents[2]

BLOCK_NETWORK = """
import socket
def refuse(*args, **kwargs):
    raise AssertionError(f"the network was used: {args}")
for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, refuse)
socket.getaddrinfo = socket.create_connection = refuse
"""


def run_python(code: str, cwd: Path = ROOT, **environ: str) -> str:
    """Standard output of ``code`` in a fresh interpreter; a failure shows all it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": PYTHONPATH, **environ},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_importing_the_package_loads_neither_litellm_nor_its_clients() -> None:
    run_python(
        """
        import sys
        import jupyter_datalayer_agent.models as models
        models.models_reply(environ={"OPENAI_API_KEY": "sk-0123456789"})
        models.estimate_tokens("text")
        models.count_tokens("text")
        found = {"litellm", "openai", "mcp", "tiktoken", "httpx"} & set(sys.modules)
        assert not found, found
        """
    )


def test_peers_14_the_import_uses_no_network_holds_nothing_up_and_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    """All assertions about the import, of one: each takes a core four seconds."""
    (tmp_path / ".env").write_text("FROM_DOT_ENV=1\n")
    run_python(
        BLOCK_NETWORK
        + textwrap.dedent(
            """
            import asyncio, gc, logging, os, sys
            from jupyter_datalayer_agent.imports import LARGE
            from jupyter_datalayer_agent.models import loader
            before = dict(os.environ)
            logged = []
            loader.log.setLevel(logging.DEBUG)
            loader.log.addFilter(lambda record: logged.append(record.getMessage()))

            async def main():
                socket.socket.connect = refuse
                loader.begin_import()
                loader.begin_import()
                assert not loader.is_loaded()
                while gc.isenabled():
                    await asyncio.sleep(0.01)

                # A waiter that is cancelled does not cancel the import.
                waiter = asyncio.ensure_future(loader.litellm())
                await asyncio.sleep(0.05)
                waiter.cancel()
                await asyncio.gather(waiter, return_exceptions=True)
                assert waiter.cancelled()

                loading = asyncio.ensure_future(loader.litellm())
                ticks = 0
                while not loading.done():
                    await asyncio.sleep(0.01)
                    ticks += 1
                assert ticks > 10, ticks
                module = await loading
                assert module is sys.modules["litellm"] is await loader.litellm()
                assert loader.is_loaded()
                assert not logged, logged
                assert gc.isenabled()
                # Full collections, which hold up the event loop, leave out what it made.
                assert gc.get_freeze_count() > LARGE
                await loader.responses()
                assert not logged, logged
                event = module.types.llms.openai.ResponseCompletedEvent
                assert event.__pydantic_complete__, "the first call would build it"

            asyncio.run(main())
            changed = {name for name in {*before, *os.environ}
                       if before.get(name) != os.environ.get(name)}
            assert not changed, changed
            """
        ),
        cwd=tmp_path,
    )


def test_chat_completions_need_no_mcp_and_the_responses_api_says_that_it_does() -> None:
    run_python(
        """
        import asyncio, sys
        sys.modules["mcp"] = None
        from jupyter_datalayer_agent.models import ModelError, loader

        async def main():
            assert (await loader.litellm()).__name__ == "litellm"
            said = None
            try:
                await loader.responses()
            except ModelError as error:
                assert error.code == "litellm_unusable"
                said = error.message
            assert loader.is_loaded()
            # The oldest litellm that is allowed does without it.
            try:
                import litellm.responses.mcp.litellm_proxy_mcp_handler
            except ImportError:
                assert said and "mcp" in said, said
            else:
                assert said is None, said

        asyncio.run(main())
        """
    )


def test_versions_that_do_not_go_together_are_found_at_load_and_say_what_to_type(
    tmp_path: Path,
) -> None:
    package = tmp_path / "litellm"
    package.mkdir()
    (package / "__init__.py").write_text(
        "raise ImportError(\"cannot import name 'CacheableResult' from 'mcp.types'\")\n"
    )
    output = run_python(
        f"""
        import asyncio, sys
        sys.path.insert(0, {str(tmp_path)!r})
        from jupyter_datalayer_agent.models import LitellmModel, ModelError, ModelRequest

        async def main():
            request = ModelRequest("openai/x", "", [], api_base="http://127.0.0.1:9")
            for _ in range(2):
                try:
                    async for event in LitellmModel().stream(request):
                        raise AssertionError(event)
                except ModelError as error:
                    assert not error.retryable
                    print(error.code, error.message)

        asyncio.run(main())
        """
    )
    for line in output.splitlines():
        assert line.startswith("litellm_unusable ")
        assert "does not work with mcp" in line
        assert "pip install" in line


@pytest.mark.parametrize(
    ("version", "command"),
    [("1.102.4", 'pip install "mcp<2"'), ("1.106.2", 'pip install "mcp>=2.3"')],
)
def test_the_remedy_fits_the_version(version: str, command: str) -> None:
    assert loader.remedy(version).startswith(command)
