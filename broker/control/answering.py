"""The server's end of its control socket: who connects, what is asked, and a line in the audit log for each."""

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from fledgling import __version__
from fledgling.broker.audit_log.writer import UNLOGGED, AuditLog, AuditLogError
from fledgling.broker.control.asking import settings_digest
from fledgling.broker.control.place import REQUEST_SECONDS, is_own
from fledgling.broker.front import Front
from fledgling.broker.indexing.failures import IndexingError
from fledgling.broker.launch import receive
from fledgling.broker.operating.indexes import ONLY
from fledgling.broker.projects.projects import Projects, Slot
from fledgling.broker.refused import denied
from fledgling.broker.status import status
from fledgling.broker.terms import Terms, due
from fledgling.messages.answers import Refusal
from fledgling.messages.control import Confining
from fledgling.messages.generations import CODE
from fledgling.messages.operating import (
    AskCommand,
    AskStatus,
    AskTool,
    FromOperator,
    Greeting,
    Printed,
    Purge,
    Reindex,
    ServedAnswer,
    Serving,
)
from fledgling.messages.profile import Profile
from fledgling.messages.questions import AnyQuestion, arguments_of, name_of
from fledgling.messages.status import Status
from fledgling.pipe import FrameError, Unpacker, pack
from fledgling.settings import Settings

CONTROL = "control"  # whom the audit log names for what comes by the socket
MAX_OPERATORS = 8  # who are answered at once; others wait
MAX_REQUEST_BYTES = 2**16  # of a request; SQL has 16 KiB
MAX_REQUEST_VALUES = 1_000
REPLY_SECONDS = 10.0  # for taking a reply
UNLOADED = Status("unloaded")
UNPRINTED = Refusal("unavailable", "this server cannot say what that command prints", "Ask it for an answer.")
AGAIN_SECONDS = 1.0  # from a connection that could not be accepted to the next try
_log = logging.getLogger("fledgling")


class Offer(NamedTuple):
    """An index that operators may ask: the slot of its project, its profile, its log, and how it is greeted with."""

    slot: Slot
    profile: Profile
    log: AuditLog
    serving: Serving


Reply = Status | ServedAnswer | Printed | Refusal
Replying = Callable[[FromOperator], Coroutine[None, None, Reply]]
Answer = Callable[[Offer, AnyQuestion], Awaitable[ServedAnswer]]
Command = Callable[[AskCommand, Sequence[Offer], Answer], Awaitable[Printed | None]]  # None: it has to run itself


def offers(
    front: Front | Projects, log: AuditLog, settings: Settings, confining: Confining, agent: str | None = None
) -> Mapping[str, Offer]:
    """Return what is offered of each root of a server to an agent; what is asked of it is logged as asked by that."""
    profile, is_followed = front.profile, settings.freshness != "off"
    slots = front.slots if isinstance(front, Projects) else {"": Slot.of(settings.root, front)}
    asked = log.of(f"{agent}/{CONTROL}" if agent else CONTROL)
    return {
        slot.root: Offer(
            slot,
            profile,
            asked,
            Serving(
                profile.name,
                profile.digest,
                settings_digest(settings, confining),
                is_followed,
                agent,
                name or None,
            ),
        )
        for name, slot in slots.items()
    }


async def serve(listening: socket.socket, root: str, offers: Sequence[Offer], command: Command) -> None:
    """Answer operators of a root until cancelled."""
    reply = partial(_reply, root, offers, command)
    room = asyncio.Semaphore(MAX_OPERATORS)
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as talks:
        while True:
            await room.acquire()
            try:
                connection, _ = await loop.sock_accept(listening)
            except OSError as failed:
                _log.warning("an operator cannot be answered: %s", failed.strerror)
                room.release()
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            talks.create_task(_talk(connection, root, offers, reply)).add_done_callback(lambda _: room.release())


async def _talk(connection: socket.socket, root: str, offers: Sequence[Offer], reply_to: Replying) -> None:
    """Greet one operator, and reply to one request after the other. One who sends what is none hears no more."""
    if not is_own(connection):
        connection.close()
        return
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    requests: Unpacker[FromOperator] = Unpacker(FromOperator, MAX_REQUEST_BYTES, MAX_REQUEST_VALUES)
    try:
        writer.write(pack(Greeting(__version__, os.getpid(), root, tuple(offer.serving for offer in offers))))
        while asked := await _request(reader, requests):
            reply = await _unless_gone(reader, reply_to(asked))
            if reply is None:
                break
            writer.write(pack(reply))
            async with asyncio.timeout(REPLY_SECONDS):
                await writer.drain()
    except (OSError, FrameError, TimeoutError) as broken:
        _log.debug("an operator broke off, or sent no request: %s", type(broken).__name__)
    except Exception:  # noqa: BLE001  (whatever it is, it is of this connection alone)
        _log.exception("an operator's request has failed")
    finally:
        writer.transport.abort()


