"""Uploading a CSV file of 2 GB over HTTP to a real server: memory, time, and whether it answers.

Run: ``python -m benchmarks upload``. The file has ten columns of numbers, dates and words, is made
in a temporary directory and sent as a browser sends it. Memory is the resident set of the server's
process, of the process that converts and of both together, looked at every 20 ms. Meanwhile
``GET health`` is asked for again and again.
"""

from __future__ import annotations

import json
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path

import psutil
import requests

from tests.support.jupyter import TOKEN, RunningServer

from .table import show

SIZE = 2_000_000_000
HEAD = "id,price,region,count,day,at,flag,note,score,word\n"
BLOCK_ROWS = 20_000
LOOK_SECONDS = 0.02
BOUNDARY = "------benchmark"


@dataclass
class Watch:
    """Looks at the memory of a process and its children, in bytes, until it is stopped."""

    process: psutil.Process
    server: int = 0
    children: int = 0
    together: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Look until the end."""
        while not self.stopped.wait(LOOK_SECONDS):
            own = self.process.memory_info().rss
            others = 0
            for child in self.process.children(recursive=True):
                try:
                    others += child.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.server = max(self.server, own)
            self.children = max(self.children, others)
            self.together = max(self.together, own + others)


@dataclass
class HealthProbe:
    """Asks whether the server is there, until it is stopped; the times in seconds."""

    url: str
    times: list[float] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Ask until the end."""
        with requests.Session() as session:
            while not self.stopped.wait(0.05):
                began = time.perf_counter()
                session.get(self.url, timeout=60).raise_for_status()
                self.times.append(time.perf_counter() - began)


def make_csv(path: Path, size: int) -> int:
    """Write a table of about that many bytes; its rows."""
    chance = random.Random(1)
    rows = [
        ",".join(
            [
                "",
                f"{chance.random() * 1000:.4f}",
                chance.choice(["north", "south", "east", "west"]),
                str(chance.randint(0, 10**6)),
                f"2024-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}",
                f"2024-05-06 {chance.randint(0, 23):02}:15:00",
                chance.choice(["true", "false"]),
                f'"note, with {chance.randint(0, 10**9)}"',
                chance.choice(["NA", f"{chance.random():.6f}"]),
                f"word{chance.randint(0, 10**7)}\n",
            ]
        )
        for _ in range(BLOCK_ROWS)
    ]
    count = written = 0
    with path.open("w", encoding="utf-8") as file:
        file.write(HEAD)
        while written < size:
            block = "".join(f"{count + at}{row}" for at, row in enumerate(rows))
            file.write(block)
            count += BLOCK_ROWS
            written += len(block)
    return count


def send(server: RunningServer, path: Path) -> tuple[float, float, dict[str, object]]:
    """Send the file; the seconds until it was sent, until the answer, and the data set."""
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"\r\n'
        "Content-Type: text/csv\r\n\r\n"
    ).encode()
    tail = f"\r\n--{BOUNDARY}--\r\n".encode()

    def body() -> Iterator[bytes]:
        yield head
        with path.open("rb") as file:
            while block := file.read(1 << 18):
                yield block
        yield tail

    headers = {
        "Authorization": f"token {TOKEN}",
        "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
        "Content-Length": str(len(head) + path.stat().st_size + len(tail)),
    }
    connection = HTTPConnection("127.0.0.1", server.port, timeout=1200)
    began = time.perf_counter()
    connection.request("POST", "/datalayer-agent/upload", body(), headers)
    sent = time.perf_counter() - began
    response = connection.getresponse()
    answer = json.loads(response.read())
    answered = time.perf_counter() - began
    connection.close()
    if response.status != 201:
        raise RuntimeError(f"{response.status}: {answer}")
    return sent, answered, answer["dataset"]


def main(size: int = SIZE) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "measurements.csv"
        rows = make_csv(path, size)
        with RunningServer(folder / "server") as server:
            server.get("datasets")  # what is imported with the first request is there
            assert server.process is not None
            process = psutil.Process(server.process.pid)
            before = process.memory_info().rss
            watch, asking = Watch(process), HealthProbe(f"{server.url}datalayer-agent/health")
            threads = [threading.Thread(target=each.run) for each in (watch, asking)]
            for thread in threads:
                thread.start()
            try:
                sent, answered, dataset = send(server, path)
            finally:
                watch.stopped.set()
                asking.stopped.set()
                for thread in threads:
                    thread.join()
        if dataset["rows"] != rows:
            raise RuntimeError(f"{rows} rows were sent, {dataset['rows']} are there")
        times = sorted(asking.times)
        slow = times[int(len(times) * 0.99)]
        show(
            f"Upload of a CSV file of {path.stat().st_size / 1e9:.2f} GB ({rows:,} rows)",
            ["", ""],
            [
                ["memory of the server before", mb(before)],
                ["memory of the server, most", mb(watch.server)],
                ["memory of the conversion, most", mb(watch.children)],
                ["both together, most", mb(watch.together)],
                ["sent after", f"{sent:.1f} s"],
                ["a data set after", f"{answered:.1f} s"],
                ["Parquet file", mb(int(str(dataset["size"])))],
                [
                    f"GET health meanwhile ({len(times):,} times): median, p99, most",
                    f"{times[len(times) // 2] * 1000:.0f}, {slow * 1000:.0f}, "
                    f"{times[-1] * 1000:.0f} ms",
                ],
            ],
        )
        print("Aimed at: 500 MB.")


def mb(size: int) -> str:
    """Bytes as MB."""
    return f"{size / 1e6:.0f} MB"


if __name__ == "__main__":
    main()
