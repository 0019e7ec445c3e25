"""``%agent`` in a notebook's real kernel, with a real server and the scripted model."""

from __future__ import annotations

from tests.magic.kernels import LOAD, notebook_kernel, write_notebook
from tests.support.jupyter import RunningServer
from tests.support.model_server import Gate, Say, ScriptedModelServer


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
