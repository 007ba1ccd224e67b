"""The locks, as docs/PROTOCOL.md says: for each kind a class, and one for its leases.

Any exception leaves the caller in doubt. It then drops the session, and with it what it may hold.
"""

import asyncio
import random
import re
import time
import uuid

from broker import Refused, Unknown

# How long a client waits for a message before it asks the queue, in seconds.
SOON = 0.1
# How long between two looks of a waiter.
LOOK = 1.5
# The ids of our own messages in a mutex's queue.
UNIQUE = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Lease:
    """A lock that is held, as far as its client can know.

    It is certain for 1.75 heartbeats after the request was sent that verified it last, and lost
    after three.
    """

    def __init__(self, session, channel, slot, verified):
        self.session = session
        self.channel = channel
        self.slot = slot
        self.verified = verified
        self.loss = None

    def state(self):
        """HELD, UNCERTAIN or LOST, at this moment."""
        age = time.monotonic() - self.verified
        if self.loss is None and age >= 3 * self.session.heartbeat:
            self.loss = "the broker has not answered for three heartbeats"
        if self.loss is None:
            self.loss = self.channel.end or self.revoked()
        if self.loss is not None:
            return "LOST"
        return "HELD" if age < 1.75 * self.session.heartbeat else "UNCERTAIN"

    def is_due(self):
        """Whether it is time to verify it."""
        return time.monotonic() - self.verified > self.session.heartbeat / 2

    def revoked(self):
        """Why the lease is lost, if the broker's messages say so."""
        return None


class MessageLease(Lease):
    """A message that is received and not acknowledged."""

    def __init__(self, session, channel, slot, verified, tag):
        super().__init__(session, channel, slot, verified)
        self.tag = tag  # None while it is given back

    def revoked(self):
        if self.tag is not None and self.channel.messages:
            return "a second message came"
        return None

    async def release(self):
        """Gives the message back; after the cancel, or it would come again."""
        self.channel.cancel()
        self.channel.nack(self.tag)
        await self.channel.close()


class Again(Exception):
    """The queue does not know this client's consumer."""


class Mutex:
    """The single active consumer of a queue that expires."""

    ARGUMENTS = {
        "x-queue-type": "classic",
        "x-single-active-consumer": True,
        "x-max-length": 1,
        "x-overflow": "reject-publish",
        "x-expires": 60_000,
    }

    def __init__(self, session, prefix, name):
        self.session = session
        self.queue = f"{prefix}mutex.{name}"

    async def acquire(self, seconds):
        """A lease, or None if the mutex was busy for that time."""
        end = time.monotonic() + seconds
        while True:
            channel = await self.session.channel("holder")
            try:
                lease = await self._acquire(channel, end, seconds > 0)
                if lease is None:
                    await channel.close()
                return lease
            except Refused as e:
                if e.code != 404:
                    raise
                await channel.close()
                self.session.declared.discard(self.queue)
            except Again:
                await channel.close()

    async def _acquire(self, channel, end, waits):
        if self.queue not in self.session.declared:
            if await self._declare() == (0, 0):
                await self._publish()
            self.session.declared.add(self.queue)
        await channel.consume(self.queue, **self._consumer())
        message = await channel.message(SOON if waits else 0)
        while message is None:
            ready, consumers = await channel.look(self.queue)
            await channel.ping()
            message = await channel.message(0)
            if message is not None:
                break
            if channel.end is not None or consumers == 0 or (ready > 0 and consumers == 1):
                raise Again()
            if ready == 0 and (waits or consumers == 1):
                await self._publish()
            left = end - time.monotonic()
            is_alone = ready == 0 and consumers == 1
            if left <= 0 and not is_alone:
                return None
            message = await channel.message(self.session.patience if is_alone else min(left, LOOK))
        if (self.queue, message[2]) not in self.session.proven:
            await self._declare()  # It may have been replaced by one that serves several consumers.
            if UNIQUE.fullmatch(message[2] or ""):
                self.session.proven.add((self.queue, message[2]))
        # It may have lain in a buffer for long, if this process was stopped.
        sent = time.monotonic()
        await channel.ping()
        if channel.end is not None:
            raise Again()
        return MutexLease(self, channel, sent, message)

    def _consumer(self):
        return {"x_cancel_on_ha_failover": True} if self.session.is_3 else {}

    async def _declare(self):
        channel = await self.session.channel("declarer")
        found = await channel.declare(self.queue, durable=True, arguments=self.ARGUMENTS)
        await channel.close()
        return found

    async def _publish(self):
        await self._declare()  # It may have been replaced by one that serves several consumers.
        channel = await self.session.channel("publisher")
        await channel.publish(self.queue, message_id=str(uuid.uuid4()))
        await channel.close()


