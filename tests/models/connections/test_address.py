"""What a user may type as an address."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.models.connections.address import AddressError, normalized


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("localhost:8000", "http://localhost:8000"),
        (" 127.0.0.1:1234/v1/ ", "http://127.0.0.1:1234/v1"),
        ("http://gpu:8000/v1/chat/completions", "http://gpu:8000/v1"),
        ("https://llm.example.org/team/v1/models", "https://llm.example.org/team/v1"),
        ("llm.example.org/v1", "https://llm.example.org/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("127.example.org/v1", "https://127.example.org/v1"),
        ("localhost.example.org", "https://localhost.example.org"),
    ],
)
def test_the_base_of_the_api(typed: str, address: str) -> None:
    assert normalized(typed) == address


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("", "Enter an address"),
        ("ftp://host/v1", "http:// or https://"),
        ("file:///etc/passwd", "http:// or https://"),
        ("https://me:secret@host/v1", "user name or password"),
        ("https://host/v1?key=secret", "everything after it"),
        ("http://host:notaport/v1", "check its host and port"),
        ("http://host:99999/v1", "check its host and port"),
        ("http:///v1", "check its host"),
        ("http://ho st/v1", "check its host"),
        ("http://host/v 1", "space"),
    ],
)
def test_what_cannot_be_one_is_refused_without_repeating_it(typed: str, problem: str) -> None:
    with pytest.raises(AddressError, match=problem) as refused:
        normalized(typed)
    assert "secret" not in str(refused.value)
