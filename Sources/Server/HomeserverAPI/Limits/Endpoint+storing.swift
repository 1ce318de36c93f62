import MatrixModel

extension Endpoint {
  /// Whether a request stores something new, and is therefore refused while the disk is full.
  ///
  /// The requests below change something and are served all the same. They also store a little, from the reserve.
  var storesMore: Bool {
    guard method == .put || method == .post, access != .administrator else { return false }
    return !Self.servedWithoutSpace.contains(name)
  }

  private var name: String { "\(method) \(pattern)" }

  private static let servedWithoutSpace = Set(
    [
      // Signing in and out
      login, logout, logoutAll, refresh, generateLoginToken, changePassword, deactivateAccount, deleteDevices,
      requestOpenIdToken, unbind3pidFromAccount, delete3pidFromAccount,
      // Deleting and leaving
      redactEvent, leaveRoom, leaveRooms, forgetRoom, updateDelayedEvent, performOnDelayedEvent,
      // Moderation
      kick, ban, unban,
      // Reading
      slidingSync, defineFilter, search, searchUserDirectory, queryPublicRooms, describeInviteLink, queryKeys, claimKeys,
      postReceipt,
      setReadMarker, markAllRead, setTyping, setPresence
    ].map(\.name))
}