class MutexLease(MessageLease):
    def __init__(self, mutex, channel, verified, message):
        super().__init__(mutex.session, channel, 1, verified, message[0])
        self.mutex = mutex

    async def verify(self):
        """Gives the message back. Only the active consumer is sent one again."""
        sent = time.monotonic()
        self.channel.nack(self.tag)
        self.tag = None
        message = await self.channel.message(SOON)
        if message is None:
            try:
                ready, _ = await self.channel.look(self.mutex.queue)
            except Refused as e:
                self.loss = str(e)
                return
            await self.channel.ping()
            message = await self.channel.message(0)
            if message is None and ready > 0:
                self.loss = "the queue has a message and does not send it to this consumer"
                return
            if message is None:
                await self.mutex._publish()
                message = await self.channel.message(self.session.patience)
        if message is None:
            raise Unknown("no message came")
        self.tag = message[0]
        self.verified = sent


EXCLUSIVE = {"x-queue-type": "classic", "x-max-length": 0, "x-overflow": "drop-head"}


class WokenLock:
    """A lock whose waiters try again and again, and are called by those who release it."""

    def __init__(self, session, wake):
        self.session = session
        self.wake = wake

    async def acquire(self, seconds):
        """A lease, or None if the lock was busy for that time."""
        end = time.monotonic() + seconds
        lease = await self.attempt()
        if lease is not None or seconds == 0:
            return lease
        channel = await self.session.channel("declarer")
        await channel.declare(self.wake, durable=True, arguments={
            "x-queue-type": "classic", "x-message-ttl": 0, "x-expires": 10_000})
        await channel.close()
        waiter = await self.session.channel("holder")
        await waiter.consume(self.wake)
        while True:
            lease = await self.attempt()
            left = end - time.monotonic()
            if lease is not None or left <= 0:
                break
            call = await waiter.message(min(left, random.uniform(0.5, 1.5)))
            if waiter.end is not None:
                raise Unknown(waiter.end)
            if call is not None:
                waiter.ack(call[0])
        await waiter.close()
        if waiter.messages:
            await self.call_a_waiter()  # For the call that this one did not use.
        return lease

    async def attempt(self):
        """A lease, or None if the lock is busy."""
        raise NotImplementedError

    async def call_a_waiter(self):
        """Lets one waiter try again. Returns whether somebody waits."""
        channel = await self.session.channel("publisher")
        called = await channel.publish(self.wake, expiration="0")
        await channel.close()
        return called

    async def own(self, queue):
        """Declares an exclusive queue. Returns its channel, or None if another client has it."""
        channel = await self.session.channel("holder")
        try:
            await channel.declare(queue, exclusive=True, arguments=EXCLUSIVE)
            # To be told of its deletion.
            await channel.consume(queue, auto_ack=True)
        except Refused as e:
            if e.code in (404, 405):
                return None
            raise
        return channel


class ExclusiveQueueMutex(WokenLock):
    """A queue that belongs to one connection."""

    def __init__(self, session, prefix, name):
        super().__init__(session, f"{prefix}wake.exclusive.{name}")
        self.queue = f"{prefix}mutex.{name}"

    async def attempt(self):
        sent = time.monotonic()
        channel = await self.own(self.queue)
        return channel and ExclusiveQueueLease(self, channel, self.queue, 1, sent)


