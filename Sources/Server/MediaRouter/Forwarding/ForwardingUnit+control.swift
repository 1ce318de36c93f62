extension ForwardingUnit {
  func receiveControl(_ datagram: UnsafeMutableRawBufferPointer, from address: TransportAddress, _ now: MediaTime) {
    guard let transport = transport(heardAt: address), let receiver = transport.receiver,
      let count = receiver.openControl(datagram)
    else { return }
    noteActivity(of: transport, now: now)
    let bytes = UnsafeRawBufferPointer(rebasing: datagram[..<count]).bytes
    // Where nothing is estimated nobody needs it.
    let budget = transport.path.sender?.budget.left ?? 0
    var reader = RTCPReader(feedbackPackets: budget)
    while let packet = reader.next(in: bytes) { receive(packet, on: transport, now) }
    transport.path.sender?.charge(budget - reader.feedbackPackets)
    sendRepairs(transport, now: now)
  }

  private func receive(_ packet: RTCPPacket, on transport: Transport, _ now: MediaTime) {
    switch packet {
    case .senderReport(let report, let reports):
      receive(reports, on: transport, now)
      guard let source = transport.source(report.ssrc), !source.isRetransmission else { return }
      let layer = source.track.layers[source.layer]
      layer.lastSenderReport = report
      relay(report, of: source.track, source.layer)
      tapReport(report, of: source, now)
      layer.statistics.receive(report, now: now)
    case .nack(_, let media, let lost):
      guard let subscription = transport.subscription(ssrc: media), subscription.canResend else { return }
      for pair in lost {
        pair.forEach { number in
          guard !transport.repairs.isFull, let index = subscription.history.want(number, now: now) else { return }
          transport.repairs.append(RepairQueue.Request(subscription: subscription, index: index, asked: now))
        }
      }
    case .pictureLoss(_, let media):
      if let subscription = transport.subscription(ssrc: media) { wantKeyFrame(subscription) }
    case .fullIntra(_, let requests):
      for request in requests {
        if let subscription = transport.subscription(ssrc: request.ssrc) { wantKeyFrame(subscription) }
      }
    case .receiverEstimate(_, let rate, _): transport.path.receive(estimate: rate, now: now)
    case .receiverReport(_, let reports): receive(reports, on: transport, now)
    case .transportFeedback(let feedback):
      if let loss = transport.path.sender?.receive(feedback, now: now) { receive(loss, on: transport, now) }
    // What a subscriber reports ends here.
    case .goodbye: break
    }
  }

  /// Only where no feedback tells of single packets. What is lost of video counts while any is sent, else of sound: what rests reports no loss, and
  /// repairs are too few to tell.
  private func receive(_ reports: [ReceptionReport], on transport: Transport, _ now: MediaTime) {
    guard transport.path.sender == nil else { return }
    for report in reports {
      guard let subscription = transport.subscriptions.first(where: { $0.parameters.ssrc == report.ssrc }) else { continue }
      let loss = subscription.lastReport.flatMap(report.loss(since:))
      subscription.lastReport = report
      guard let loss, subscription.track.parameters.codec.isVideo == transport.sendsVideo else { continue }
      receive(loss, on: transport, now)
    }
  }

  private func receive(_ loss: PacketLoss, on transport: Transport, _ now: MediaTime) {
    let sent = transport.rate.bitsPerSecond(now: now)
    if transport.path.receive(loss, sent: sent, isLeast: !transport.sendsVideo, now: now) { transport.allocator.forgive() }
  }

  /// Asks the publisher for a key frame of the layer that the subscriber gets or shall get, together with the others that ask.
  func wantKeyFrame(_ subscription: Subscription) {
    guard subscription.track.parameters.codec.isVideo, let layer = subscription.source ?? subscription.layer else {
      return
    }
    subscription.track.layers[layer].keyFrames.want()
  }

  // MARK: To publishers

  /// Requests for lost packets and key frames, for each track of the transport.
  func requestRepairs(_ transport: Transport, now: MediaTime) {
    guard transport.tracks.contains(where: \.needsRepair), let sender = transport.sender,
      let address = transport.address
    else { return }
    var writer = RTCPWriter()
    writer.receiverReport(sender: transport.reporterSSRC)
    let empty = writer.bytes.count
    for track in transport.tracks where track.parameters.codec.isVideo {
      for layer in track.layers where layer.ssrc != 0 {
        if track.parameters.hasNack {
          let lost = layer.losses.requests(now: now)
          if !lost.isEmpty { writer.nack(sender: transport.reporterSSRC, media: layer.ssrc, lost: [NackPair](lost)) }
        }
        // What was lost for good stands still until the next key frame.
        if layer.losses.takeGivenUp() && track.isWatched { layer.keyFrames.want() }
        if track.parameters.hasPictureLoss, layer.keyFrames.take(now: now) {
          writer.pictureLoss(sender: transport.reporterSSRC, media: layer.ssrc)
        }
      }
    }
    guard writer.bytes.count > empty, writer.bytes.count <= Self.controlLimit else { return }
    send(sender.sealControl(writer.bytes), to: address)
  }

  /// Leaves room for what sealing adds.
  static let controlLimit = SendBatch.datagramLimit - 64

  func sendFeedback(_ transport: Transport, now: MediaTime) {
    guard !transport.feedback.isEmpty, let sender = transport.sender, let address = transport.address,
      let feedback = transport.feedback.take(
        sender: transport.reporterSSRC, media: transport.sources.first?.ssrc ?? 0)
    else { return }
    var writer = RTCPWriter()
    writer.receiverReport(sender: transport.reporterSSRC)
    writer.transportFeedback(feedback)
    guard writer.bytes.count <= Self.controlLimit else { return }
    send(sender.sealControl(writer.bytes), to: address)
  }

  /// Reports on what arrives from the peer and on what goes to it. RFC 3550 §6.4.
  func sendReports(_ transport: Transport, now: MediaTime) {
    guard let sender = transport.sender, let address = transport.address else { return }
    var reports: [ReceptionReport] = []
    for track in transport.tracks {
      for layer in track.layers where layer.ssrc != 0 {
        if let report = layer.statistics.report(layer.ssrc, now: now) { reports.append(report) }
      }
    }
    for start in stride(from: 0, to: reports.count, by: 31) {
      var writer = RTCPWriter()
      writer.receiverReport(sender: transport.reporterSSRC, reports: Array(reports[start..<min(start + 31, reports.count)]))
      writer.canonicalName(Self.canonicalName, of: transport.reporterSSRC)
      send(sender.sealControl(writer.bytes), to: address)
    }
    sendCap(transport, sender, to: address)
    for subscription in transport.subscriptions {
      guard let report = subscription.senderReport() else { continue }
      var writer = RTCPWriter()
      writer.senderReport(report)
      writer.canonicalName(Self.canonicalName, of: report.ssrc)
      send(sender.sealControl(writer.bytes), to: address)
    }
  }

  /// As if it were all that the path from the peer carries. draft-alvestrand-rmcat-remb-03 §2.
  private func sendCap(_ transport: Transport, _ sender: SRTPSender, to address: TransportAddress) {
    let videos = transport.tracks.filter { $0.parameters.codec.isVideo && $0.parameters.hasReceiverEstimate }
    let ssrcs = videos.flatMap(\.layers).map(\.ssrc).filter { $0 != 0 }
    guard let cap = transport.cap, !ssrcs.isEmpty else { return }
    var writer = RTCPWriter()
    writer.receiverReport(sender: transport.reporterSSRC)
    writer.receiverEstimate(sender: transport.reporterSSRC, bitsPerSecond: cap, ssrcs: Array(ssrcs.prefix(255)))
    send(sender.sealControl(writer.bytes), to: address)
  }

  private static let canonicalName = Array("martlet".utf8)
}

extension Subscription {
  /// The publisher's pair of clocks, the RTP time as this subscriber has it: sound and picture stay together. nil before both are known.
  func senderReport() -> SenderReport? {
    guard let layer, packetCount > 0, let source = track.layers[layer].lastSenderReport else { return nil }
    return SenderReport(
      ssrc: parameters.ssrc, ntpTime: source.ntpTime, rtpTime: source.rtpTime &+ rewriter.timestampOffset,
      packetCount: packetCount, octetCount: octetCount)
  }
}
