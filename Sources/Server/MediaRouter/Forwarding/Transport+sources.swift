extension Transport {
  /// Which track and layer a packet belongs to: by its SSRC, or the first time by what its header says. RFC 8843 §9.2, RFC 8853 §5.
  func source(of header: RTPHeader, _ packet: RawSpan, _ limits: RouterLimits) -> Source? {
    if let known = source(header.ssrc) { return known }
    guard sources.count < limits.streamsOfTransport else { return nil }
    for track in tracks {
      let parameters = track.parameters
      let isRetransmission = header.payloadType == parameters.rtxPayloadType
      guard isRetransmission || header.payloadType == parameters.payloadType else { continue }
      if let mid = HeaderExtensions.value(parameters.extensions.mid, of: header, in: packet), !parameters.mid.isEmpty {
        guard packet.bytes(mid) == parameters.mid else { continue }
      } else if tracks.contains(where: { $0 !== track && $0.parameters.payloadType == parameters.payloadType }) {
        // Two sections of one payload type cannot be told apart without it.
        continue
      }
      let name = isRetransmission ? parameters.extensions.repairedStreamID : parameters.extensions.streamID
      let rid = HeaderExtensions.value(name, of: header, in: packet).map { packet.bytes($0) } ?? []
      guard let layer = track.layer(rid: rid) else { continue }
      return learn(header.ssrc, track, layer, isRetransmission: isRetransmission)
    }
    return nil
  }

  @discardableResult func learn(_ ssrc: UInt32, _ track: Track, _ layer: Int, isRetransmission: Bool) -> Source {
    if isRetransmission { track.layers[layer].rtxSSRC = ssrc } else { track.layers[layer].ssrc = ssrc }
    let source = Source(ssrc: ssrc, track: track, layer: layer, isRetransmission: isRetransmission)
    sources.append(source)
    return source
  }
}
