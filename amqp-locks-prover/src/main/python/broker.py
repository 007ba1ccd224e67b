"""Connections and channels of RabbitMQ, as coroutines.

Each worker has a session of its own, so it has the connections for itself. Whoever is in doubt
drops the session: the broker then frees all that it held. No request waits longer than three
heartbeats. After that time a lease is lost anyway.
"""

import asyncio
import time
from collections import deque

import pika
from pika import spec
from pika.adapters.asyncio_connection import AsyncioConnection


class Unknown(Exception):
    """The broker did not answer, or the connection is gone: nobody knows what had an effect."""


class Refused(Exception):
    """The broker closed the channel and said why."""

    def __init__(self, code, text):
        super().__init__(f"{code} {text}")
        self.code = code


class Session:
    """The connections of one worker, each opened when it is first needed.

    "holder" consumes and has exclusive queues, "publisher" publishes, and "declarer" declares the
    queues that last.
    """

    def __init__(self, uri, heartbeat):
        self.heartbeat = heartbeat
        self.patience = 3 * heartbeat
        self.declared = set()
        self.proven = set()  # queues that were declared, each with the id of a message in it
        self._connections = {}
        self._parameters = pika.URLParameters(uri)
        self._parameters.heartbeat = heartbeat
        self._parameters.socket_timeout = self.patience
        self._parameters.stack_timeout = self.patience

    async def channel(self, role):
        """A new channel. Raises Unknown if there is none in time."""
        connection = await self._connection(role)
        opened = asyncio.get_running_loop().create_future()
        try:
            raw = connection.channel(on_open_callback=lambda each: _answer(opened, each))
            raw.add_on_close_callback(lambda _, reason: _fail(opened, _translated(reason)))
            return Channel(await asyncio.wait_for(opened, self.patience), self.patience)
        except asyncio.TimeoutError:
            raise Unknown("no channel in time") from None
        except pika.exceptions.AMQPError as e:
            raise Unknown(repr(e)) from e

    async def _connection(self, role):
        connection = self._connections.get(role)
        if connection is not None and connection.is_open:
            return connection
        if role == "holder":
            self.declared.clear()
            self.proven.clear()
        opened = asyncio.get_running_loop().create_future()
        connection = AsyncioConnection(
            self._parameters,
            on_open_callback=lambda each: _answer(opened, each),
            on_open_error_callback=lambda _, error: _fail(opened, Unknown(repr(error))),
            on_close_callback=lambda _, error: _fail(opened, Unknown(repr(error))),
        )
        self._connections[role] = connection
        try:
            return await asyncio.wait_for(opened, 2 * self.patience)
        except asyncio.TimeoutError:
            raise Unknown("no connection in time") from None

    @property
    def is_3(self):
        """Whether the broker is RabbitMQ 3.x."""
        return self._connections["holder"].server_properties["version"].startswith("3.")

    def drop(self):
        """Ends all connections at once. What was held is free when the broker notices."""
        for connection in self._connections.values():
            if connection.is_open or connection.is_closing:
                # A close that is agreed on waits for channels that may wait for the broker, and
                # pika has no other public one.
                connection._terminate_stream(ConnectionAbortedError("dropped"))
        self._connections.clear()
        self.declared.clear()
        self.proven.clear()


