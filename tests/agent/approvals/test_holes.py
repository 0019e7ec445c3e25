"""What hid from the look at the text asks: in a kernel with the guard at the act, and in one
without it before the code runs."""

from __future__ import annotations

import pytest

from tests.agent.approvals.test_acts import Folder, Turn, adding, deny
from tests.support.jupyter import RunningServer
from tests.support.model_server import Call, ScriptedModelServer

REMOVE = "import os\nos.remove('cars.csv')"
NAMES = [*(f"no{number}" for number in range(8)), "cars.csv"]
LOOP = f"import os\nfor name in {NAMES}:\n    if os.path.exists(name):\n        os.remove(name)"
ELSEWHERE = "import os\nos.makedirs('elsewhere', exist_ok=True)\n"
HOLES = {
    "padding": (f"{'# padding' * 25_000}\n{REMOVE}", []),
    "a line of IPython's": (f",print 1\n{REMOVE}", []),
    "nine names": (LOOP, []),
    "another folder": (
        "import os\nos.remove('../cars.csv')",
        [Call("executeCode", {"code": f"{ELSEWHERE}os.chdir('elsewhere')"})],
    ),
    "another folder by a magic": (
        "import os\nos.remove('../cars.csv')",
        [
            Call("executeCode", {"code": ELSEWHERE}),
            Call("executeCode", {"code": "%cd elsewhere"}),
        ],
    ),
    "a variable": ("import os\nos.remove(f)", [Call("executeCode", {"code": "f = 'cars.csv'"})]),
    "a module": ("import tidy", []),
    "a module that was written and reloaded": (
        "import importlib, tidy\nimportlib.reload(tidy)",
        [],
    ),
}
NO_GUARD = "get_ipython().kernel.control_thread = None"


@pytest.mark.parametrize("is_guarded", [True, False], ids=["guard", "no guard"])
@pytest.mark.parametrize("hole", HOLES)
def test_what_hides_from_the_text_asks(
    server: RunningServer, model: ScriptedModelServer, hole: str, is_guarded: bool
) -> None:
    folder = Folder(server)
    code, calls = HOLES[hole]
    if not is_guarded:
        without = {"arguments": {"code": NO_GUARD}, "path": folder.notebook}
        assert server.post("tools/executeCode", without)["ok"]
    if "tidy" in code:
        written = {"path": f"{folder.name}/tidy.py", "content": REMOVE}
        calls = [Call("writeFile", written)]
    turn = Turn(folder, model, deny, *calls, adding(code))
    assert folder.cars.exists(), turn.reasons
    assert turn.asked
    if is_guarded:
        assert "cars.csv" in turn.reasons[-1]
