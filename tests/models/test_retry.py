"""When, and after how long, a failed call is tried again."""

from __future__ import annotations

import pytest

from jupyter_datalayer_agent.models import MAX_RETRIES, ModelError, delay_before
from jupyter_datalayer_agent.models.types import ModelErrorCode


def middle(low: float, high: float) -> float:
    return (low + high) / 2


def test_waits_double_from_200_ms_five_times() -> None:
    error = ModelError("server", "failed")
    waits = [delay_before(retry, error, uniform=middle) for retry in range(1, MAX_RETRIES + 2)]
    assert waits == [
        pytest.approx(0.2),
        pytest.approx(0.4),
        pytest.approx(0.8),
        pytest.approx(1.6),
        pytest.approx(3.2),
        None,
    ]


def test_a_server_that_loads_its_model_is_waited_for_a_minute() -> None:
    error = ModelError("server", "Loading model", is_not_ready=True)
    waits = [delay_before(retry, error, uniform=middle) for retry in range(1, MAX_RETRIES + 2)]
    assert waits[0] == 2
    assert waits[-1] is None
    assert sum(wait or 0 for wait in waits) == 62


def test_jitter_stays_within_a_tenth() -> None:
    error = ModelError("connection", "failed")
    waits = {delay_before(1, error) for _ in range(50)}
    assert len(waits) > 1
    assert all(wait is not None and 0.18 <= wait <= 0.22 for wait in waits)


def test_the_servers_own_time_wins() -> None:
    assert delay_before(1, ModelError("rate_limit", "", retry_after=7)) == 7
    assert delay_before(1, ModelError("rate_limit", "", retry_after=0)) == 0


def test_a_wait_that_nobody_would_sit_through_is_not_made() -> None:
    assert delay_before(1, ModelError("rate_limit", "", retry_after=3600)) is None


@pytest.mark.parametrize(
    "code", ["authentication", "bad_request", "context_window", "no_model", "litellm_unusable"]
)
def test_what_no_retry_can_mend_is_not_retried(code: ModelErrorCode) -> None:
    assert delay_before(1, ModelError(code, "")) is None


def test_an_error_may_say_itself_that_it_is_final() -> None:
    assert delay_before(1, ModelError("rate_limit", "", retryable=False)) is None
