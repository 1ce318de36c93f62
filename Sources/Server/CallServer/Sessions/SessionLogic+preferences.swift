import JSON
import MediaRouter

/// Which quality of a stream a subscriber gets.
extension SessionLogic {
  mutating func prefer(_ name: StreamID, _ preference: Preference, by id: ConnectionID) throws(CallRefusal) {
    guard let stream = streams[name], stream.isAnnounced else { throw .noStream }
    connections[id]?.preferences[name] = preference
    for subscription in subscriptions(of: id, to: name) { apply(preference, to: subscription) }
  }

  /// The sizes of a stream's layers are others.
  mutating func applyPreferences(to name: StreamID) {
    for (subscription, content) in subscriptions where content.stream == name {
      guard let preference = connections[content.connection]?.preferences[name] else { continue }
      apply(preference, to: subscription)
    }
  }

  mutating func apply(_ preference: Preference, to name: SubscriptionID) {
    guard let subscription = subscriptions[name], let stream = streams[subscription.stream] else { return }
    let isWanted = (subscription.isAudio ? preference.audio : preference.video) ?? true
    if isWanted == subscription.isPaused {
      subscriptions[name]?.isPaused = !isWanted
      tell(.pause(name, !isWanted), on: subscription.worker)
      if !subscription.isAudio { sayVideo(isWanted, of: stream.id, "subscriber", to: subscription.connection) }
    }
    if !subscription.isAudio, let track = stream.video {
      let limit = Self.limit(preference, stream.description, layers: track.layerCount)
      tell(.limit(name, limit), on: subscription.worker)
    }
  }

  private func subscriptions(of id: ConnectionID, to name: StreamID) -> [SubscriptionID] {
    subscriptions.filter { $0.value.connection == id && $0.value.stream == name }.map(\.key)
  }

  /// The lowest layer that is as large as wanted. Each layer has half the sides of the next; a temporal layer half the frames.
  static func limit(_ preference: Preference, _ stream: StreamDescription, layers: Int) -> LayerLimit {
    var limit = LayerLimit.highest
    if let rate = preference.frameRate { limit.temporal = rate <= 8 ? 0 : rate <= 15 ? 1 : limit.temporal }
    let sides = [(preference.width, stream.width), (preference.height, stream.height)]
    let known = sides.compactMap { wanted, full in wanted.flatMap { full > 0 ? ($0, full) : nil } }
    guard !known.isEmpty, layers > 0 else { return limit }
    for spatial in 0..<layers {
      let halvings = Int64(layers - 1 - spatial)
      if known.allSatisfy({ wanted, full in full >> halvings >= wanted }) {
        limit.spatial = spatial
        return limit
      }
    }
    return limit
  }
}
