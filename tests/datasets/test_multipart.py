"""The form of an upload, in pieces of any size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_datalayer_agent.datasets.incoming import (
    Field,
    FileData,
    FileEnd,
    FileStart,
    MultipartReader,
)
from jupyter_datalayer_agent.protocol.errors import AgentError

TYPE = 'multipart/form-data; boundary="a-b"'


def form(content: bytes, filename: str = "x.csv") -> bytes:
    return (
        b'--a-b\r\nContent-Disposition: form-data; name="sessionId"\r\n\r\nses_1\r\n'
        b'--a-b\r\nContent-Disposition: form-data; name="file"; filename="'
        + filename.encode()
        + b'"\r\nContent-Type: text/csv\r\n\r\n'
        + content
        + b"\r\n--a-b--\r\n"
    )


@given(
    content=st.lists(
        st.sampled_from([b"\r\n", b"--a-b", b"\r", b"\n", b"-", b"x", b"\r\n--a-"])
    ).map(b"".join),
    size=st.integers(1, 40),
)
def test_the_file_comes_out_as_it_went_in(content: bytes, size: int) -> None:
    if b"\r\n--a-b" in b"\r\n" + content:
        content = content.replace(b"--a-b", b"--a_b")
    body = form(content)
    reader = MultipartReader(TYPE)
    parts = [part for at in range(0, len(body), size) for part in reader.feed(body[at : at + size])]
    assert reader.ended
    assert parts[0] == Field("sessionId", "ses_1")
    assert parts[1] == FileStart("file", "x.csv")
    assert parts[-1] == FileEnd()
    assert b"".join(part.data for part in parts if isinstance(part, FileData)) == content


@pytest.mark.parametrize(
    ("written", "name"),
    [("ä.csv", "ä.csv"), ("a%22b.csv", 'a"b.csv'), ("100%25.csv", "100%25.csv"), ("", "")],
)
def test_names_of_files_are_as_browsers_write_them(written: str, name: str) -> None:
    parts = list(MultipartReader(TYPE).feed(form(b"", written)))
    assert FileStart("file", name) in parts


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data", ""])
def test_what_is_no_form_is_refused(kind: str) -> None:
    with pytest.raises(AgentError, match="multipart/form-data"):
        MultipartReader(kind)


def test_an_endless_field_is_refused() -> None:
    reader = MultipartReader(TYPE)
    head = b'--a-b\r\nContent-Disposition: form-data; name="name"\r\n\r\n'
    with pytest.raises(AgentError, match="too long"):
        list(reader.feed(head + b"x" * 100_000))
    with pytest.raises(AgentError, match="too long"):
        list(MultipartReader(TYPE).feed(b"--a-b\r\n" + b"x" * 20_000))


def test_an_upload_that_was_cut_has_no_end() -> None:
    reader = MultipartReader(TYPE)
    parts = list(reader.feed(form(b"a,b\n1,2\n")[:-20]))
    assert FileEnd() not in parts
    assert not reader.ended