async def _request(reader: asyncio.StreamReader, requests: Unpacker[FromOperator]) -> FromOperator | None:
    async with asyncio.timeout(REQUEST_SECONDS):
        return await receive(reader, requests)


async def _unless_gone(reader: asyncio.StreamReader, reply: Coroutine[None, None, Reply]) -> Reply | None:
    """Return the reply; None where the operator has gone meanwhile, and the call is cancelled."""
    gone, replying = asyncio.ensure_future(reader.read(1)), asyncio.ensure_future(reply)
    try:
        await asyncio.wait({gone, replying}, return_when=asyncio.FIRST_COMPLETED)
        return replying.result() if replying.done() else None
    finally:
        for task in (gone, replying):
            task.cancel()
        await asyncio.gather(gone, replying, return_exceptions=True)


async def _reply(root: str, offers: Sequence[Offer], command: Command, asked: FromOperator) -> Reply:
    if isinstance(asked, AskCommand):
        return await _printed(root, offers, command, asked)
    if asked.number >= len(offers):
        return Refusal("invalid", "there is no index of this number", "Give one that the server has greeted with.")
    offer = offers[asked.number]
    try:
        match asked:
            case AskTool():
                return await _answered(offer, asked.question)
            case AskStatus():
                return await _decided(offer, "status", partial(_status, offer.slot, asked))
            case Reindex():
                return await _decided(offer, "reindex", partial(_reindexed, offer))
            case Purge():
                return await _decided(offer, "purge", partial(_purged, offer))
    except IndexingError as failed:
        return failed.refusal
    except AuditLogError as failed:
        _log.error("%s; an operator's request is refused", failed)
        return UNLOGGED


async def _printed(root: str, offers: Sequence[Offer], command: Command, asked: AskCommand) -> Printed | Refusal:
    """Say what a command prints, if it is one of this version that works on this root."""
    if (asked.version, asked.root) != (__version__, root):
        return UNPRINTED
    try:
        return await command(asked, offers, _answered) or UNPRINTED
    except (IndexingError, AuditLogError):
        return UNPRINTED


async def _answered(offer: Offer, question: AnyQuestion) -> ServedAnswer:
    """Put a call as an agent's is put: under the same profile, limits and log."""
    profile, tool = offer.profile, name_of(type(question))
    with offer.log.deciding(profile, tool, arguments_of(question)) as decision, offer.slot.in_use() as front:
        if tool in profile.tools:
            answer = await front.ask(question, Terms(due(profile), least=CODE, basis=decision.basis))
        else:
            answer = denied(profile, tool)
        decision.became(answer, len(msgspec.msgpack.encode(answer)))
        partial = front.indexing.partial
    return ServedAnswer(answer, is_partial=partial is not None)


async def _decided(offer: Offer, what: str, reply: Callable[[], Awaitable[Status | Refusal]]) -> Status | Refusal:
    with offer.log.deciding(offer.profile, f"{CONTROL}/{what}", {}) as decision:
        replied = await reply()
        decision.bytes, decision.layer = len(msgspec.msgpack.encode(replied)), "broker"
        if isinstance(replied, Refusal):
            decision.verdict, decision.reason = "refused", replied.kind
        else:
            decision.verdict = "allowed"
    return replied


async def _status(slot: Slot, asked: AskStatus) -> Status:
    """Say how an index stands; asking does not bring a project back that was unloaded."""
    if slot.front is None:
        return UNLOADED
    return await status(slot.front, asked.since, looks=asked.looks)


async def _reindexed(offer: Offer) -> Status | Refusal:
    """Have the index built anew, unless that is under way; the one there is serves until it is whole."""
    if not offer.serving.is_followed:
        reason = "this server does not follow the project (freshness = off), and has let go of it"
        return Refusal("unavailable", reason, "Start it again.")
    was_there = offer.slot.front is not None
    front = offer.slot.open()
    if was_there:
        front.indexing.renew(afresh=True)
    return await status(front, looks=False)


async def _purged(offer: Offer) -> Status | Refusal:
    if offer.serving.project is None:
        return ONLY
    await offer.slot.unload()
    return UNLOADED
