"""The hub of open pages: whom it asks, and what becomes of requests when connections break."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_datalayer_agent.notebook.document import DocumentError
from jupyter_datalayer_agent.notebook.page import PageGone, PageHub, PageSilent
from jupyter_datalayer_agent.protocol.page import (
    PageFailure,
    PageProgress,
    PageRequest,
    PageResponse,
    ReadParams,
)

from ..support import ScriptedPage, code, world

PARAMS = ReadParams(path="a.ipynb")


async def test_an_answer_that_comes_within_send_is_not_lost() -> None:
    hub = PageHub()

    def send(message: Any) -> None:
        assert isinstance(message, PageRequest)
        response = PageResponse(request_id=message.request_id, ok=True, result={"x": 1})
        hub.on_response(page, response)

    page = hub.connect("p", send)
    assert await page.request("notebook.read", PARAMS, timeout=5) == {"x": 1}
    await hub.close()


async def test_a_failure_of_the_page_is_a_document_error_with_its_cells() -> None:
    hub = PageHub()
    page = ScriptedPage(hub).connect()
    page.silent = {"notebook.read"}
    asking = asyncio.create_task(page.page.request("notebook.read", PARAMS, timeout=5))
    await page.asked.wait()
    page.answer(
        page.requests[0], ok=False, error=PageFailure(code="kernel_error", message="no kernel")
    )
    with pytest.raises(DocumentError) as refused:
        await asking
    assert (refused.value.code, refused.value.message) == ("kernel_error", "no kernel")
    await hub.close()


async def test_a_page_that_does_not_answer_is_an_error_in_time() -> None:
    hub = PageHub()
    page = ScriptedPage(hub).connect()
    page.silent = {"notebook.read"}
    with pytest.raises(PageSilent) as refused:
        await page.page.request("notebook.read", PARAMS, timeout=0.05)
    assert "unknown" in refused.value.message
    await hub.close()


async def test_a_page_that_comes_back_in_time_answers_on_its_new_connection() -> None:
    hub = PageHub(return_seconds=30)
    page = ScriptedPage(hub).connect()
    page.silent = {"notebook.read"}
    asking = asyncio.create_task(page.page.request("notebook.read", PARAMS, timeout=30))
    await page.asked.wait()
    page.disconnect()
    page.connect(pending=[page.requests[0].request_id])
    page.answer(page.requests[0], ok=True, result="late")
    assert await asking == "late"
    await hub.close()


async def test_a_page_that_comes_back_learns_which_of_its_requests_are_still_awaited() -> None:
    hub = PageHub(return_seconds=30)
    page = ScriptedPage(hub).connect()
    page.silent = {"notebook.run", "notebook.read"}
    running = asyncio.create_task(page.page.request("notebook.run", PARAMS, timeout=None))
    await page.asked.wait()
    page.asked.clear()
    reading = asyncio.create_task(page.page.request("notebook.read", PARAMS, timeout=None))
    await page.asked.wait()
    ids = [each.request_id for each in page.requests]
    page.disconnect()
    reading.cancel()
    await asyncio.wait([reading])
    page.connect(pending=[*ids, "of a server that ended"])
    assert page.page.tab.awaited([*ids, "of a server that ended"]) == ids[:1]
    running.cancel()
    await hub.close()


async def test_a_page_that_stays_away_ends_its_requests() -> None:
    hub = PageHub(return_seconds=0.05)
    page = ScriptedPage(hub).connect().open("a.ipynb", [])
    page.silent = {"notebook.read"}
    asking = asyncio.create_task(page.page.request("notebook.read", PARAMS, timeout=30))
    await page.asked.wait()
    page.disconnect()
    with pytest.raises(PageGone):
        await asking
    assert hub.page_with("a.ipynb") is None
    await hub.close()


async def test_a_page_that_was_loaded_anew_ends_the_requests_that_it_forgot() -> None:
    hub = PageHub(return_seconds=30)
    page = ScriptedPage(hub).connect()
    page.silent = {"notebook.read"}
    asking = asyncio.create_task(page.page.request("notebook.read", PARAMS, timeout=30))
    await page.asked.wait()
    page.disconnect()
    page.connect(pending=[])
    with pytest.raises(PageGone):
        await asking
    await hub.close()


async def test_a_request_made_while_the_page_is_away_goes_out_when_it_is_back() -> None:
    hub = PageHub(return_seconds=30)
    page = ScriptedPage(hub).connect().open("a.ipynb", [code("a", "1")])
    page.disconnect()
    away = hub.page_with("a.ipynb", prefer=page.client_id)
    asking = asyncio.create_task(away.request("notebook.read", PARAMS, timeout=30))
    await asyncio.sleep(0)
    assert page.requests == []
    page.connect(pending=[])
    assert (await asking)["path"] == "a.ipynb"
    await hub.close()


async def test_only_the_page_that_is_preferred_is_expected_back() -> None:
    hub = PageHub(return_seconds=30)
    page = ScriptedPage(hub, "one").connect().open("a.ipynb", [])
    page.disconnect()
    assert hub.page_with("a.ipynb", prefer="one") is page.page
    assert hub.page_with("a.ipynb") is None
    assert hub.page_with("a.ipynb", prefer="two") is None
    two = ScriptedPage(hub, "two").connect().open("a.ipynb", [])
    assert hub.page_with("a.ipynb", prefer="one") is two.page
    await hub.close()


async def test_a_page_that_was_unloaded_ends_its_requests_at_once_but_a_run() -> None:
    hub = PageHub(return_seconds=30)
    page = ScriptedPage(hub).connect().open("a.ipynb", [])
    page.silent = {"notebook.read", "notebook.run"}
    reading = asyncio.create_task(page.page.request("notebook.read", PARAMS, timeout=30))
    running = asyncio.create_task(page.page.request("notebook.run", PARAMS, timeout=30))
    await page.asked.wait()
    hub.disconnect(page.page, left=True)
    with pytest.raises(PageGone):
        await reading
    with pytest.raises(PageGone):
        await page.page.request("document.open", PARAMS, timeout=30)
    assert hub.page_with("a.ipynb", prefer=page.client_id) is None
    assert not running.done()
    page.connect(pending=[])
    with pytest.raises(PageGone):
        await running
    assert hub.page_with("a.ipynb") is page.page
    await hub.close()


async def test_the_close_of_an_older_connection_does_not_end_the_newer_one() -> None:
    hub = PageHub(return_seconds=0.01)
    page = ScriptedPage(hub).connect().open("a.ipynb", [code("a", "1")])
    older = page.page
    page.connect()
    hub.disconnect(older)
    assert hub.page_with("a.ipynb") is page.page
    assert page.page.connected
    assert (await page.page.request("notebook.read", PARAMS, timeout=5))["path"] == "a.ipynb"
    await hub.close()


async def test_the_page_that_is_preferred_is_asked_else_the_one_that_was_active_last() -> None:
    hub = PageHub()
    one = ScriptedPage(hub, "one").connect().open("a.ipynb", [])
    two = ScriptedPage(hub, "two").connect().open("a.ipynb", [])
    three = ScriptedPage(hub, "three").connect().open("b.ipynb", [])
    two.report()
    assert hub.page_with("a.ipynb", prefer="one") is one.page
    assert hub.page_with("a.ipynb", prefer="three") is two.page
    assert hub.page_with("a.ipynb") is two.page
    one.report()
    assert hub.page_with("a.ipynb") is one.page
    assert hub.page_with("c.ipynb") is None
    assert hub.active_notebook("three") == "b.ipynb"
    assert hub.active_notebook("nobody") is None
    three.disconnect()
    assert hub.active_notebook("three") == "b.ipynb"
    await hub.close()


async def test_progress_is_reported_in_order_and_before_the_result() -> None:
    hub = PageHub()
    page = ScriptedPage(hub).connect()
    page.silent = {"notebook.run"}
    news = []

    async def progress(step: PageProgress) -> None:
        await asyncio.sleep(0)
        news.append((step.cell_id, step.state))

    asking = asyncio.create_task(
        page.page.request("notebook.run", PARAMS, timeout=5, on_progress=progress)
    )
    await page.asked.wait()
    for cell_id in ("a", "b"):
        page.progress(page.requests[0], cell_id, "started")
        page.progress(page.requests[0], cell_id, "finished")
    page.answer(page.requests[0], ok=True, result=None)
    await asking
    assert news == [("a", "started"), ("a", "finished"), ("b", "started"), ("b", "finished")]
    await hub.close()


async def test_a_page_that_comes_back_hears_of_renames_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    async with world(tmp_path) as w:
        page = ScriptedPage(w.pages).connect().open("a.ipynb", [code("a", "typed")])
        document = await w.service.open("a.ipynb", "page-1")
        page.disconnect()
        await w.service.contents_manager.rename("a.ipynb", "b.ipynb")
        reading = asyncio.ensure_future(document.read())
        await asyncio.sleep(0)
        # As the page still calls it, before it has read what it missed.
        page.connect(missed=await w.service.renames.after(page.known_until))
        assert (await reading).cells[0].source == "typed"
        page.report()
        assert list(page.notebooks) == ["b.ipynb"]
        assert w.pages.page_with("a.ipynb") is None
        assert [each.params["path"] for each in page.requests] == ["b.ipynb"]
