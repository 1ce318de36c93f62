"""What an initial sync must say by the tables of a server that is not running."""
import json

from room_invariants import MEMBERSHIPS

JOIN, INVITE = MEMBERSHIPS["join"], MEMBERSHIPS["invite"]


def faults(store, user, answer):
    """What of the answer of an initial sync is not what the tables say."""
    ignored = ignored_users(store, user)
    rooms = {row["room"]: row["membership"] for row in store.rows("SELECT room, membership FROM membership WHERE user_id = ?", user)}
    told = answer.get("rooms", {})
    joined = {store.room_id(number) for number, membership in rooms.items() if membership == JOIN}
    if set(told.get("join", {})) != joined:
        yield f"{user} is told of {sorted(told.get('join', {}))}, is in {sorted(joined)}"
    invited = {store.room_id(number): inviter(store, number, user) for number, membership in rooms.items() if membership == INVITE}
    if set(told.get("invite", {})) - set(invited) or {room for room, by in invited.items() if by not in ignored} - set(told.get("invite", {})):
        yield f"{user} is told of invitations to {sorted(told.get('invite', {}))}, has them to {sorted(invited)}"
    for room_id, room in told.get("join", {}).items():
        if room_id in joined:
            for fault in room_faults(store, store.numbers[room_id], user, ignored, room):
                yield f"{user} in {room_id}: {fault}"


def ignored_users(store, user):
    """Nobody, where the user's client wrote something that is no list of users."""
    content = store.column("SELECT content FROM account_data WHERE user_id = ? AND room_id = '' AND type = 'm.ignored_user_list'", user)
    ignored = json.loads(content[0]).get("ignored_users") if content else None
    return set(ignored) if isinstance(ignored, dict) else set()


def inviter(store, number, user):
    return store.events[store.column("SELECT event FROM current_state WHERE room = ? AND type = 'm.room.member' AND state_key = ?", number, user)[0]].sender


def room_faults(store, number, user, ignored, room):
    timeline = room["timeline"]["events"]
    newest = [event.event_id for event in store.by_room[number] if event.sender not in ignored or event.state_key is not None]
    shown = [event["event_id"] for event in timeline]
    if not shown or shown != newest[-len(shown):]:
        yield f"its timeline is {shown}, the newest events are {newest[-len(shown) or -1:]}"
    state = {(event["type"], event["state_key"]): event["event_id"] for event in room["state"]["events"]}
    state.update({(event["type"], event["state_key"]): event["event_id"] for event in timeline if "state_key" in event})
    current = {(row["type"], row["state_key"]): store.events[row["event"]].event_id for row in store.rows("SELECT type, state_key, event FROM current_state WHERE room = ?", number)}
    if state != current:
        wrong = [key for key in set(state) | set(current) if state.get(key) != current.get(key)]
        yield f"its state differs in {wrong[:3]}"
    for name, membership in (("m.joined_member_count", JOIN), ("m.invited_member_count", INVITE)):
        count = store.column("SELECT count(*) FROM membership WHERE room = ? AND membership = ?", number, membership)[0]
        if room["summary"].get(name, count) != count:
            yield f"its summary says {name} {room['summary'][name]}, there are {count}"
    if not store.column("SELECT 1 FROM account_data WHERE user_id = ? AND room_id = '' AND type = 'm.push_rules'", user):
        told = room["unread_notifications"]["notification_count"]
        counted = unread(store, number, user, ignored)
        if told != counted:
            yield f"its unread count is {told}, a recount comes to {counted}"


def unread(store, number, user, ignored):
    """Events, not redacted, that the default push rules notify of and that no receipt nor message of the user's own covers, threads included."""
    read = dict(tuple(row) for row in store.rows("SELECT thread, max(event) FROM receipt WHERE room = ? AND user_id = ? GROUP BY thread", number, user))
    counts, joined = {}, False
    for event in store.by_room[number]:
        thread = event.thread or "main"
        if event.type == "m.room.member" and event.state_key == user:
            was, joined = joined, event.content.get("membership") == "join"
            if event.sender == user and joined and not was:
                counts = {}
            continue
        if event.sender == user:
            counts = {} if thread == "main" else {**counts, thread: 0}
        elif event.position > max(read.get("", 0), read.get(thread, 0)) and event.redacted_by is None and event.sender not in ignored and notifies(event, user):
            counts[thread] = counts.get(thread, 0) + 1
    return sum(counts.values())


def notifies(event, user):
    """Spec: Client-Server API, "Predefined Rules"; `True` where one of them has `notify`."""
    content = event.content
    mentions = content.get("m.mentions") if isinstance(content.get("m.mentions"), dict) else {}
    if content.get("msgtype") == "m.notice" or event.type == "m.room.member":
        return False
    mentioned = mentions.get("user_ids") if isinstance(mentions.get("user_ids"), list) else []
    if user in mentioned or event.type == "m.room.tombstone" and event.state_key == "":
        return True
    if event.type == "m.reaction" or event.relation and event.relation[0] == "m.replace":
        return False
    return event.type in ("m.room.message", "m.room.encrypted")
