import JSON
import MediaRouter

/// What the router tells.
extension SessionLogic {
  package mutating func handle(_ event: RouterEvent) {
    switch event {
    case .connected(let transport):
      if let id = transports[transport] { connections[id]?.peer?.wasConnected = true }
      sayTransport("connected", transport)
    case .silent(let transport): sayTransport("lost", transport)
    case .recovered(let transport): sayTransport("connected", transport)
    case .ended(let transport, let end):
      guard let id = transports[transport] else { return }
      // Who says goodbye knows.
      if end != .goodbye { sayTransport("ended", transport) }
      forgetTransport(of: id)
    case .refused(let transport):
      // Without its transport a connection would wait for media in vain.
      guard let id = transports[transport], connections[id]?.peer?.wasConnected == false else { return }
      end(id, .lost, CallRefusal(.limit, "The server has no room for another peer connection."))
    // Publishers have no word for `demand` yet.
    case .counts, .demand: break
    case .trackStarted(let track): if let stream = tracks[track] { announce(stream) }
    case .layer(let subscription, let layer): takeLayer(layer, of: subscription)
    case .speaker(_, let track):
      guard let stream = tracks[track], streams[stream]?.isAnnounced == true else { return }
      sayToAll(Self.message("speaker") { $0.member("stream", stream) })
    }
    settle()
  }

  private mutating func sayTransport(_ state: StaticString, _ transport: TransportID) {
    guard let id = transports[transport] else { return }
    say(Self.message("transport") { $0.member("state", state.description) }, to: id)
  }

  private mutating func takeLayer(_ layer: Int?, of name: SubscriptionID) {
    guard let subscription = subscriptions[name], !subscription.isAudio, subscription.isStarved != (layer == nil) else {
      return
    }
    subscriptions[name]?.isStarved = layer == nil
    sayVideo(layer != nil, of: subscription.stream, "quality", to: subscription.connection)
  }
}
