import JSON
import MatrixModel

/// Receipts for what has reached this device, see Documentation/Extensions.md, `martlet.delivered`.
struct DeliveryReceipts: Sendable {
  var isOn = false
}

extension Client {
  mutating func setDeliveryReceipts(_ isOn: Bool, _ id: CommandID) {
    if extensions.offered == nil { return learnExtensions(for: .reading(.setDeliveryReceipts(isOn)), id) }
    delivery.isOn = isOn
    finish(id, .done)
  }

  /// What somebody said is in the store. Where one looks on, the receipt for what is read says as much.
  mutating func sendDelivered(_ event: EventID, in id: RoomID) {
    guard delivery.isOn, !(hasAttention && openRooms.contains(id)), extensions.offered?.contains(.delivered) ?? false,
      let room = rooms[id], room.membership == .join,
      room.joinedMemberCount <= Limits.deliveryMembers
    else { return }
    request(
      .postReceipt, Endpoint.postReceipt.path(id.text, "martlet.delivered", event.text), for: .forgettable)
  }
}

extension Client {
  /// Index of the last item that has reached a device of somebody else; nil where nobody tells, or what has is not in memory.
  public func lastDelivered(in id: RoomID) -> Int? {
    guard let room = rooms[id] else { return nil }
    return room.state.delivered.values.compactMap { room.timeline.position(of: $0) }.max()
  }

  /// Returns the others whose devices an item has reached, as far as they tell, in user ID order.
  /// - Parameter index: of the item in the room's timeline.
  public func usersReached(by index: Int, in id: RoomID) -> [UserID] {
    guard let room = rooms[id] else { return [] }
    return room.state.delivered.keys.ordered().filter { user in
      room.state.delivered[user].flatMap { room.timeline.position(of: $0) } ?? -1 >= index
    }
  }
}

extension RoomState {
  /// - Parameter reached: by user.
  mutating func apply(delivered reached: JSON, _ event: EventID, _ delta: inout RoomDelta, ownUserID: UserID) {
    for member in reached.members {
      guard let user = UserID(member.key), user != ownUserID, delivered[user] != event else { continue }
      guard delivered[user] != nil || delivered.count < Limits.deliveryMembers else { continue }
      delivered[user] = event
      delta.isDelivered = true
    }
  }

  func writeDelivered(to writer: inout JSONWriter) {
    guard !delivered.isEmpty else { return }
    writer.key("delivered")
    writer.beginObject()
    for user in delivered.keys.ordered() {
      guard let event = delivered[user] else { continue }
      writer.key(user.text)
      writer.write(event.text)
    }
    writer.endObject()
  }

  mutating func readDelivered(_ record: JSON) {
    guard let known = record["delivered"] else { return }
    for member in known.members {
      if let user = UserID(member.key), let event = EventID(member.value) { delivered[user] = event }
    }
  }
}
