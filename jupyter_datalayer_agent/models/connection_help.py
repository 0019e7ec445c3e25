"""How to connect a model: the page's help when none is ready."""

from __future__ import annotations

from ..protocol.requests import Connection

# Text in backticks is a command.
CONNECTIONS: tuple[Connection, ...] = (
    Connection(
        title="A provider's API key",
        steps=(
            "In the terminal that starts JupyterLab: `export ANTHROPIC_API_KEY=…` (or "
            "OPENAI_API_KEY, GEMINI_API_KEY), then `jupyter lab`"
        ),
    ),
    Connection(
        title="A model on this computer, with Ollama",
        steps=(
            "`ollama pull qwen3`, then `jupyter lab --DatalayerAgentApp.model=ollama_chat/qwen3`"
        ),
    ),
    Connection(
        title="An OpenAI-compatible server of your organisation",
        steps=(
            "`jupyter lab --DatalayerAgentApp.model=openai/NAME "
            "--DatalayerAgentApp.api_base=https://HOST/v1`, with its key in OPENAI_API_KEY"
        ),
    ),
)
