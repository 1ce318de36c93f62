"""Clients of the SDK write, edit, answer and react in an encrypted room while they are killed, put to sleep, cut off and given wrong clocks, their one-time keys
are used up, their backups change, devices that nobody has verified sign in and out, and somebody joins and leaves. No event of theirs stays unreadable for more than a minute, and in the end all of them read everything, and agree.

`MARTLET_LONG=1` for forty-five minutes with 20 clients, `MARTLET_STORM_SECONDS` and `MARTLET_STORM_CLIENTS` for another time and number. The seed is printed;
`MARTLET_SEED` repeats what each action is, not when the server sees it.
"""
import asyncio
import contextlib
import os
import random

from client import User
from encryption_storm import Storm, everything_in_the_backup, newcomer
from harness import test
from test_encryption import peers
from test_nio import ENCRYPTION

IS_LONG = os.environ.get("MARTLET_LONG") == "1"
SECONDS = int(os.environ.get("MARTLET_STORM_SECONDS") or (2_700 if IS_LONG else 12))
CLIENTS = int(os.environ.get("MARTLET_STORM_CLIENTS") or (20 if IS_LONG or SECONDS > 60 else 5))


@test(f"a storm of {SECONDS} s in an encrypted room: {CLIENTS} clients that are killed, sleep, are cut off and robbed of keys read everything and agree")
def storm(context):
    asyncio.run(_storm(context))


async def _storm(context):
    seed = int(os.environ.get("MARTLET_SEED", 0)) or random.randrange(1, 10**6)
    print(f"          seed {seed}")
    users = [User(context.base, f"storm{number}") for number in range(CLIENTS)]
    thief = User(context.base, "thief")
    room = users[0].create_room(preset="private_chat", initial_state=[ENCRYPTION], invite=[user.user_id for user in users[1:]])
    for user in users[1:]:
        user.join(room)
    ways = [("v3", "sliding")[number % 2] for number in range(CLIENTS)]
    async with peers(context, room, users, ways) as clients, contextlib.AsyncExitStack() as stack:
        playing = Storm(seed, room, clients, thief)
        try:
            await playing.run(SECONDS)
            rows = await playing.settle()
            key = await everything_in_the_backup(clients[0])
            other = await newcomer(stack, context, room, users[0], key)
            await playing.agree([*clients, other])
        finally:
            playing.wake_all()
            print(f"          {playing.counts}; unreadable at some time {playing.ever}, the longest for {playing.longest:.1f} s")
    assert len(rows) > playing.sent / 2, (len(rows), playing.sent)
