#if DEBUG || FUZZING
  @testable import MediaRouter

  func fuzzRouter(_ bytes: UnsafeRawBufferPointer) { FuzzedForwardingUnit.run(bytes) }

  /// A forwarding unit with a publisher and a subscriber that are past their handshakes, and a third peer that is not.
  ///
  /// The input is a row of steps: a byte for the kind, one for how many bytes follow, and these.
  private enum FuzzedForwardingUnit {
    private static let identity = try! DTLSIdentity()
    private static let addresses = (1...4).map { TransportAddress(high: 0, low: 0xFFFF_C000_0200 + UInt64($0), port: 5000) }

    private static func credentials(_ i: Int) -> ICECredentials {
      ICECredentials(ufrag: Array("peer\(i)".utf8), password: Array("password".utf8))
    }

    private static func master(_ i: Int) -> SRTPMaster {
      SRTPMaster(key: [UInt8](repeating: UInt8(i), count: SRTPProfile.keyBytes), salt: [UInt8](repeating: 1, count: 12))
    }

    private final class World {
      var now = MediaTime(microseconds: 1_000_000)
      let unit: ForwardingUnit
      let senders = (0..<2).map { SRTPSender(.aes128GCM, master($0)) }
      var indices: [UInt64] = [0, 0]

      init() {
        unit = ForwardingUnit(identity, random: FuzzGenerator()) { batch in
          batch.forEachDatagram { bytes, address in
            guard bytes.count <= SendBatch.datagramLimit, addresses.contains(address) else { fatalError("who is \(address)?") }
          }
        }
        for i in 0..<3 {
          let id = TransportID(UInt64(i))
          let parameters = TransportParameters(
            local: credentials(i), remoteUfrag: [], remotePassword: Array("theirs".utf8), fingerprint: identity.fingerprint)
          unit.handle(.open(id, parameters), now: now)
          guard i < 2, let transport = unit.transport(ufrag: credentials(i).ufrag) else { continue }
          unit.bind(transport, to: addresses[i])
          transport.receiver = SRTPReceiver(.aes128GCM, master(i), streamsLimit: unit.limits.streamsOfTransport)
          transport.sender = SRTPSender(.aes128GCM, master(10 + i))
        }
        for (i, codec) in [Codec.vp8, .vp9, .h264, .av1, .opus].enumerated() { exchange(UInt64(i), codec) }
      }

      /// Peer 0 publishes, peer 1 gets it.
      private func exchange(_ number: UInt64, _ codec: Codec) {
        var track = TrackParameters(codec: codec, payloadType: 96 + UInt8(number))
        track.rtxPayloadType = 106 + UInt8(number)
        (track.hasNack, track.hasPictureLoss, track.hasTransportFeedback) = (true, true, true)
        for (i, name) in HeaderExtension.allCases.enumerated() { track.extensions[name] = UInt8(i + 1) }
        if number == 0 { track.layers = ["a", "b", "c"].map { TrackParameters.Layer(rid: Array($0.utf8)) } }
        unit.handle(.publish(TrackID(number), on: TransportID(0), track), now: now)
        var subscription = SubscriptionParameters(ssrc: 100 + UInt32(number), payloadType: 96)
        (subscription.rtxSSRC, subscription.rtxPayloadType) = (200 + UInt32(number), 97)
        subscription.hasNack = true
        subscription.extensions = track.extensions
        unit.handle(
          .subscribe(SubscriptionID(number), to: TrackID(number), on: TransportID(1), subscription), now: now)
      }

      func receive(_ bytes: [UInt8], from address: TransportAddress) {
        var copy = bytes
        copy.withUnsafeMutableBytes { unit.receive($0, from: address, now: now) }
      }

      /// As authentic media of a peer.
      func receiveMedia(_ bytes: [UInt8], _ peer: Int) {
        guard let header = RTPHeader(bytes.span.bytes, isSealed: true) else { return }
        // Numbers go on, or nothing would be fresh.
        indices[peer] += 1
        var packet = bytes
        packet.store(UInt16(truncatingIfNeeded: indices[peer]), at: 2)
        packet += [UInt8](repeating: 0, count: SRTPProfile.aes128GCM.tagBytes)
        _ = packet.withUnsafeMutableBytes {
          senders[peer].seal(
            $0.baseAddress!, header: header.payload.lowerBound, count: bytes.count, ssrc: header.ssrc, index: indices[peer])
        }
        receive(packet, from: addresses[peer])
      }

      func receiveControl(_ bytes: [UInt8], _ peer: Int) {
        guard bytes.count >= SRTPTransform.controlHeaderBytes else { return }
        receive(senders[peer].sealControl(bytes), from: addresses[peer])
      }

      /// As an authentic check with these attributes.
      func receiveCheck(_ bytes: [UInt8], _ peer: Int, from address: TransportAddress) {
        var writer = STUNWriter(.bindingRequest, transactionID: [UInt8](repeating: 7, count: 12))
        writer.username(credentials(peer).ufrag + [UInt8(ascii: ":")])
        writer.append(bytes + [UInt8](repeating: 0, count: -bytes.count & 3))
        receive(writer.seal(key: HMACSHA1(key: credentials(peer).password)), from: address)
      }
    }

    static func run(_ bytes: UnsafeRawBufferPointer) {
      let world = World()
      var offset = 0
      while offset + 2 <= bytes.count {
        let end = min(bytes.count, offset + 2 + Int(bytes[offset + 1]))
        step(bytes[offset], Array(bytes[(offset + 2)..<end]), world)
        offset = end
        world.unit.flush(now: world.now)
        world.unit.events.removeAll()
        if let tapped = world.unit.takeTapped() { check(tapped) }
      }
      world.now = world.now + .seconds(2)
      world.unit.advance(to: world.now)
      guard world.unit.counts.addresses <= world.unit.counts.transports else { fatalError("state for a stranger") }
    }

    private static func check(_ tapped: TappedBatch) {
      for packet in tapped.packets {
        guard packet.media.lowerBound >= 0, packet.media.upperBound <= tapped.bytes.count else { fatalError("tapped beyond") }
      }
    }

    private static func step(_ kind: UInt8, _ body: [UInt8], _ world: World) {
      let peer = Int(kind >> 3) & 1
      switch kind & 7 {
      case 0: world.receive(body, from: addresses[Int(kind >> 3) & 3])
      case 1, 2: world.receiveMedia(body, peer)
      case 3: world.receiveControl(body, peer)
      case 4: world.receiveCheck(body, Int(kind >> 3) % 3, from: addresses[Int(kind >> 5) & 3])
      case 5:
        world.now = world.now + .milliseconds(Int64(body.first ?? 10))
        world.unit.advance(to: world.now)
      default: command(kind >> 3, UInt64((body.first ?? 0) % 6), body.dropFirst().first ?? 0, world)
      }
    }

    private static func command(_ kind: UInt8, _ number: UInt64, _ value: UInt8, _ world: World) {
      let subscription = SubscriptionID(number)
      let command: RouterCommand =
        switch kind % 10 {
        case 0: .limit(subscription, LayerLimit(spatial: Int(value >> 4), temporal: value & 7))
        case 1: .pause(subscription, value & 1 == 0)
        case 2: .mute(TrackID(number), value & 1 == 0)
        case 3: .unsubscribe(subscription)
        case 4: .unpublish(TrackID(number))
        case 5: .close(TransportID(number))
        case 8: .tap(subscription, of: TrackID(UInt64(value) % 6))
        case 9: .refresh(subscription)
        case 6: .restart(TransportID(number), credentials(Int(value) + 3), remoteUfrag: nil)
        default:
          .subscribe(subscription, to: TrackID(number), on: TransportID(1), SubscriptionParameters(ssrc: 5, payloadType: 96))
        }
      world.unit.handle(command, now: world.now)
    }
  }
#endif
