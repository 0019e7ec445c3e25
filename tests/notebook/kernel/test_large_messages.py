"""Large messages of a kernel, over real sockets."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import zmq.asyncio
from jupyter_client.session import Session

from jupyter_datalayer_agent.notebook.kernel.large_messages import ThreadedChannel
from jupyter_datalayer_agent.notebook.large_text import SMALL


class WatchedSession(Session):
    """Keeps in which thread it read what."""

    threads: list[int] = []

    def deserialize(self, *arguments: Any, **options: Any) -> Any:
        self.threads.append(threading.get_ident())
        return super().deserialize(*arguments, **options)


@pytest.mark.parametrize("size", [10, 2 * SMALL])
async def test_a_large_message_is_read_in_a_thread_and_a_small_one_is_not(size: int) -> None:
    with zmq.asyncio.Context() as context:
        kernel, ours = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
        kernel.bind("inproc://large-messages")
        ours.connect("inproc://large-messages")
        session = WatchedSession(key=b"secret")
        session.threads = []
        sent = session.msg("stream", {"name": "stdout", "text": "x" * size})
        await kernel.send_multipart(Session(key=b"secret").serialize(sent))
        message = await ThreadedChannel(ours, session).get_msg(timeout=30)
        kernel.close()
        ours.close()
    assert message["content"]["text"] == "x" * size
    [thread] = session.threads
    assert (thread == threading.get_ident()) == (size < SMALL)
