"""A relay in front of PostgreSQL: clients connect to its port, it connects to the server's socket. It can hold each packet for a while, and cut
a connection exactly before or behind the COMMIT of a batch."""
import socket
import struct
import threading
import time


class Relay:
    def __init__(self, path, delay=0.0):
        self.path, self.delay = path, delay
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.cuts = {"before": 0, "behind": 0}
        # "before" or "behind" the next COMMIT of a batch; None lets all pass.
        self.next_cut = None
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, name):
        return f"postgres://martlet@127.0.0.1:{self.port}/{name}?sslmode=disable&gssencmode=disable"

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.path)
            except OSError:
                client.close()
                continue
            link = Link(self, client, server)
            threading.Thread(target=link.carry_requests, daemon=True).start()
            threading.Thread(target=link.carry_answers, daemon=True).start()

    def take_cut(self):
        with self.lock:
            cut, self.next_cut = self.next_cut, None
            if cut:
                self.cuts[cut] += 1
            return cut

    def close(self):
        self.listener.close()


class Link:
    """One connection. What the client sends is read message by message (PostgreSQL's documentation, "Message Formats")."""

    def __init__(self, relay, client, server):
        self.relay, self.client, self.server = relay, client, server
        self.commits = set()
        self.is_writer = False
        self.withholds = False
        self.answered = threading.Event()

    def cut(self):
        for side in (self.client, self.server):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def carry_requests(self):
        try:
            begins, rest = True, b""
            while data := self.client.recv(1 << 16):
                if self.relay.delay:
                    time.sleep(self.relay.delay)
                rest += data
                ready = b""
                while True:
                    header = 4 if begins else 5
                    if len(rest) < header:
                        break
                    length = struct.unpack(">I", rest[header - 4:header])[0] + header - 4
                    if len(rest) < length:
                        break
                    message, rest = rest[:length], rest[length:]
                    if not begins and self.is_commit(message) and (cut := self.relay.take_cut()):
                        self.server.sendall(ready)
                        return self.end(cut, message + rest)
                    begins = False
                    ready += message
                self.server.sendall(ready)
        except OSError:
            pass
        finally:
            self.cut()

    def end(self, cut, rest):
        if cut == "behind":
            self.withholds = True
            while not rest.endswith(b"S\0\0\0\4"):
                rest += self.client.recv(1 << 16)
            self.server.sendall(rest)
            # The server answers when the batch is durable.
            self.answered.wait(10)

    def is_commit(self, message):
        """Whether it binds the COMMIT of a batch: a reader has no statement that moves the head."""
        kind, body = message[:1], message[5:]
        if kind == b"P":
            name, text = body.split(b"\0")[:2]
            if text == b"COMMIT":
                self.commits.add(name)
            self.is_writer = self.is_writer or text.startswith(b"UPDATE stream_head")
        return kind == b"B" and self.is_writer and body.split(b"\0")[1] in self.commits

    def carry_answers(self):
        try:
            while data := self.server.recv(1 << 16):
                if self.relay.delay:
                    time.sleep(self.relay.delay)
                if self.withholds:
                    # What was sent before the COMMIT may be answered first: the end of the exchange is what counts.
                    if data[-6:-1] == b"Z\0\0\0\5":
                        self.answered.set()
                    continue
                self.client.sendall(data)
        except OSError:
            pass
        finally:
            self.cut()
