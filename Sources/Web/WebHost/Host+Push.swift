import Messenger

/// What a push service gave this browser. Push API.
public struct PushSubscription {
  /// Where servers push to.
  public let url: String
  /// With which they encrypt, in URL-safe Base64.
  public let key: String
  public let secret: String
  /// The browser ends subscriptions that show nothing for a push.
  public let mustShow: Bool
}

extension Host {
  /// Subscribes, or finds the subscription that there is; `Web/sw-push.js` shows what is pushed from then on. `then` gets nil where the
  /// browser or its push service does not do it.
  /// - Parameter key: of the server that will push.
  public static func subscribe(key: String, _ then: @escaping (PushSubscription?) -> Void) {
    let id = registerOnce { event in
      let lines = event.bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
      guard lines.count == 3 else { return then(nil) }
      then(PushSubscription(url: lines[0], key: lines[1], secret: lines[2], mustShow: event.code == 2))
    }
    hostPushSubscribe(id, key)
  }

  /// Nothing is pushed any more, and no notification is left.
  public static func unsubscribe() { hostPushUnsubscribe() }
}
