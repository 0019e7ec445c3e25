"""``jupyter datalayer-agent``: the agent from a terminal, a script or a CI job.

Exit codes: 0 for success, 1 when the task failed, was stopped, or a notebook is not good enough, 2
when the command itself is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .._version import __version__

EXAMPLES = """\
examples:
  jupyter datalayer-agent run "plot the price by year" sales.ipynb
  jupyter datalayer-agent run "explore" new.ipynb --template exploratory-data-analysis \\
      --param data=cars.csv
  jupyter datalayer-agent run "/notebook export as HTML" report.ipynb --yes
  jupyter datalayer-agent run "which test fits?" sales.ipynb \\
      --compare openai/gpt-6.1-sol,anthropic/claude-opus-5-5
  jupyter datalayer-agent quality *.ipynb --min-score 80
  jupyter datalayer-agent models add ~/models/qwen2.5-coder.gguf --name qwen
"""


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(
        prog="jupyter datalayer-agent",
        description="An AI agent for notebooks.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True, metavar="command")

    run = commands.add_parser("run", help="run a task on a notebook")
    run.add_argument("task", help="what to do")
    run.add_argument(
        "notebook",
        nargs="?",
        help="the notebook; created if it does not exist. A /command needs none",
    )
    run.add_argument("--mode", choices=["ask", "edit", "agent"], help="default: agent")
    run.add_argument("--model", help="provider/name; default: as configured")
    run.add_argument("--approval", choices=["never", "destructive", "always"])
    run.add_argument("--plan", action="store_true", help="plan first, then follow the plan")
    run.add_argument(
        "--yes", action="store_true", help="run actions that a /service message or a plan proposes"
    )
    run.add_argument("--template", metavar="ID", help="a workflow that runs without a model")
    run.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="for the template"
    )
    run.add_argument(
        "--compare",
        metavar="MODEL,MODEL",
        help="two to four models answer the same, one under the other; they only read",
    )
    run.add_argument(
        "--synthesise",
        action="store_true",
        help="with --compare: add where the answers agree and differ",
    )
    _json(run)

    quality = commands.add_parser("quality", help="how good notebooks are, from 0 to 100")
    quality.add_argument("notebooks", nargs="+")
    quality.add_argument(
        "--min-score", type=int, default=50, metavar="N", help="fail below it (default: 50)"
    )
    _json(quality)

    for name, description in (
        ("workflows", "workflows that run without a model"),
        ("tutorials", "tutorials and your progress"),
        ("sessions", "conversations, newest first"),
    ):
        _json(commands.add_parser(name, help=description))

    models = commands.add_parser("models", help="models that are ready, and those on this computer")
    _json(models)
    actions = models.add_subparsers(dest="action", metavar="action")
    _json(actions.add_parser("list", help="the same as without an action"))
    add = actions.add_parser("add", help="add a model on this computer, for llama.cpp")
    add.add_argument("file", help="a GGUF file, or hf:OWNER/REPOSITORY/FILE.gguf")
    add.add_argument("--name", help="by which it is chosen, as local/NAME; default: the file's")
    add.add_argument(
        "--context", type=int, metavar="TOKENS", help="its context window (at most 16384)"
    )
    _json(add)
    remove = actions.add_parser("remove", help="forget a model; its file is not deleted")
    remove.add_argument("name")
    _json(remove)

    benchmark = commands.add_parser(
        "benchmark", help="how often a message is understood, or a task carried out, rightly"
    )
    benchmark.add_argument("--service", metavar="ID", help="only the cases of this service")
    benchmark.add_argument(
        "--model", help="provider/name; default: none, so what is done without a model"
    )
    benchmark.add_argument("--api-base", metavar="URL", help="address of the model's server")
    benchmark.add_argument(
        "--tasks", nargs="*", metavar="ID", help="instead, tasks on real notebooks: these, or all"
    )
    benchmark.add_argument(
        "--seconds", type=float, default=600, metavar="N", help="that a task may take (600)"
    )
    benchmark.add_argument(
        "--runs", type=int, metavar="N", help="of each case (10) or of each task (1)"
    )
    benchmark.add_argument(
        "--min-success", type=float, default=0.8, metavar="SHARE", help="fail below it (0.8)"
    )
    benchmark.add_argument("--log-dir", default="logs", help="for Inspect's logs (logs)")
    benchmark.add_argument(
        "--compare", nargs=2, metavar="REPORT", help="show how two reports (--json) differ"
    )
    _json(benchmark)

    mcp = commands.add_parser("mcp", help="an MCP server over standard input and output")
    mcp.add_argument(
        "--root", metavar="FOLDER", help="a folder that the Jupyter server serves (the current one)"
    )
    commands.add_parser("acp", help="serve an editor over the Agent Client Protocol (stdio)")

    config = commands.add_parser("config", help="settings and their sources")
    config.add_argument("--session", metavar="ID", help="as used in this session")
    _json(config)
    return top


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON and nothing else")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    given = parser().parse_args(arguments)
    from . import commands
    from .failure import CommandFailed

    try:
        return commands.COMMANDS[given.command](given)
    except CommandFailed as error:
        print(f"jupyter datalayer-agent: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
