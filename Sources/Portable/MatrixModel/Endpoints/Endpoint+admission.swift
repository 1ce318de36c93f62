import JSON

/// What guests, suspended and locked accounts may call. One table for each, so that it can be held against the prose.
extension Endpoint {
  /// Whether a guest's session may call it. What anyone may call, a guest may.
  ///
  /// Spec: Client-Server API, "Guest Access".
  public var isOpenToGuests: Bool { access == .anyone || isListed(in: Self.openToGuests) }

  /// Whether suspended users may not call it. They may redact, because they may redact their own events.
  ///
  /// Spec: Client-Server API, "Account suspension".
  public var isClosedToSuspended: Bool { isListed(in: Self.closedToSuspended) }

  /// Whether a locked or expired account's session may call it. Spec: Client-Server API, "Account locking".
  public var isLogout: Bool { isListed(in: [(.post, "logout"), (.post, "logout/all")]) }

  private static let openToGuests: [(Method, StaticString)] = [
    (.get, "rooms/{roomId}/state"), (.get, "rooms/{roomId}/context/{eventId}"), (.get, "rooms/{roomId}/event/{eventId}"),
    (.get, "rooms/{roomId}/state/{eventType}/{stateKey}"), (.get, "rooms/{roomId}/messages"),
    (.get, "rooms/{roomId}/members"), (.get, "rooms/{roomId}/initialSync"), (.get, "sync"), (.get, "events"),
    (.get, "media/download/{serverName}/{mediaId}"), (.get, "media/download/{serverName}/{mediaId}/{fileName}"),
    (.get, "media/thumbnail/{serverName}/{mediaId}"), (.post, "join/{roomIdOrAlias}"), (.post, "rooms/{roomId}/join"),
    (.post, "rooms/{roomId}/leave"),
    (.put, "rooms/{roomId}/send/{eventType}/{txnId}"), (.put, "rooms/{roomId}/state/{eventType}/{stateKey}"),
    (.put, "sendToDevice/{eventType}/{txnId}"), (.put, "profile/{userId}/{keyName}"),
    (.delete, "profile/{userId}/{keyName}"), (.get, "devices"), (.get, "devices/{deviceId}"),
    (.put, "devices/{deviceId}"), (.get, "account/whoami"), (.post, "keys/upload"), (.post, "keys/query"),
    (.post, "keys/claim"), (.get, "voip/turnServer"),
    (.put, "org.matrix.msc4140/rooms/{roomId}/delayed_event/{eventType}/{txnId}"),
    (.get, "org.matrix.msc4140/delayed_events"), (.get, "org.matrix.msc4140/delayed_events/{delayId}")
  ]

  /// What the prose forbids, and what comes to the same: making and replacing rooms, names for them, acting on members.
  private static let closedToSuspended: [(Method, StaticString)] = [
    (.post, "createRoom"), (.post, "join/{roomIdOrAlias}"), (.post, "rooms/{roomId}/join"),
    (.post, "knock/{roomIdOrAlias}"), (.post, "rooms/{roomId}/invite"), (.post, "rooms/{roomId}/kick"),
    (.post, "rooms/{roomId}/ban"), (.post, "rooms/{roomId}/unban"), (.post, "rooms/{roomId}/upgrade"),
    (.put, "rooms/{roomId}/send/{eventType}/{txnId}"), (.put, "rooms/{roomId}/state/{eventType}/{stateKey}"),
    (.put, "profile/{userId}/{keyName}"), (.delete, "profile/{userId}/{keyName}"),
    (.put, "directory/room/{roomAlias}"), (.delete, "directory/room/{roomAlias}"),
    (.put, "directory/list/room/{roomId}"),
    (.put, "org.matrix.msc4140/rooms/{roomId}/delayed_event/{eventType}/{txnId}"),
    (.post, "martlet.direct"), (.post, "martlet.rejoin/{roomId}"), (.post, "martlet.bulk/invite"),
    (.post, "martlet.invite_links"), (.post, "martlet.invite_links/join"),
    (.post, "martlet.call/rooms/{roomId}/token")
  ]

  private func isListed(in list: [(Method, StaticString)]) -> Bool {
    guard let rest else { return false }
    return list.contains { $0.0 == method && rest == $0.1 }
  }

  /// What follows `/_matrix/client/v1/`, `/_matrix/client/v3/` or `/_matrix/client/unstable/`.
  private var rest: ByteString? {
    let path = ByteString(decoding: UnsafeBufferPointer(start: pattern.utf8Start, count: pattern.utf8CodeUnitCount))
    if path.hasPrefix("/_matrix/client/unstable/") { return ByteString(decoding: path.utf8.dropFirst(25)) }
    guard path.hasPrefix("/_matrix/client/v3/") || path.hasPrefix("/_matrix/client/v1/") else { return nil }
    return ByteString(decoding: path.utf8.dropFirst(19))
  }
}
