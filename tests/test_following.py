"""What a look at the project comes to that is cut off: by its caller, its process, or an index that takes over.

Where messages meet is made certain by holding back one of them; all processes are real.
"""

import asyncio
import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from running import PATIENCE, answered, fronted

from fledgling.broker import following
from fledgling.broker import front as front_module
from fledgling.broker.query_worker import QueryWorker
from fledgling.messages.answers import Hits, Refusal
from fledgling.messages.control import Update
from fledgling.messages.following import AskRefs, Swept
from fledgling.messages.questions import Search
from fledgling.worker.store.overlay.changed import MAX_CHANGED
from fledgling.worker.store.parts import Changes

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("then", "total"), [("needle\nneedle\n", 3), ("", 1)])
async def test_nothing_of_a_follower_that_is_lost_behind_an_update_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str, total: int
) -> None:
    heard, lost = following.Follower._heard, list[int]()

    async def heard_or_lost(follower: following.Follower) -> object:
        message = await heard(follower)
        if isinstance(message, Swept) and message.generation and not lost:
            lost.append(message.generation)
            (tmp_path / "b.py").write_text(then)
            raise await follower._lost("the test has ended it")
        return message

    (tmp_path / "a.py").write_text("needle = 1\n")
    (tmp_path / "b.py").write_text("")
    async with fronted(tmp_path, is_followed=True) as (front, _):
        await answered(front, Search("needle"))
        monkeypatch.setattr(following.Follower, "_heard", heard_or_lost)
        (tmp_path / "b.py").write_text("needle\n")
        found = await answered(front, Search("needle"))
        assert isinstance(found, Hits)
        assert (len(lost), found.total) == (1, total)


async def test_a_look_whose_caller_waits_no_longer_is_not_taken_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, begun, messages = following.Follower._heard, asyncio.Event(), list[object]()

    async def heard_late(follower: following.Follower) -> object:
        if len(messages) == 1 and not begun.is_set():  # the process has begun, and is asked to look
            begun.set()
            await asyncio.sleep(0.2)  # it has looked by now
        message = await heard(follower)
        messages.append(message)
        return message

    (tmp_path / "a.py").write_text("needle = 1\n")
    async with fronted(tmp_path, is_followed=True) as (front, _):
        await answered(front, Search("needle"))
        assert front._follower
        await front._follower.rest()
        monkeypatch.setattr(following.Follower, "_heard", heard_late)
        asking = asyncio.create_task(front.refs(AskRefs(branch="main"), time.monotonic() + PATIENCE))
        await begun.wait()
        await asyncio.sleep(0.1)
        asking.cancel()
        await asyncio.sleep(0.3)
        (tmp_path / "b.py").write_text("needle\n")
        found = await answered(front, Search("needle"))
        assert isinstance(found, Hits)
        assert found.total == 2


async def test_a_change_of_an_index_that_another_takes_the_place_of_is_told_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else pages of one answer would be of both, by the same number."""
    heard, renewed = following.Follower._heard, list[object]()

    async def heard_late(follower: following.Follower) -> object:
        message = await heard(follower)
        if isinstance(message, Update) and not renewed:
            renewed.append(message)
            (tmp_path / "c.py").write_text("needle\n")
            indexing.renew()
            await indexing.built()
        return message

    (tmp_path / "a.py").write_text("needle = 1\n")
    async with fronted(tmp_path, is_followed=True) as (front, indexing):
        await indexing.built()
        await answered(front, Search("needle"))
        monkeypatch.setattr(following.Follower, "_heard", heard_late)
        (tmp_path / "b.py").write_text("needle\n")
        first = await answered(front, Search("needle", max_results=1))
        assert isinstance(first, Hits)
        assert first.next
        page = await front.ask(Search(**first.next.arguments))
        assert isinstance(page, Refusal) or page.total == first.total
        assert renewed


async def test_a_worker_without_room_for_a_change_answers_nothing_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update, most = QueryWorker.update, range(MAX_CHANGED + 1)

    def overgrown(worker: QueryWorker, message: Update) -> None:
        changes = msgspec.msgpack.decode(message.body, type=Changes)
        parts = [replace(part, row=replace(part.row, path=f"{number}.py")) for part in changes.parts for number in most]
        update(worker, replace(message, body=msgspec.msgpack.encode(replace(changes, parts=parts))))

    monkeypatch.setattr(front_module, "PATIENCE_SECONDS", PATIENCE)
    (tmp_path / "a.py").write_text("needle = 1\n")
    async with fronted(tmp_path, is_followed=True) as (front, indexing):
        await indexing.built()
        await answered(front, Search("needle"))
        monkeypatch.setattr(QueryWorker, "update", overgrown)
        (tmp_path / "b.py").write_text("needle\n")
        found = await answered(front, Search("needle"))
        assert isinstance(found, Hits)
        assert found.total == 2
