"""``%agent`` in a notebook's real kernel, with a real server and the scripted model."""

from __future__ import annotations

from tests.magic.kernels import LOAD, notebook_kernel, write_notebook
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, Gate, Say, ScriptedModelServer


def test_an_answer_streams_into_the_output_of_its_cell(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "hello.ipynb", LOAD, "%agent hello")
    model.script(Gate(Say("Hello **you**, what is next?", chunk=6), after=2))
    with notebook_kernel(server, "hello.ipynb") as kernel:
        assert kernel.run(LOAD).status == "ok"
        ran = kernel.begin("%agent hello")
        kernel.wait(lambda: any("Hello" in text for text in kernel.seen))
        assert "next?" not in ran.display["text/markdown"]
        assert not ran.status
        model.release()
        kernel.wait(lambda: bool(ran.status))
        assert ran.status == "ok"
        assert ran.display["text/markdown"] == "Hello **you**, what is next?"
        assert kernel.run("print(_agent, _agent.status)").text.strip().endswith("next? completed")
    assert "hello.ipynb" in model.requests[-1].text


def test_options_variables_and_formats(server: RunningServer, model: ScriptedModelServer) -> None:
    write_notebook(server, "options.ipynb", LOAD)
    (server.root / "notes.txt").write_text("The answer is in the notes.")
    model.script(
        Say("Columns.\n\n```python\nx = 1\n```\n\nand\n\n```python\ny = 2\n```"),
        Say("Just *text*."),
        Say("Two."),
    )
    with notebook_kernel(server, "options.ipynb") as kernel:
        kernel.run(f"{LOAD}\nimport pandas as pd\ndf = pd.DataFrame({{'a': [10101, 2], 'b': 'z'}})")
        ran = kernel.run(
            "%%agent --format code --out code --attach notes.txt\nPlot {df}, {{not}} {unknown}"
        )
        assert ran.display["text/plain"] == "x = 1\n\ny = 2"
        assert ran.display["text/markdown"] == "```python\nx = 1\n\ny = 2\n```"
        assert "DataFrame, 2 rows × 2 columns: a (int64), b (" in model.requests[-1].text
        assert "{not} {unknown}" in model.requests[-1].text
        assert ran.text == "{unknown}: no such variable, sent as it is.\n"
        assert "10101" not in model.requests[-1].text
        assert "The answer is in the notes." in model.requests[-1].text
        assert "x = 1" in kernel.run("exec(code); print(code, x + y)").text
        ran = kernel.run("%agent --format text why is this text?")
        assert ran.display == {"text/plain": "Just *text*."}
        assert "why is this text?" in model.requests[-1].text
        wrong = kernel.run("%agent --mode fly away")
        assert wrong.status == "error"
        assert wrong.error == "%agent: --mode is one of ask, edit, agent, not fly."


def test_options_are_for_one_message_and_a_session_for_those_that_follow(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "once.ipynb", LOAD)
    model.script(Say("Other."), Say("Usual."), Say("Named."))
    with notebook_kernel(server, "once.ipynb") as kernel:
        kernel.run(LOAD)
        session = server.post("sessions", {"settings": {"mode": "edit", "notebook": "once.ipynb"}})[
            "id"
        ]
        ask = f"%agent --session {session} --model openai/other --mode ask one"
        assert kernel.run(ask).status == "ok"
        assert model.requests[-1].body["model"] == "other"
        assert kernel.run("%agent two").status == "ok"
        assert model.requests[-1].body["model"] == "scripted"
        assert "one" in model.requests[-1].text
        settings = server.get(f"sessions/{session}")["settings"]
        assert settings == {"mode": "edit", "notebook": "once.ipynb"}

        # What is known not to be there is reported before anything is sent.
        missing = kernel.run("%agent --session new --model anthropic/any three")
        assert missing.error.startswith("%agent: --model anthropic/any: Anthropic has no key")
        assert len(server.get(f"sessions/{session}/turns")["turns"]) == 2
        assert kernel.run("%agent four").display["text/markdown"] == "Named."
        assert "three" not in model.requests[-1].text


def test_a_proposed_action_says_where_it_is_run(
    server: RunningServer, model: ScriptedModelServer
) -> None:
    write_notebook(server, "proposed.ipynb", LOAD)
    given = {"service": "notebook", "action": "export", "parameters": {"format": "html"}}
    model.script(Call("proposeAction", given))
    with notebook_kernel(server, "proposed.ipynb") as kernel:
        kernel.run(LOAD)
        ran = kernel.run("%agent /notebook export as HTML")
        shown = ran.display["text/markdown"]
        assert "Nothing has been done yet." in shown
        assert (
            "*Run “Export the notebook” in the agent's panel.* [Open it there](#session-" in shown
        )
        assert ran.display["text/plain"].endswith("in the agent's panel.")
    assert not (server.root / "proposed.html").exists()
