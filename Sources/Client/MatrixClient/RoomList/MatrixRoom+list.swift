public import ClientCore
public import MatrixModel

/// Where the room stands in lists. What is changed here shows once a sync has brought it, on all devices of the account.
extension MatrixRoom {
  /// A favourite, or no more. One of low priority is that no more.
  /// - Parameter order: its place among the favourites, 0 the first and 1 the last; nil to stand behind those that have one.
  public func setFavourite(_ isFavourite: Bool, order: Double? = nil) async throws(ClientError) {
    try await set(RoomTag.favourite, isFavourite, order, excluding: RoomTag.lowPriority)
  }

  /// Of low priority, or no more. A favourite is that no more.
  public func setLowPriority(_ isLow: Bool, order: Double? = nil) async throws(ClientError) {
    try await set(RoomTag.lowPriority, isLow, order, excluding: RoomTag.favourite)
  }

  /// - Parameter name: at most 255 bytes; `u.NAME` for tags of one's own.
  /// - Throws: `invalidContent` for a name that no tag can have.
  public func setTag(_ name: ByteString, order: Double? = nil) async throws(ClientError) {
    try await client.perform(.rooms(.setTag(id, RoomTag(name, order: order))))
  }

  /// Nothing happens where the room does not have it.
  public func removeTag(_ name: ByteString) async throws(ClientError) { try await client.perform(.rooms(.removeTag(id, name))) }

  /// Puts the tag on the room and makes it the one at that index of those that have it, by giving as few of them another order as it takes.
  public func setTag(_ name: ByteString, at index: Int) async throws(ClientError) {
    for (room, order) in await client.core.tagOrders(toMove: id, to: index, tag: name) {
      try await client.room(room).setTag(name, order: order)
    }
  }

  /// Marks the room as unread, to be looked at later, or takes that back. Reading it does so as well. Shows at once.
  public func markUnread(_ isUnread: Bool = true) async throws(ClientError) {
    try await client.perform(.reading(.markUnread(id, isUnread)))
  }

  /// Removes a message from the timelines of this account, on all its devices; for others it stays. Shows at once.
  public func removeForMe(_ event: EventID) async throws(ClientError) {
    try await client.perform(.timeline(.removeForMe(id, event)))
  }

  /// Somebody has gone to the room: it is the first of `MatrixClient.breadcrumbs`.
  public func visit() async throws(ClientError) { try await client.perform(.rooms(.visit(id))) }

  /// Makes the room the direct chat with that user; nil for one with nobody.
  public func setDirect(with user: UserID?) async throws(ClientError) {
    try await client.perform(.rooms(.setDirect(id, with: user)))
  }

  /// Out of the lists until somebody else says something, for servers with `MatrixClient.canHideRooms()`.
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
