import Addresses
@testable import MediaRouter
import Testing

/// One publisher and many subscribers that are past their handshakes.
@Suite struct FanOutTests {
  private static let subscribers = 60
  private static let publisher = TransportAddress(IPAddress("192.0.2.1")!, port: 1)

  private static func master(_ number: Int) -> SRTPMaster {
    SRTPMaster(key: [UInt8](repeating: UInt8(number), count: 16), salt: [UInt8](repeating: 7, count: 12))
  }

  private static func unit(send: @escaping (SendBatch) -> Void) throws -> ForwardingUnit {
    let identity = try DTLSIdentity()
    let unit = ForwardingUnit(identity, random: SeededGenerator(seed: 1), send: send)
    for number in 0...subscribers {
      let local = ICECredentials(ufrag: Array("peer\(number)".utf8), password: Array("password".utf8))
      let parameters = TransportParameters(local: local, fingerprint: identity.fingerprint)
      unit.handle(.open(TransportID(UInt64(number)), parameters), now: .zero)
      let transport = try #require(unit.transport(ufrag: local.ufrag))
      unit.bind(transport, to: number == 0 ? publisher : TransportAddress(publisher.ip, port: UInt16(1000 + number)))
      transport.sender = SRTPSender(.aes128GCM, master(number))
      transport.receiver = SRTPReceiver(.aes128GCM, master(number), streamsLimit: 4)
    }
    unit.handle(.publish(TrackID(1), on: TransportID(0), TrackParameters(codec: .vp8, payloadType: 96)), now: .zero)
    for number in 1...subscribers {
      let parameters = SubscriptionParameters(ssrc: UInt32(number), payloadType: 96)
      unit.handle(
        .subscribe(SubscriptionID(UInt64(number)), to: TrackID(1), on: TransportID(UInt64(number)), parameters), now: .zero)
    }
    return unit
  }

  @Test func aPictureIsOneMessageForEachSubscriberHoweverManyBatchesItTakes() throws {
    var batches = 0
    var messages: [SendBatch.Message] = []
    var opened = 0
    let receivers = (0...Self.subscribers).map { SRTPReceiver(.aes128GCM, Self.master($0), streamsLimit: 4) }
    let unit = try Self.unit { batch in
      batches += 1
      messages += batch.messages
      batch.forEachDatagram { bytes, address in
        var copy = Array(bytes)
        if copy.withUnsafeMutableBytes({ receivers[Int(address.port) - 1000].open($0) }) != nil { opened += 1 }
      }
    }
    var source = VP8Source(ssrc: 5)
    source.packetsPerFrame = 20
    let sender = SRTPSender(.aes128GCM, Self.master(0))
    for (packet, rollOver) in source.frame(isKey: true) {
      var sealed = packet + [UInt8](repeating: 0, count: SRTPProfile.aes128GCM.tagBytes)
      let header = try #require(RTPHeader(packet))
      sealed.withUnsafeMutableBytes { bytes in
        let index = UInt64(rollOver) << 16 | UInt64(header.sequenceNumber)
        _ = sender.seal(
          bytes.baseAddress!, header: header.payload.lowerBound, count: packet.count, ssrc: header.ssrc, index: index)
        unit.receive(bytes, from: Self.publisher, now: .zero)
      }
    }
    unit.flush(now: .zero)
    #expect(batches > 1)
    #expect(messages.count == Self.subscribers)
    #expect(messages.allSatisfy { $0.segments == source.packetsPerFrame })
    #expect(opened == Self.subscribers * source.packetsPerFrame)
  }
}
