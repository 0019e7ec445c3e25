"""Any text file is converted, edited and restored without a lost byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.notebook.files.replacements import NoMatch, Replacement, replaced
from jupyter_datalayer_agent.notebook.files.restore import Contested, TextSpan, restored
from jupyter_datalayer_agent.notebook.files.text_state import NotEncodable, NotText, TextState

ENDS = st.sampled_from(["\n", "\r\n", "\r", ""])
LINES = st.lists(
    st.tuples(st.sampled_from(["", "a", "b", "größe", "x = 1", "end"]), ENDS), max_size=12
)
RAW = st.builds(
    lambda mark, lines: mark + "".join(text + end for text, end in lines),
    st.sampled_from(["", "\ufeff"]),
    LINES,
)
STATES = st.builds(TextState, RAW, st.sampled_from(["utf-8", "utf-16-le"])) | st.builds(
    TextState, RAW.map(lambda raw: raw.removeprefix("\ufeff")), st.sampled_from(["cp1252"])
)


def as_written(state: TextState) -> TextState | None:
    """The state as it is read from its bytes; None where that is another text."""
    data = state.to_bytes()
    try:
        read = TextState.of_bytes(data)
    except NotText:
        return None
    assert read.to_bytes() == data
    return read if read.raw == state.raw else None


@given(st.binary(max_size=200))
def test_bytes_are_text_that_gives_the_same_bytes_or_no_text(data: bytes) -> None:
    try:
        state = TextState.of_bytes(data)
    except NotText:
        return
    assert state.to_bytes() == data


@given(STATES)
def test_line_ends_are_as_jupyterlab_has_them(state: TextState) -> None:
    body = state.raw.removeprefix("\ufeff")
    # What a document's context does with the text of a file.
    expected = body.replace("\r\n", "\n") if "\r\n" in body else body.replace("\r", "\n")
    assert state.content == expected


@given(STATES, st.data())
def test_an_edit_touches_nothing_but_its_span(state: TextState, data: st.DataObject) -> None:
    size = len(state.content)
    start = data.draw(st.integers(0, size))
    end = data.draw(st.integers(start, size))
    new = data.draw(st.sampled_from(["", "new", "two\nlines", "\n"]))
    after = state.with_spans([(start, end, new)])
    # A lone carriage return in front of a line feed would be another line end than was asked for.
    if "\r" in state.content or (state.newline == "\r" and "\n" in state.raw):
        return
    assert after.content == state.content[:start] + new + state.content[end:]
    back = after.with_spans([(start, start + len(new), state.content[start:end])])
    assert back.content == state.content
    kept = len(state.content[:start])
    assert after.raw.startswith(state.raw[: kept // 2])


@given(STATES, st.lists(st.tuples(st.integers(0, 11), st.sampled_from(["", "new", "x\ny"]))))
def test_edits_are_undone_byte_for_byte(state: TextState, edits: list[tuple[int, str]]) -> None:
    spans, now = [], state
    for place, new in edits:
        at = min(place, len(now.content))
        after = now.with_spans([(at, min(at + 2, len(now.content)), new)])
        spans.append(TextSpan(now, after))
        now = after
    assert restored(spans, now).raw == state.raw


@given(st.lists(st.sampled_from("abcdef"), min_size=6, max_size=14), st.data())
def test_an_undo_keeps_what_others_changed_or_leaves_the_file(
    letters: list[str], data: st.DataObject
) -> None:
    lines = [f"{letter}{number}\n" for number, letter in enumerate(letters)]
    ours = data.draw(st.integers(0, len(lines) - 1))
    theirs = data.draw(st.integers(0, len(lines) - 1))
    before = "".join(lines)
    made = [*lines]
    made[ours] = data.draw(st.sampled_from(["", "ours\n", "ours\nours too\n"]))
    left = "".join(made)
    with_theirs = [*made]
    with_theirs[theirs] = data.draw(st.sampled_from(["", "mine\n", "mine\nmine too\n"]))
    wanted = [*lines]
    wanted[theirs] = with_theirs[theirs]
    now = TextState("".join(with_theirs))
    try:
        result = restored([TextSpan(TextState(before), TextState(left))], now)
    except Contested:
        assert abs(ours - theirs) <= 1
        return
    if ours != theirs:
        assert result.content == "".join(wanted)


@given(RAW, st.sampled_from(["a", "x = 1", "größe", "a\nb", "nowhere"]), st.booleans())
def test_a_replacement_is_made_where_the_text_occurs(raw: str, old: str, every: bool) -> None:
    state = TextState(raw)
    count = state.content.count(old)
    pieces = [Replacement(old, "NEW", every)]
    if count == 0 or (count > 1 and not every):
        with pytest.raises(NoMatch) as problem:
            replaced(state, pieces)
        assert len(problem.value.lines) == count
    else:
        assert replaced(state, pieces).content == state.content.replace(old, "NEW")


@pytest.mark.parametrize(
    ("wanted", "closest"), [("alhpa", (1, "alpha")), ("zzz", None), ("  \n", None)]
)
def test_what_is_nearest_is_found(wanted: str, closest: tuple[int, str] | None) -> None:
    with pytest.raises(NoMatch) as problem:
        replaced(TextState("alpha\nbeta\n"), [Replacement(wanted, "")])
    assert problem.value.closest == closest


def test_what_an_encoding_lacks_is_refused() -> None:
    with pytest.raises(NotEncodable, match="→"):
        TextState("→", "cp1252").to_bytes()
