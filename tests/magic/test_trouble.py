"""What the magic says when something is not there, and what its token does not open."""

from __future__ import annotations

import json
import re

import nbformat
import requests

from jupyter_datalayer_agent.secrets_in_text import redact
from jupyter_datalayer_agent.settings.startup_layers import masked
from tests.magic.kernels import LOAD, notebook_kernel, write_notebook
from tests.support.jupyter import TOKEN, RunningServer
from tests.support.model_server import Call, Gate, Hang, Say, ScriptedModelServer, Status
from tests.support.page import FakePage

SHOW = "import os; print(os.environ['DATALAYER_AGENT_URL'], os.environ['DATALAYER_AGENT_TOKEN'])"


def test_a_kernels_token_opens_little_and_is_seen_nowhere(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "token.ipynb", LOAD)
    write_notebook(server, "other.ipynb", LOAD)
    with notebook_kernel(server, "token.ipynb") as kernel:
        url, token = kernel.run(SHOW).text.split()
        assert url == f"{server.url}datalayer-agent/"
        assert token != TOKEN

        def status(method: str, route: str, body: object = None) -> int:
            headers = {"Authorization": f"token {token}"}
            return requests.request(
                method, server.url + route, json=body, headers=headers, timeout=60
            ).status_code

        own = "datalayer-agent/"
        assert status("GET", "api/contents") == 403
        assert status("GET", "api/kernels") == 403
        assert status("GET", f"{own}models") == 200
        for method, route in (
            ("GET", "config"), ("PATCH", "config"), ("POST", "tools/executeCode"),
            ("GET", "page"), ("DELETE", "sessions/x"), ("GET", "datasets"),
        ):  # fmt: skip
            assert status(method, own + route, {}) == 403, route

        # The notebook is the kernel's own, and no request loosens what waits for approval.
        model.script(Call("deleteNotebookCells", {"cellIds": ["cell-0"]}), Say("No."))
        session = requests.post(
            f"{url}sessions", json={}, headers={"Authorization": f"token {token}"}, timeout=60
        ).json()["id"]
        ops = f"{own}sessions/{session}/ops"
        request = {
            "message": "delete", "mode": "agent", "approval": "never", "location": "api",
            "activeNotebook": "other.ipynb",
        }  # fmt: skip
        with FakePage(server) as page:
            page.send({"type": "subscribe", "sessionId": session})
            assert status("POST", ops, {"type": "user_message", "request": request}) == 202
            asked = page.wait_for("approval_requested")["approvalId"]
            decision = {"type": "approval_decision", "approvalId": asked}
            assert status("POST", ops, {**decision, "decision": "approve"}) == 403
            server.post(f"sessions/{session}/ops", {**decision, "decision": "deny"})
            page.wait_for("turn_completed")
        turn = server.get(f"sessions/{session}/turns")["turns"][-1]
        assert [call["status"] for call in turn["toolCalls"]] == ["denied"]
        assert (turn["location"], turn["notebookMode"]) == ("magic", "full")
        assert "other.ipynb" not in model.requests[-1].text

        # Once loaded, it is in the environment no more; and it never was in the log.
        kernel.run(LOAD)
        assert kernel.run("import os; print('TOKEN' in str(os.environ.keys()))").text == "False\n"
        assert token not in server.log.read_text()
        assert token[-20:] not in f"{redact(f'x {token} y')} {masked(token)}"
        assert token not in json.dumps(server.get(f"sessions/{session}/turns"))

        # The notebook is renamed while its kernel keeps running.
        opened = next(each for each in server.get("/api/sessions") if each["path"] == "token.ipynb")
        (server.root / "token.ipynb").rename(server.root / "renamed.ipynb")
        server.request("PATCH", f"/api/sessions/{opened['id']}", json={"path": "renamed.ipynb"})
        model.script(Say("Yes."))
        assert kernel.run("%agent hello").status == "ok"
        assert "renamed.ipynb" in model.requests[-1].text


def test_servers_that_are_gone_refuse_or_have_no_agent(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "gone.ipynb", LOAD)
    with notebook_kernel(server, "gone.ipynb") as kernel:
        assert "not found" in kernel.run("%agent hello").text
        kernel.run("import os; token = os.environ['DATALAYER_AGENT_TOKEN']\n" + LOAD)
        there = "import os; os.environ.update(DATALAYER_AGENT_URL={!r}, DATALAYER_AGENT_TOKEN={!r})"
        reload = "\n%reload_ext jupyter_datalayer_agent"
        kernel.run(there.format("http://127.0.0.1:9/", "x") + reload)
        assert "127.0.0.1:9 does not answer" in kernel.run("%agent hello").error
        kernel.run(there.format(server.url, "wrong") + reload)
        error = kernel.run("%agent hello").error
        assert "does not accept this kernel's token" in error
        assert "wrong" not in error
        kernel.run(there.format(server.url + "lab/", TOKEN) + reload)
        assert "has no agent" in kernel.run("%agent hello").error

        # Without the environment it is found by Jupyter's runtime files.
        model.script(Say("Found."))
        kernel.run(
            "from jupyter_datalayer_agent.magic import server\n"
            "server._from_environment = None; del os.environ['DATALAYER_AGENT_URL']" + reload
        )
        assert kernel.run("%agent hello").display["text/markdown"] == "Found."
        kernel.run("os.environ['JUPYTER_RUNTIME_DIR'] = '/nowhere'" + reload)
        assert "No Jupyter server was found" in kernel.run("%agent hello").error


