"""A client of the locks behind the line protocol of docs/PROVER.md: commands in, events out.

It is written to docs/PROTOCOL.md alone, and shares no code with the library. Whoever writes a
client in another language may begin with it. It needs Python 3.9 and pika 1.2, or newer.
"""

import asyncio
import json
import os
import sys
import time

from broker import Refused, Session, Unknown
from locks import ExclusiveQueueMutex, Mutex, SlotSemaphore, TokenSemaphore

LOCKS = {
    "MUTEX": Mutex,
    "EXCLUSIVE_QUEUE_MUTEX": ExclusiveQueueMutex,
    "SLOT_SEMAPHORE": SlotSemaphore,
    "CLASSIC_TOKENS": TokenSemaphore,
    "QUORUM_TOKENS": TokenSemaphore,
}


class Client:
    """Carries out commands, each as a task of its own."""

    def __init__(self):
        self.opened = {}
        self.tasks = set()

    async def run(self):
        """Reads commands until the input ends."""
        commands = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
        async for line in commands:
            command = json.loads(line)
            if command["action"] == "CLOSE":
                if self.tasks:
                    await asyncio.wait(self.tasks, timeout=60)
                say(command, "DONE")
                return
            task = asyncio.create_task(self.execute(command))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def execute(self, command):
        """Carries out a command and says how it ended."""
        try:
            say(command, await self._execute(command))
        except Exception as e:  # Whatever it was, the prover is told.
            say(command, "NOT_DONE", detail=repr(e))

    async def _execute(self, command):
        if command["action"] == "OPEN":
            self.opened = command
            session = self._session()
            try:
                await session.channel("holder")
            finally:
                session.drop()
            return "DONE"
        kind = command["lock"]["kind"]
        is_several = command.get("permits", 1) > 1
        if command["action"] != "WORK" or kind not in LOCKS or command.get("fenced") or is_several:
            return "UNSUPPORTED"
        session = self._session()
        try:
            lock = LOCKS[kind](session, self.opened["prefix"], command["lock"]["name"])
            await Worker(command, session, lock).work()
        finally:
            session.drop()
        return "DONE"

    def _session(self):
        return Session(self.opened["uri"], self.opened["heartbeat"])


class Worker:
    """Acquires, holds and releases a lock, and says what it sees."""

    def __init__(self, command, session, lock):
        self.command = command
        self.session = session
        self.lock = lock
        self.cycle = 0
        self.asked = 0

    async def work(self):
        """Works until the command's time is over."""
        cycles = self.command.get("cycles") or sys.maxsize
        end = self.command.get("untilNanos") or sys.maxsize
        while self.cycle < cycles and time.monotonic_ns() < end:
            self.cycle += 1
            self.asked = time.monotonic_ns()
            self.say("ASKS", self.asked)
            try:
                lease = await self.lock.acquire(self.command.get("waitMillis", 0) / 1e3)
            except (Refused, Unknown) as e:
                self.session.drop()
                self.say("FAILED", time.monotonic_ns(), detail=repr(e))
                await asyncio.sleep(0.05)  # A broker that is away says so again and again.
            else:
                if lease is None:
                    self.say("BUSY", time.monotonic_ns())
                else:
                    await self.hold(lease)
            await asyncio.sleep(self.command.get("pauseMicros", 0) / 1e6)

    async def hold(self, lease):
        """Asks the lease again and again, and has it verified when it is due."""
        self.say("ACQUIRED", time.monotonic_ns(), slot=lease.slot)
        end = time.monotonic() + self.command.get("holdMicros", 0) / 1e6
        verification = None
        while time.monotonic() < end and self.look(lease, "HELD"):
            if lease.is_due() and (verification is None or verification.done()):
                verification = asyncio.create_task(verify(lease))
            await asyncio.sleep(max(0, min(0.01, end - time.monotonic())))
        if verification is not None:
            await verification  # What it has asked for must not come to nobody.
        if self.look(lease, "RELEASES"):
            try:
                await lease.release()
            except (Refused, Unknown):
                self.session.drop()
        else:
            self.session.drop()
        self.say("RELEASED", time.monotonic_ns())

    def look(self, lease, if_held):
        """Asks the lease and says what it answered. Returns whether it may still be held."""
        before = time.monotonic_ns()
        state = lease.state()
        if state == "HELD":
            self.say(if_held, before, slot=lease.slot)
        elif state == "UNCERTAIN":
            self.say("UNCERTAIN", time.monotonic_ns(), slot=lease.slot)
        else:
            self.say("LOST", time.monotonic_ns(), detail=lease.loss)
        return state != "LOST"

    def say(self, what, at, **more):
        """Writes an event of this cycle."""
        say(self.command, what, at, cycle=self.cycle, **{"from": self.asked}, **more)


async def verify(lease):
    """Verifies a lease. In doubt it is lost."""
    try:
        await lease.verify()
    except (Refused, Unknown) as e:
        lease.loss = lease.loss or repr(e)


def say(command, what, at=None, **more):
    """Writes an event before the client goes on: it stays if the client is killed."""
    event = {"id": command["id"], "what": what, "at": at or time.monotonic_ns(), **more}
    os.write(1, json.dumps(event).encode() + b"\n")


if __name__ == "__main__":
    asyncio.run(Client().run())
