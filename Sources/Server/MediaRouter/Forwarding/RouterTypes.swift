/// Identifies a transport. The sender of the command that creates something chooses its ID and never uses it again.
package struct TransportID: Sendable, Hashable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
}

package struct TrackID: Sendable, Hashable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
}

package struct SubscriptionID: Sendable, Hashable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
}

/// One of several workers, by its place among them.
package struct WorkerID: Sendable, Hashable {
  package let number: Int
  package init(_ number: Int) { self.number = number }
}

/// What a forwarding unit makes state for at most.
package struct RouterLimits: Sendable {
  package var transports = 10_000
  package var tracksOfTransport = 32
  package var subscriptionsOfTransport = 512
  /// SSRCs of one peer that are opened. They are not forgotten while it lives, or their packets could be replayed; each time it publishes anew, it
  /// has new ones.
  package var streamsOfTransport = 512
  /// TCP connections with one peer, which has one for each of its pairs.
  package var connectionsOfTransport = 8
  /// Of one layer's cache.
  package var cacheBytes = 1 << 20

  package init() {}
}

/// RFC 8445 §5.3: 4 to 256 characters of ufrag, 22 to 256 of password.
package struct ICECredentials: Sendable, Equatable {
  package let ufrag: [UInt8]
  package let password: [UInt8]

  package init(ufrag: [UInt8], password: [UInt8]) {
    self.ufrag = ufrag
    self.password = password
  }

  /// Random ones: 48 bits to be told apart, 144 bits of secret.
  package static func random(using generator: inout some RandomNumberGenerator) -> ICECredentials {
    let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    func text(_ count: Int) -> [UInt8] { (0..<count).map { _ in characters.randomElement(using: &generator)! } }
    return ICECredentials(ufrag: text(8), password: text(24))
  }
}

package struct TransportParameters: Sendable {
  /// Ours; the peer's checks carry them.
  package var local: ICECredentials
  /// nil where any is taken.
  package var remoteUfrag: [UInt8]?
  /// With it the peer is asked whether it is where its checks say; nil where that is believed.
  package var remotePassword: [UInt8]?
  package var fingerprint: Fingerprint
  /// Whether the peer waits for our handshake (`a=setup:passive`).
  package var isDTLSClient: Bool

  package init(
    local: ICECredentials, remoteUfrag: [UInt8]? = nil, remotePassword: [UInt8]? = nil, fingerprint: Fingerprint,
    isDTLSClient: Bool = false
  ) {
    self.local = local
    self.remoteUfrag = remoteUfrag
    self.remotePassword = remotePassword
    self.fingerprint = fingerprint
    self.isDTLSClient = isDTLSClient
  }
}

/// What a publisher sends in one media section.
package struct TrackParameters: Sendable, Equatable {
  package struct Layer: Sendable, Equatable {
    /// `a=rid`; empty where there is only one layer.
    package var rid: [UInt8]
    /// Where SDP tells them; otherwise learnt from header extensions.
    package var ssrc: UInt32?
    package var rtxSSRC: UInt32?

    package init(rid: [UInt8] = [], ssrc: UInt32? = nil, rtxSSRC: UInt32? = nil) {
      self.rid = rid
      self.ssrc = ssrc
      self.rtxSSRC = rtxSSRC
    }
  }

  /// More layers of one track are not taken.
  package static let layersLimit = 4

  package var codec: Codec
  package var payloadType: UInt8
  package var rtxPayloadType: UInt8?
  /// Tracks of one number are heard together: among them is one dominant speaker. nil where another worker hears it.
  package var session: UInt64? = 0
  package var mid: [UInt8] = []
  package var extensions = ExtensionIDs()
  /// From the lowest quality to the highest; at least one.
  package var layers = [Layer()]
  /// `a=rtcp-fb` has `nack`, `nack pli`, `transport-cc`, `goog-remb`.
  package var hasNack = false
  package var hasPictureLoss = false
  package var hasTransportFeedback = false
  package var hasReceiverEstimate = false

  package init(codec: Codec, payloadType: UInt8) {
    self.codec = codec
    self.payloadType = payloadType
  }

  /// Its layers are spatial ones within one SSRC, not SSRCs of a simulcast.
  var isScalable: Bool { layers.count == 1 && codec.isScalable }
  /// Of scalable video it is known only from what comes.
  var highestLayer: Int { isScalable ? Self.layersLimit - 1 : layers.count - 1 }
}