class SlotSemaphore(WokenLock):
    """A durable queue for each slot that exists, and an exclusive one for each that is held."""

    def __init__(self, session, prefix, name):
        super().__init__(session, f"{prefix}wake.semaphore.{name}")
        self.prefix = f"{prefix}semaphore.{name}"

    async def attempt(self):
        for _ in range(3):
            free = await self._free()
            random.shuffle(free)
            for slot in free:
                sent = time.monotonic()
                channel = await self.own(self.holder(slot))
                if channel is not None and await self.exists(slot):
                    return SlotLease(self, channel, self.holder(slot), slot, sent)
                if channel is not None:
                    await channel.delete(self.holder(slot))  # The slot was removed meanwhile.
            if not free:
                break
        return None

    async def _free(self):
        channel = await self.session.channel("publisher")
        free, is_unknown, slot = [], False, 1
        while (slot_exists := await channel.publish(self.slot(slot))) is not False:
            is_held = await channel.publish(self.holder(slot))
            if slot_exists and is_held is False:
                free.append(slot)
            is_unknown |= slot_exists is None or is_held is None
            slot += 1
        await channel.close()
        if slot == 1:
            raise Refused(404, "there is no such semaphore")
        if is_unknown and not free:
            raise Unknown("the broker does not say which slots are free")
        return free

    async def exists(self, slot):
        """Whether there is that slot."""
        channel = await self.session.channel("holder")
        try:
            await channel.look(self.slot(slot))
        except Refused as e:
            if e.code == 404:
                return False
            raise
        await channel.close()
        return True

    def slot(self, number):
        """The queue that says that the slot exists."""
        return f"{self.prefix}.slot.{number}"

    def holder(self, number):
        """The queue that says that the slot is held."""
        return f"{self.prefix}.holder.{number}"


class ExclusiveQueueLease(Lease):
    def __init__(self, lock, channel, queue, slot, verified):
        super().__init__(lock.session, channel, slot, verified)
        self.lock = lock
        self.queue = queue

    async def verify(self):
        """Only the owner of an exclusive queue may ask for it."""
        sent = time.monotonic()
        try:
            await self.channel.look(self.queue)
            self.verified = sent
        except Refused as e:
            self.loss = str(e)

    async def release(self):
        """Returns when the broker has deleted the queue."""
        await self.channel.delete(self.queue)
        await self.channel.close()
        if await self.lock.call_a_waiter():
            await asyncio.sleep(0.003)  # Or this client would be faster than the one it called.


class SlotLease(ExclusiveQueueLease):
    async def verify(self):
        """Both queues: a slot that was removed and added again may have another holder."""
        before = self.verified
        await super().verify()
        if self.loss is None and not await self.lock.exists(self.slot):
            self.verified, self.loss = before, "the slot was removed"


