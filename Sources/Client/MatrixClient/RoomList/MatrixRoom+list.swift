public import ClientCore
public import MatrixModel

/// The place of the room in lists. A change shows when a sync brings it, on all devices of the account.
extension MatrixRoom {
  /// Makes the room a favourite, or ends that. A favourite has no low priority.
  /// - Parameter order: the place among the favourites, from 0 for the first to 1 for the last; nil for a place after those with an order.
  public func setFavourite(_ isFavourite: Bool, order: Double? = nil) async throws(ClientError) {
    try await set(RoomTag.favourite, isFavourite, order, excluding: RoomTag.lowPriority)
  }

  /// Gives the room low priority, or ends that. A room with low priority is not a favourite.
  public func setLowPriority(_ isLow: Bool, order: Double? = nil) async throws(ClientError) {
    try await set(RoomTag.lowPriority, isLow, order, excluding: RoomTag.favourite)
  }

  /// Puts a tag on the room.
  /// - Parameter name: at most 255 bytes; `u.NAME` for the user's own tags.
  /// - Throws: `invalidContent` if the name is not allowed.
  public func setTag(_ name: ByteString, order: Double? = nil) async throws(ClientError) {
    try await client.perform(.rooms(.setTag(id, RoomTag(name, order: order))))
  }

  /// Removes a tag. Does nothing if the room does not have it.
  public func removeTag(_ name: ByteString) async throws(ClientError) { try await client.perform(.rooms(.removeTag(id, name))) }

  /// Puts a tag on the room and moves the room to an index among those with the tag. Changes the order of as few rooms as possible.
  public func setTag(_ name: ByteString, at index: Int) async throws(ClientError) {
    for (room, order) in await client.core.tagOrders(toMove: id, to: index, tag: name) {
      try await client.room(room).setTag(name, order: order)
    }
  }

  /// Marks the room as unread, or removes the mark. Reading the room also removes it. The change shows at once.
  public func markUnread(_ isUnread: Bool = true) async throws(ClientError) {
    try await client.perform(.reading(.markUnread(id, isUnread)))
  }

  /// Removes a message from the timelines of this account, on all its devices. Other users still see it. The change shows at once.
  public func removeForMe(_ event: EventID) async throws(ClientError) {
    try await client.perform(.timeline(.removeForMe(id, event)))
  }

  /// Records a visit: the room becomes the first of `MatrixClient.breadcrumbs`.
  public func visit() async throws(ClientError) { try await client.perform(.rooms(.visit(id))) }

  /// Makes the room the direct chat with a user. With nil, it is no longer a direct chat.
  public func setDirect(with user: UserID?) async throws(ClientError) {
    try await client.perform(.rooms(.setDirect(id, with: user)))
  }

  /// Hides the room from lists until another user sends a message. The server must support it (`MatrixClient.canHideRooms()`).
  public func hide() async throws(ClientError) { try await client.perform(.hide(id)) }

  /// Shows a hidden room again.
  public func unhide() async throws(ClientError) { try await client.perform(.unhide(id)) }

  private func set(
    _ name: ByteString, _ isSet: Bool, _ order: Double?, excluding other: ByteString
  ) async throws(ClientError) {
    guard isSet else { return try await removeTag(name) }
    try await setTag(name, order: order)
    if await state?.tag(other) != nil { try await removeTag(other) }
  }
}
