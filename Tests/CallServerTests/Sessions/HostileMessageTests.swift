import JSON
import MatrixModel
import Testing

@testable import CallServer

@Suite struct HostileMessageTests {
  /// Requests that do something, to be damaged.
  private static func texts(_ stream: StreamID, _ connection: ConnectionID) -> [String] {
    var sdp = JSONWriter()
    sdp.write(OfferText([("audio", "sendrecv"), ("video", "sendrecv")]).text)
    return [
      #"{"type":"publish","id":1,"stream":{"name":"n","has_audio":true,"has_video":false,"width":640,"height":480}}"#,
      #"{"type":"offer","id":1,"sdp":\#(String(decoding: sdp.bytes, as: UTF8.self)),"sections":{"0":{"subscribe":"\#(stream)"}}}"#,
      #"{"type":"prefer","id":1,"stream":"\#(stream)","width":320,"frame_rate":15,"audio":false}"#,
      #"{"type":"signal","id":1,"kind":"k","data":"d","to":"\#(connection)"}"#,
      #"{"type":"mute","id":1,"all":true,"except":["\#(stream)"],"active":false}"#,
      #"{"type":"update","id":1,"stream":"\#(stream)","has_audio":false,"name":"x"}"#,
      #"{"type":"ack","seq":9223372036854775807}"#,
      #"{"type":"resume","connection":"\#(connection)","key":"k","seq":-9223372036854775808}"#
    ]
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `damaged messages do no harm to others`(seed: UInt64) throws {
    let fixture = SessionFixture(seed: seed)
    var random = RandomSource(seed: seed)
    let owner = try fixture.connect(.moderator)
    let stream = try fixture.publish(owner)
    for _ in 0..<300 {
      fixture.pass(100)
      fixture.receive(#"{"type":"ack","seq":\#(fixture.state.connections[owner.id]!.outbox.last)}"#, on: owner.socket)
      let attacker = try fixture.connect(Role.allCases.randomElement(using: &random)!)
      var bytes = Array(Self.texts(stream, owner.id).randomElement(using: &random)!.utf8)
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: place)
        default: bytes.removeSubrange(place...)
        }
        if bytes.isEmpty { break }
      }
      fixture.receive(String(decoding: bytes, as: UTF8.self), on: attacker.socket)
      if fixture.state.has(attacker.id) { fixture.state.end(attacker.id, .left) }
      _ = (fixture.told(attacker), fixture.told(owner))
    }
    fixture.pass(1)
    #expect(fixture.state.has(owner.id) && fixture.state.streams[stream] != nil && fixture.state.connections.count == 1)
    #expect(fixture.state.subscriptions.isEmpty && fixture.state.transports.count == 1)
  }
}
