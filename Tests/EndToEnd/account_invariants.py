"""What must hold of accounts: devices, tokens, keys, account data."""
from invariants import invariant


def accounts(store):
    return set(store.column("SELECT user_id FROM account"))


def devices(store):
    """Of all accounts, the dehydrated ones included."""
    return {tuple(row) for row in store.rows("SELECT user_id, device_id FROM device UNION SELECT user_id, device_id FROM dehydrated_device")}


@invariant("rows of users are of accounts that exist")
def users_exist(store):
    known = accounts(store)
    for table in ("device", "profile_field", "filter", "account_data", "receipt", "presence", "pusher", "push_queue", "mail_queue", "mail_room", "access_token", "refresh_token",
                  "expiring_token", "device_key", "cross_signing_key", "key_backup", "key_backup_number", "dehydrated_device", "to_device",
                  "third_party_identifier", "single_sign_on", "media_pending", "hidden_room", "slow_mode_send"):
        for user in store.column(f"SELECT DISTINCT user_id FROM {table}"):
            if user not in known:
                yield f"{table} has rows of the missing {user}"


@invariant("tokens, keys and messages of devices are of devices that exist")
def devices_exist(store):
    known = devices(store)
    for table in ("access_token", "refresh_token", "device_key", "one_time_key", "fallback_key", "to_device", "sent_transaction"):
        for row in store.rows(f"SELECT DISTINCT user_id, device_id FROM {table}"):
            if tuple(row) not in known:
                yield f"{table} has rows of the missing device {row['device_id']} of {row['user_id']}"
    for row in store.rows("SELECT user_id, device_id FROM pusher WHERE device_id IS NOT NULL"):
        if tuple(row) not in known:
            yield f"pusher has rows of the missing device {row['device_id']} of {row['user_id']}"


@invariant("who is deactivated has no devices, tokens, password or rooms")
def deactivated(store):
    for user in store.column("SELECT user_id FROM account WHERE deactivated = 1"):
        for table in ("device", "access_token", "refresh_token", "expiring_token", "third_party_identifier", "pusher"):
            count = store.column(f"SELECT count(*) FROM {table} WHERE user_id = ?", user)[0]
            if count:
                yield f"{user} has {count} rows of {table}"
        if store.column("SELECT 1 FROM account WHERE user_id = ? AND (password IS NOT NULL OR is_admin = 1 OR leaves = 1)", user):
            yield f"{user} has a password, is an administrator or was still leaving"
        for room in store.column("SELECT room FROM membership WHERE user_id = ? AND membership IN (1, 2, 4)", user):
            yield f"{user} is in {store.room_id(room)}"


@invariant("access and refresh tokens belong together")
def tokens(store):
    for row in store.rows("SELECT user_id, device_id, count(*) AS number FROM access_token WHERE expires IS NULL GROUP BY user_id, device_id HAVING number > 1"):
        yield f"{row['device_id']} of {row['user_id']} has {row['number']} tokens for ever"
    refresh = {row["hash"]: row for row in store.rows("SELECT * FROM refresh_token")}
    for row in store.rows("SELECT * FROM access_token WHERE refresh IS NOT NULL"):
        other = refresh.get(row["refresh"])
        if other is not None and (other["user_id"], other["device_id"]) != (row["user_id"], row["device_id"]):
            yield f"an access token of {row['user_id']} came with a refresh token of {other['user_id']}"
    for row in refresh.values():
        if row["next"] is not None and row["next"] not in refresh:
            yield f"a refresh token of {row['user_id']} leads to one that is not there"


@invariant("a device has at most one key of an ID, and changes of keys are known")
def keys(store):
    changed = set(store.column("SELECT user_id FROM device_list_change"))
    for table in ("device_key", "cross_signing_key"):
        for user in store.column(f"SELECT DISTINCT user_id FROM {table}"):
            if user not in changed:
                yield f"{user} has rows of {table}, and no change of the device list is known"


@invariant("messages to a device are in one order, below the head of the stream")
def to_device(store):
    head = store.column("SELECT position FROM stream_head")[0]
    for row in store.rows("SELECT user_id, device_id, max(position) AS last FROM to_device GROUP BY user_id, device_id"):
        if row["last"] > head:
            yield f"{row['device_id']} of {row['user_id']} has a message at {row['last']}, the head is {head}"


@invariant("key backups count their keys; versions were given out once")
def key_backups(store):
    numbers = dict(tuple(row) for row in store.rows("SELECT user_id, last FROM key_backup_number"))
    counted = {(row[0], row[1]): row[2] for row in store.rows("SELECT user_id, version, count(*) FROM key_backup_key GROUP BY user_id, version")}
    backups = {(row["user_id"], row["version"]): row for row in store.rows("SELECT * FROM key_backup")}
    for key, row in backups.items():
        if row["keys"] != counted.get(key, 0) and not row["deleted"]:
            yield f"version {key[1]} of {key[0]} has {counted.get(key, 0)} keys, its row says {row['keys']}"
        if row["version"] > numbers.get(row["user_id"], 0):
            yield f"{row['user_id']} has version {row['version']}, the last given out is {numbers.get(row['user_id'])}"
    for key in set(counted) - set(backups):
        yield f"there are keys of the missing version {key[1]} of {key[0]}"


@invariant("what waits to be pushed or mailed is of users with pushers, and of events that exist; mails go to addresses of accounts")
def push(store):
    pushing = set(store.column("SELECT DISTINCT user_id FROM pusher WHERE kind = 'http'"))
    for row in store.rows("SELECT user_id, event FROM push_queue"):
        if row["user_id"] not in pushing:
            yield f"{row['user_id']} has no pusher, and an event waits"
        if row["event"] not in store.events and not store.purged_history:
            yield f"the event at {row['event']} waits for {row['user_id']} and is not there"
    mailing = {tuple(row) for row in store.rows("SELECT user_id, pushkey FROM pusher WHERE kind = 'email' AND app_id = 'm.email'")}
    for table in ("mail_queue", "mail_room"):
        for row in store.rows(f"SELECT DISTINCT user_id, pushkey, room FROM {table}"):
            if (row["user_id"], row["pushkey"]) not in mailing:
                yield f"{table} has rows for mails to {row['user_id']} that nobody sends"
            if row["room"] not in store.rooms:
                yield f"{table} has rows of the missing room {row['room']}"
    for row in store.rows("SELECT user_id, room, event FROM mail_queue"):
        if row["event"] not in store.events and not store.purged_history:
            yield f"a mail to {row['user_id']} waits for the event at {row['event']}, which is not there"
    addresses = {tuple(row) for row in store.rows("SELECT user_id, address FROM third_party_identifier WHERE medium = 'email'")}
    for user, address in mailing - addresses:
        yield f"{user} gets mails at an address that is not theirs"
    for row in store.rows("SELECT user_id, kind, unsubscribe FROM pusher"):
        if (row["kind"] == "email") != (row["unsubscribe"] is not None):
            yield f"a pusher of {row['user_id']} has {'a' if row['unsubscribe'] else 'no'} way out, and is of kind {row['kind']}"


@invariant("what users keep for a room is found in a room's hidden rows too")
def hidden(store):
    rows = {(row["user_id"], store.room_id(row["room"])) for row in store.rows("SELECT room, user_id FROM hidden_room")}
    data = {(row["user_id"], row["room_id"]) for row in store.rows("SELECT user_id, room_id, content FROM account_data WHERE type = 'martlet.hidden'") if b"before" in row["content"]}
    for user, room in sorted(rows ^ data):
        yield f"{user} has hidden {room} {'by the row' if (user, room) in rows else 'by the account data'} alone"