/// How a subscriber gets a track.
package struct SubscriptionParameters: Sendable, Equatable {
  package var ssrc: UInt32
  package var payloadType: UInt8
  /// Both or none.
  package var rtxSSRC: UInt32?
  package var rtxPayloadType: UInt8?
  package var mid: [UInt8] = []
  package var extensions = ExtensionIDs()
  package var hasNack = false

  package init(ssrc: UInt32, payloadType: UInt8) {
    self.ssrc = ssrc
    self.payloadType = payloadType
  }
}

/// Which of a track's layers a subscription may get at most.
package struct LayerLimit: Sendable, Equatable {
  package var spatial: Int
  package var temporal: UInt8

  package init(spatial: Int, temporal: UInt8 = 7) {
    self.spatial = spatial
    self.temporal = temporal
  }

  package static let highest = LayerLimit(spatial: TrackParameters.layersLimit - 1)
}

/// What a forwarding unit is told. A command that names something gone, or that a limit forbids, does nothing but an event.
package enum RouterCommand: Sendable {
  case open(TransportID, TransportParameters)
  /// New ICE credentials of both sides for a living transport; DTLS and SRTP go on. The old ones count until a pair of the new ones is
  /// nominated. RFC 8445 §9.
  case restart(TransportID, ICECredentials, remoteUfrag: [UInt8]?, remotePassword: [UInt8]? = nil)
  case close(TransportID)
  case publish(TrackID, on: TransportID, TrackParameters)
  case unpublish(TrackID)
  /// A track whose publisher another worker has: what that one opens is relayed to this forwarding unit, for the subscribers that are here. It ends with
  /// `unpublish`.
  case accept(TrackID, from: WorkerID, TrackParameters)
  case subscribe(SubscriptionID, to: TrackID, on: TransportID, SubscriptionParameters)
  /// Copies what leaves of a track to `ForwardingUnit.tapped`, for recordings. One tap a track.
  case tap(SubscriptionID, of: TrackID)
  case unsubscribe(SubscriptionID)
  /// At most these layers, whatever the bandwidth.
  case limit(SubscriptionID, LayerLimit)
  case pause(SubscriptionID, Bool)
  /// A tap lacks something and has to begin anew: the publisher is asked for a key frame.
  case refresh(SubscriptionID)
  /// Nothing of it is forwarded to anyone while it is muted.
  case mute(TrackID, Bool)
  /// Asks a publisher to send so many bits a second of video at most; nil takes it back.
  case cap(TransportID, UInt64?)
  /// Is answered with `RouterEvent.counts`.
  case count
}

/// How much state a forwarding unit has.
package struct RouterCounts: Sendable, Equatable {
  package var transports: Int
  package var tracks: Int
  package var subscriptions: Int
  /// Nominated ones.
  package var addresses: Int
}

/// What a forwarding unit tells.
package enum RouterEvent: Sendable, Equatable {
  package enum End: Sendable, Equatable {
    /// The handshake failed or took too long; also a wrong fingerprint.
    case handshake
    /// Nothing authentic for `Connectivity.consentLimit`. RFC 7675 §5.1.
    case silence
    /// The peer said goodbye.
    case goodbye
  }

  case connected(TransportID)
  /// Nothing authentic came for `Connectivity.silenceLimit`. It ends if it stays so, or is `recovered`.
  case silent(TransportID)
  case recovered(TransportID)
  /// The transport and all that was on it are gone.
  case ended(TransportID, End)
  /// A limit, or an identifier that is known already or not at all.
  case refused(TransportID)
  case trackStarted(TrackID)
  /// The layer that a subscriber's path carries has changed; nil where its video rests so that sound goes on.
  case layer(SubscriptionID, Int?)
  /// Nobody may get a higher layer of the track than this one; nil where nobody gets anything of it. Told to its publisher, it saves what nobody sees.
  case demand(TrackID, Int?)
  case counts(RouterCounts)
  /// The dominant speaker of a session.
  case speaker(session: UInt64, TrackID)
}
