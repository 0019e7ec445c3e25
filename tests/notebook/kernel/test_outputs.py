"""Kernel messages as nbformat outputs."""

from __future__ import annotations

import nbformat
import pytest

from jupyter_datalayer_agent.notebook.kernel import outputs as module
from jupyter_datalayer_agent.notebook.kernel.outputs import CellOutputs, Displays


def stream(text: str, name: str = "stdout") -> dict[str, str]:
    return {"name": name, "text": text}


def shown(*messages: tuple[str, dict]) -> list[dict]:
    cell = CellOutputs()
    for kind, content in messages:
        cell.add(kind, content)
    return cell.snapshot()


def test_text_of_one_stream_is_merged_and_of_two_is_not() -> None:
    result = shown(
        ("stream", stream("a")),
        ("stream", stream("b\n")),
        ("stream", stream("err", "stderr")),
        ("stream", stream("c")),
    )
    assert [(each["name"], each["text"]) for each in result] == [
        ("stdout", "ab\n"),
        ("stderr", "err"),
        ("stdout", "c"),
    ]


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["10%", "\r20%", "\r30%\n"], "30%\n"),
        (["10%\r", "20%\r", "done"], "done"),
        (["long line\rshort"], "shortline"),
        (["a\r", "\nb\r\n"], "a\nb\n"),
    ],
)
def test_a_carriage_return_writes_over_the_line(pieces: list[str], text: str) -> None:
    assert shown(*(("stream", stream(each)) for each in pieces))[0]["text"] == text


def test_a_progress_bar_stays_one_line_when_it_is_saved_in_between() -> None:
    cell = CellOutputs()
    for percent in range(100):
        cell.add("stream", stream(f"{percent}%\r"))
        cell.snapshot()
    cell.add("stream", stream("done\n"))
    assert cell.snapshot()[0]["text"] == "done\n"


def test_clear_output_now_and_with_the_next_output() -> None:
    assert shown(("stream", stream("a")), ("clear_output", {"wait": False})) == []
    kept = shown(("stream", stream("a")), ("clear_output", {"wait": True}))
    assert kept[0]["text"] == "a"
    replaced = shown(
        ("stream", stream("a")), ("clear_output", {"wait": True}), ("stream", stream("b"))
    )
    assert [each["text"] for each in replaced] == ["b"]


def test_a_display_is_updated_wherever_it_is_shown() -> None:
    displays = Displays()
    first, second = CellOutputs(displays), CellOutputs(displays)
    transient = {"transient": {"display_id": "d"}}
    first.add("display_data", {"data": {"text/plain": "1"}, "metadata": {}, **transient})
    second.add("update_display_data", {"data": {"text/plain": "2"}, "metadata": {}, **transient})
    assert first.snapshot()[0]["data"] == {"text/plain": "2"}
    assert second.snapshot() == []
    assert second.updated == [first]


def test_a_snapshot_does_not_change_with_what_comes_later() -> None:
    cell = CellOutputs()
    cell.add("stream", stream("a"))
    before = cell.snapshot()
    cell.add("stream", stream("b"))
    assert before[0]["text"] == "a"


def test_endless_printing_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PRINTED_CHARACTERS", 100)
    monkeypatch.setattr(module, "MAX_PRINTED_END_CHARACTERS", 40)
    printed = [f"{number:09}\n" for number in range(1000)]
    begin, end = shown(*(("stream", stream(text)) for text in printed))
    assert begin["text"] == "".join(printed[:10])
    assert end["text"] == "\n… 9,860 characters left out\n" + "".join(printed[-4:])


def test_one_huge_text_is_cut_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PRINTED_CHARACTERS", 100)
    monkeypatch.setattr(module, "MAX_PRINTED_END_CHARACTERS", 40)
    begin, end = shown(("stream", stream("a" * 100 + "b" * 500 + "c" * 40)))
    assert begin["text"] == "a" * 100
    assert end["text"] == "\n… 500 characters left out\n" + "c" * 40


def test_every_kind_of_output_is_valid_nbformat() -> None:
    outputs = shown(
        ("stream", stream("a")),
        ("display_data", {"data": {"image/png": "aGk="}, "metadata": {}, "transient": {}}),
        ("execute_result", {"data": {"text/plain": "1"}, "metadata": {}, "execution_count": 1}),
        ("error", {"ename": "E", "evalue": "v", "traceback": ["t"]}),
        ("execute_result", {"data": None, "execution_count": 2}),
        ("comm_open", {"comm_id": "x"}),
    )
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.from_dict(each) for each in outputs])
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    assert len(outputs) == 5