def test_commands_and_stopping(server: RunningServer, model: ScriptedModelServer) -> None:
    write_notebook(server, "commands.ipynb", LOAD)
    model.script(
        Call("addNotebookCell", {"type": "code", "content": "1"}), Say("Added."),
        Hang(30, Say("never")), Say("Bye."), Gate(Say("Slow."), after=0),
    )  # fmt: skip
    with notebook_kernel(server, "commands.ipynb") as kernel:
        kernel.run(LOAD)
        assert "There is no session" in kernel.run("%agent undo").error
        asked = kernel.run("%agent --mode agent add a cell", "cell-0")
        kernel.wait_for_answer(asked, "Added.")
        assert "add a cell" in kernel.run("%agent history").text
        assert re.search(r"Session: add a cell .* idle", kernel.run("%agent status").text)
        assert kernel.run("%agent undo").text.startswith("Undone: 1 change.")
        assert len(nbformat.read(server.root / "commands.ipynb", as_version=4).cells) == 1
        assert kernel.run("%agent undo").text == "Nothing to undo.\n"
        assert "openai/scripted (default)" in kernel.run("%agent models").text
        assert kernel.run("%agent stop").text == "Nothing is running.\n"

        waiting = kernel.begin("%agent think")
        model.wait_for(lambda: len(model.requests) == 3)
        kernel.wait(lambda: bool(waiting.outputs))
        session = next(
            each for each in server.get("/api/sessions") if each["path"] == "commands.ipynb"
        )
        server.request("POST", f"/api/kernels/{session['kernel']['id']}/interrupt")
        kernel.wait(lambda: bool(waiting.status))
        assert waiting.error == "%agent: Stopped."
        assert waiting.display["text/markdown"].endswith("*Stopped.*")
        assert kernel.run("%agent still there?").display["text/markdown"] == "Bye."

        working = kernel.run("%agent --mode agent work")
        assert kernel.run("%agent stop").text == "Stopped.\n"
        kernel.wait(lambda: working.display["text/markdown"].endswith("*Stopped.*"))

        def completed(code: str) -> list[str]:
            reply = kernel.client.complete(code, len(code), reply=True, timeout=60)
            return list(reply["content"]["matches"])

        assert completed("%agent --mo") == ["--mode", "--model"]
        assert {"ask", "agent"} <= set(completed("%agent --mode a"))
        assert "openai/scripted" in completed("%agent --model openai/")
        assert '"add a cell"' in completed("%agent --session ")
        assert completed("%agent st") == ["status", "stop"]
        assert completed("%%agent --format c") == ["code"]


def test_a_stop_before_anything_was_heard_of_the_turn_stops_it(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "early.ipynb", LOAD)
    model.script(Hang(30, Say("never")), Say("Next."))
    with notebook_kernel(server, "early.ipynb") as kernel:
        kernel.run(LOAD)
        # A connection that takes its time.
        kernel.run(
            "import time\nfrom jupyter_datalayer_agent.magic.answer import MagicTurn\n"
            "events = MagicTurn._events\n"
            "MagicTurn._events = lambda self: (time.sleep(1), (yield from events(self)))[1]"
        )
        asked = kernel.begin("%agent think")
        model.wait_for(lambda: len(model.requests) == 1)
        (session,) = server.get("/api/sessions")
        server.request("POST", f"/api/kernels/{session['kernel']['id']}/interrupt")
        kernel.wait(lambda: bool(asked.status))
        assert asked.error == "%agent: Stopped."
        assert asked.display["text/markdown"] == "*Stopped.*"
        assert kernel.run("%agent and now?").display["text/markdown"] == "Next."


def test_a_turn_that_fails_fails_its_cell(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "fails.ipynb", LOAD)
    with notebook_kernel(server, "fails.ipynb") as kernel:
        kernel.run(LOAD)
        missing = kernel.run("%agent --attach nothing.csv look")
        # Once, and phrased for a cell. By the error's name the page offers no Fix.
        (error,) = missing.outputs
        assert error["ename"] == "AgentMagicError"
        assert missing.error == (
            "%agent: The attached file nothing.csv does not exist beside the notebook or under "
            "the server's root."
        )
        assert kernel.run("%agent --nosuch x").outputs[0]["ename"] == "AgentMagicError"
        model.script(Status(400, body={"error": {"message": "Too hot."}}))
        failed = kernel.run("%agent look")
        assert "Too hot." in failed.error
        assert failed.display["text/markdown"] == "Not answered."
