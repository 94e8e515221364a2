"""What a relay passes on: both ways, until both sides have ended."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest
from tpuplane_twin.cluster.tunnel import relay

pytestmark = pytest.mark.unit


async def test_who_says_no_more_hears_the_answer_and_both_ends_are_told() -> None:
    told: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.set_result(await reader.read())
        writer.write(b"the answer")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as far:

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await relay((reader, writer), await asyncio.open_connection(*far.sockets[0].getsockname()))

        async with await asyncio.start_server(pass_on, "127.0.0.1", 0) as near, asyncio.timeout(20):
            reader, writer = await asyncio.open_connection(*near.sockets[0].getsockname())
            writer.write(b"the question")
            writer.write_eof()
            assert await reader.read() == b"the answer"
            writer.close()
    assert told.result() == b"the question"


async def test_where_one_side_breaks_off_the_other_is_closed() -> None:
    async def break_off(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made = writer.get_extra_info("socket")
        made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, no end
        writer.transport.abort()

    async with await asyncio.start_server(break_off, "127.0.0.1", 0) as far:

        async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await relay((reader, writer), await asyncio.open_connection(*far.sockets[0].getsockname()))

        async with await asyncio.start_server(pass_on, "127.0.0.1", 0) as near, asyncio.timeout(20):
            reader, writer = await asyncio.open_connection(*near.sockets[0].getsockname())
            assert await reader.read() == b""
            writer.close()
