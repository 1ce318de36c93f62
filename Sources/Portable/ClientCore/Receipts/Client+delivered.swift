import JSON
import MatrixModel

/// Receipts for what has reached this device, see Documentation/Extensions.md, `martlet.delivered`.
struct DeliveryReceipts: Sendable {
  var isOn = false
}

extension Client {
  mutating func setDeliveryReceipts(_ isOn: Bool, _ id: CommandID) {
    if isOn, extensions.offered == nil { return learnExtensions(for: .setDeliveryReceipts(true), id) }
    delivery.isOn = isOn
    finish(id, .done)
  }

  /// What somebody said is in the store.
  mutating func sendDelivered(_ event: EventID, in id: RoomID) {
    guard delivery.isOn, extensions.offered?.contains(.delivered) ?? false, let room = rooms[id], room.membership == .join,
      room.joinedMemberCount <= Limits.deliveryMembers
    else { return }
    request(
      .postReceipt, Endpoint.postReceipt.path(id.text, "martlet.delivered", event.text), for: .forgettable)
  }
}
