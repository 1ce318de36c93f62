"""An encrypted room of several clients: what a witness has read in it, and who may read what."""
import nio

from nio_client import EncryptedNioClient
from shared_room import SharedRoom
from test_nio import ENCRYPTION, good

MUST, MAY, NEVER = "must", "may", "never"


class Witness(EncryptedNioClient):
    """The room's maker by a library of other people. It is always there and loses no connection."""

    async def say(self, text):
        return good(await self._message(f"t{next(self.numbers)}", {"msgtype": "m.text", "body": text}), nio.RoomSendResponse).event_id


class EncryptedRoom(SharedRoom):
    """The server's order, members and receipts, with the words that the witness has read.

    - of_others: users whose clients are of other people.
    - settled: marks behind which everybody is in the room and everybody knows it.
    - departed: users by the marks behind which everybody knows that they have left."""

    initial_state = (ENCRYPTION,)

    def __init__(self, base, users, moderator):
        self.witness, self.of_others, self.settled, self.departed = None, set(), set(), {}
        super().__init__(base, users, moderator)

    def readable(self, event):
        return self.witness.readable(event) if self.witness else event

    def is_text(self, event):
        """Whether the witness has read a text there."""
        return self.witness.clear.get(event, {}).get("msgtype") == "m.text"

    async def mark(self, text):
        return await self.witness.say(text)

    def rights(self, events, user):
        """By event, whether the user's devices must read it, may, or must not.

        Who joins or leaves may read what is sent until all know of it: Matrix promises neither. What matrix-nio sends is not held against us."""
        rights, state = {}, MAY
        for event in events:
            if event["event_id"] in self.settled:
                state = MUST
            elif self.departed.get(event["event_id"]) == user:
                state = NEVER
            rights[event["event_id"]] = MAY if state == NEVER and event["sender"] in self.of_others else state
            if event["type"] == "m.room.member" and event["state_key"] == user and is_step(event):
                state = MAY
        return rights


def is_step(event):
    """Whether the membership changes, and not only the name."""
    return event.get("unsigned", {}).get("prev_content", {}).get("membership") != event["content"]["membership"]