class TokenSemaphore:
    """A queue with one message for each slot."""

    RECORD = re.compile(
        r"version (\d+) generation (\d+) of \d+ (classic|quorum) slots (\d+) epoch \d+"
        r" on RabbitMQ (\d+) tokens (.+) adding (.+) withdrawing (.+)")
    TOKEN = re.compile(r"slot (\d+) epoch (\d+) on RabbitMQ (\d+)")

    def __init__(self, session, prefix, name):
        self.session = session
        self.family = f"{prefix}token-semaphore.{name}"
        self.queue = None

    async def acquire(self, seconds):
        """A lease, or None if no token was free for that time."""
        end = time.monotonic() + seconds
        while True:
            if self.queue is None:
                await self.find()
            channel = await self.session.channel("holder")
            try:
                lease = await self._acquire(channel, end)
                if lease is None:
                    await channel.close()
                return lease
            except Refused as e:
                if e.code != 404:
                    raise
                self.queue = None

    async def _acquire(self, channel, end):
        while True:
            left = end - time.monotonic()
            sent = time.monotonic()
            if channel.consumer is None:
                message = await channel.get(self.queue)
                if message is None and left > 0:
                    await channel.consume(self.queue, **self.consumer())
                    continue
            else:
                message = await channel.message(max(0, left))
                # It may have lain in a buffer for long, if this process was stopped.
                sent = time.monotonic()
                await channel.ping()
                if channel.end is not None:
                    raise Unknown(channel.end)
            if message is None:
                return None
            slot = await self.slot(message[1])
            if slot is not None:
                return TokenLease(self, channel, slot, sent, message[0])
            channel.ack(message[0])

    def consumer(self, **arguments):
        """The arguments of a consumer."""
        if self.session.is_3 and self.type == "classic":
            arguments["x_cancel_on_ha_failover"] = True
        return arguments

    async def slot(self, body):
        """The slot that a message stands for; None if it is no token, and is to be removed."""
        token = self.TOKEN.fullmatch(body.decode("ascii", "replace"))
        if token is None:
            return None
        slot, epoch, major = map(int, token.groups())
        for _ in range(3):
            if self._names(slot, epoch) and (self.type == "classic" or major == self.major):
                return slot
            await self.find()  # It may be newer than what was read.
        return None

    def _names(self, slot, epoch):
        return any(first <= slot <= last and of == epoch for first, last, of in self.runs)

    async def find(self):
        """Reads the record."""
        channel = await self.session.channel("holder")
        end = time.monotonic() + self.session.patience
        found = []
        while not found:
            messages = []
            message = await channel.get(f"{self.family}.record")
            while message is not None:
                messages.append(message)
                message = await channel.get(f"{self.family}.record")
            for tag, body in messages:
                record = self.RECORD.fullmatch(body.decode("ascii", "replace"))
                if record is not None:
                    found.append(record)
                channel.nack(tag)
            if not found:
                if time.monotonic() > end:
                    raise Unknown("nobody gives the record back")
                await asyncio.sleep(0.002)  # Another reader has it.
        await channel.close()
        record = max(found, key=lambda each: int(each[1]))
        if int(record[4]) == 0:
            raise Refused(404, "there is no such semaphore")
        self.type, self.major = record[3], int(record[5])
        self.runs = [run for each in record.group(6, 7, 8) for run in _runs(each)]
        self.queue = f"{self.family}.tokens.{record[2]}"


def _runs(text):
    """The slots from, to and their epoch, for each run of a set."""
    for run in text.split() if text != "none" else []:
        slots, epoch = run.split("@")
        first, _, last = slots.partition("-")
        yield int(first), int(last or first), int(epoch)


class TokenLease(MessageLease):
    def __init__(self, semaphore, channel, slot, verified, tag):
        super().__init__(semaphore.session, channel, slot, verified, tag)
        self.semaphore = semaphore
        self.has_own_consumer = False

    async def verify(self):
        """Gives the token back to itself: to a consumer that comes before all others."""
        sent = time.monotonic()
        if not self.has_own_consumer:
            await self._take_over()
        else:
            self.channel.nack(self.tag)
        self.tag = None
        token = await self._next(SOON)
        if token is None:
            await self._ask()
            token = await self._next(0)
        if token is None:
            self.loss = "the token did not come back"
        else:
            self.tag, self.slot = token
            self.verified = sent

    async def _take_over(self):
        queue = self.semaphore.queue
        own = await self.session.channel("holder")
        await own.consume(queue, **self.semaphore.consumer(x_priority=1_000_000))
        old, old_tag = self.channel, self.tag
        while True:
            await self._ask(own)
            if not own.messages or await self.semaphore.slot(own.messages[0][1]) is not None:
                break
            own.ack(own.messages.popleft()[0])
        self.tag = None
        self.channel, self.has_own_consumer = own, True
        old.cancel()
        old.nack(old_tag)
        await old.close()

    async def _ask(self, channel=None):
        """After this, all that the queue had sent before has come."""
        channel = channel or self.channel
        got = await channel.get(self.semaphore.queue)
        if got is not None:
            channel.nack(got[0])
        await channel.ping()

    async def _next(self, seconds):
        message = await self.channel.message(seconds)
        while message is not None:
            slot = await self.semaphore.slot(message[1])
            if slot is not None:
                return message[0], slot
            self.channel.ack(message[0])
            message = await self.channel.message(self.session.patience)
        return None