class Channel:
    """A channel with one open request at a time, and the messages that have come."""

    def __init__(self, raw, patience):
        self.raw = raw
        self.messages = deque()  # (delivery tag, body) of consumers
        self.returned = 0
        self.end = None  # why the channel or its consumer has ended
        self.consumer = None
        self._patience = patience
        self._request = None
        self._confirm = None
        self._news = asyncio.Event()
        raw.add_on_close_callback(self._on_close)
        raw.add_on_cancel_callback(lambda _: self._ended("the broker ended the consumer"))
        raw.add_on_return_callback(self._on_return)
        raw.add_callback(lambda _: self._answered(None), [spec.Basic.GetEmpty], one_shot=False)

    async def declare(self, queue, **options):
        """Declares a queue. Returns the ready messages and the consumers that it has."""
        frame = await self._ask(
            lambda: self.raw.queue_declare(queue, callback=self._answered, **options))
        return frame.method.message_count, frame.method.consumer_count

    async def look(self, queue):
        """Declares a queue passively. Returns its ready messages and its consumers."""
        return await self.declare(queue, passive=True)

    async def delete(self, queue):
        """Deletes a queue."""
        await self._ask(lambda: self.raw.queue_delete(queue, callback=self._answered))

    async def ping(self):
        """A request that concerns no queue: prefetch is 1 for consumers that follow."""
        await self._ask(lambda: self.raw.basic_qos(prefetch_count=1, callback=self._answered))

    async def consume(self, queue, auto_ack=False, **arguments):
        """Begins to consume with prefetch 1. Messages go to `messages`."""
        if not auto_ack:
            await self.ping()

        def begin():
            self.consumer = self.raw.basic_consume(
                queue, self._on_message, auto_ack=auto_ack,
                arguments={key.replace("_", "-"): value for key, value in arguments.items()},
                callback=self._answered)

        await self._ask(begin)

    async def get(self, queue):
        """Gets one message: its delivery tag and body, or None."""
        return await self._ask(lambda: self.raw.basic_get(
            queue, lambda _, method, __, body: self._answered((method.delivery_tag, body))))

    async def publish(self, queue, body=b"", expiration=None, message_id=None):
        """Publishes. Returns whether there was such a queue; None if the broker refused to say."""
        if self._confirm is None:
            await self._ask(lambda: self.raw.confirm_delivery(
                lambda frame: _answer(self._confirm, frame), callback=self._answered))
        self.returned = 0
        self._confirm = asyncio.get_running_loop().create_future()
        properties = pika.BasicProperties(
            delivery_mode=1, expiration=expiration, message_id=message_id)
        confirm = await self._ask(
            lambda: self.raw.basic_publish("", queue, body, properties, mandatory=True),
            self._confirm)
        if isinstance(confirm.method, spec.Basic.Nack):
            return None
        return self.returned == 0

    async def message(self, seconds):
        """The next message, or None if none comes in that time."""
        end = time.monotonic() + seconds
        while not self.messages and self.end is None:
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), max(0, end - time.monotonic()))
            except asyncio.TimeoutError:
                break
        return self.messages.popleft() if self.messages else None

    def nack(self, tag):
        """Gives a message back."""
        if self.raw.is_open:
            self.raw.basic_nack(tag, requeue=True)

    def ack(self, tag):
        """Removes a message."""
        if self.raw.is_open:
            self.raw.basic_ack(tag)

    def cancel(self):
        """Ends the consumer; the answer is not awaited."""
        if self.raw.is_open and self.consumer is not None:
            self.raw.basic_cancel(self.consumer)

    async def close(self):
        """Closes the channel: what it has goes back, and what comes late with it.

        pika rejects by itself what comes after a cancel, and a reject counts as a failure. After
        a close it does not.
        """
        if self.raw.is_open:
            self._request = asyncio.get_running_loop().create_future()
            self.raw.close()
        try:
            if self._request is not None and not self.raw.is_closed:
                await asyncio.wait_for(self._request, self._patience)
        except (Unknown, Refused):
            pass
        except asyncio.TimeoutError:
            raise Unknown("the channel does not close") from None

    async def _ask(self, send, answer=None):
        if self._request is not None and not self._request.done():
            raise Unknown("an answer is overdue")
        self._request = answer or asyncio.get_running_loop().create_future()
        try:
            send()
            return await asyncio.wait_for(asyncio.shield(self._request), self._patience)
        except asyncio.TimeoutError:
            raise Unknown("no answer") from None
        except pika.exceptions.AMQPError as e:
            raise Unknown(repr(e)) from e

    def _answered(self, frame):
        _answer(self._request, frame)

    def _on_message(self, _, method, properties, body):
        self.messages.append((method.delivery_tag, body, properties.message_id))
        self._news.set()

    def _on_return(self, *_):
        self.returned += 1

    def _on_close(self, _, reason):
        self._ended(str(reason))
        if self._request is not None:
            _fail(self._request, _translated(reason))

    def _ended(self, why):
        self.end = self.end or why
        self._news.set()


def _translated(reason):
    by_broker = isinstance(reason, pika.exceptions.ChannelClosedByBroker)
    return Refused(reason.reply_code, reason.reply_text) if by_broker else Unknown(str(reason))


def _answer(future, value):
    if not future.done():
        future.set_result(value)


def _fail(future, error):
    if not future.done():
        future.set_exception(error)
        future.exception()  # Nobody may be waiting any more.
