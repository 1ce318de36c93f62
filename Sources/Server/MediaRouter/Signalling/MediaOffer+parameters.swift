extension MediaOffer {
  /// The first offered format of a codec; of H.264 one whose pictures may be cut into packets, of the same profile if there is one.
  ///
  /// - Parameter parameters: of the publisher's format, for a subscriber that must decode it.
  package func format(_ codec: Codec, like parameters: String? = nil) -> Format? {
    let candidates = formats.filter { $0.codec == codec }
    guard codec == .h264 else { return candidates.first }
    let usable = candidates.filter { $0.parameters?.contains("packetization-mode=1") ?? false }
    let profile = parameters.flatMap(Self.profile)
    return usable.first { profile != nil && $0.parameters.flatMap(Self.profile) == profile } ?? usable.first
  }

  /// The first four digits of `profile-level-id`: profile and constraints without the level. RFC 6184 §8.1.
  private static func profile(_ parameters: String) -> Substring? {
    let part = parameters.split(separator: ";").first { $0.contains("profile-level-id=") }
    return part?.split(separator: "=").last.map { $0.prefix(4) }
  }

  /// What the router must know to take this section in that format. nil for a codec it does not know.
  package func trackParameters(_ format: Format) -> TrackParameters? {
    guard let codec = format.codec else { return nil }
    var track = TrackParameters(codec: codec, payloadType: format.payloadType)
    track.rtxPayloadType = format.rtxPayloadType
    track.mid = Array(mid.utf8)
    track.extensions = extensions
    track.hasNack = format.feedback.contains("nack")
    track.hasPictureLoss = format.feedback.contains("nack pli")
    track.hasTransportFeedback = format.feedback.contains("transport-cc")
    track.hasReceiverEstimate = format.feedback.contains("goog-remb")
    if rids.isEmpty {
      track.layers = [TrackParameters.Layer(ssrc: sources.first?.ssrc, rtxSSRC: sources.first?.rtxSSRC)]
    } else {
      track.layers = rids.map { TrackParameters.Layer(rid: Array($0.utf8)) }
    }
    if !track.hasTransportFeedback { track.extensions.transportSequence = 0 }
    return track
  }

  /// How the router sends to this section in that format.
  package func subscriptionParameters(_ format: Format, ssrc: UInt32, rtxSSRC: UInt32?) -> SubscriptionParameters {
    var subscription = SubscriptionParameters(ssrc: ssrc, payloadType: format.payloadType)
    subscription.mid = Array(mid.utf8)
    subscription.extensions = extensions
    subscription.hasNack = format.feedback.contains("nack")
    if let rtx = format.rtxPayloadType { (subscription.rtxSSRC, subscription.rtxPayloadType) = (rtxSSRC, rtx) }
    // Either the receiver tells what arrives, or it estimates by the times of sending.
    if !format.feedback.contains("transport-cc") { subscription.extensions.transportSequence = 0 }
    if subscription.extensions.transportSequence != 0 { subscription.extensions.sendTime = 0 }
    return subscription
  }
}
