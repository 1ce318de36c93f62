import JSON
import Testing

@testable import CallCore

/// A server that says what it should not.
struct HostileServerTests {
  private static let greeting =
    #"{"type":"connected","connection":{"id":"me","role":"publisher"},"key":"k","mode":"relayed","ice_servers":[{"urls":["x"]}],"#
    + #""connections":[{"id":"c2","data":"d"}],"streams":[{"id":"s2","connection":"c2","has_audio":true,"width":640}]}"#

  private static let texts = [
    #""connection_created","connection":{"id":"c3","created":1}"#, #""connection_destroyed","connection":"c2""#,
    #""stream_created","stream":{"id":"s3","connection":"c2","has_video":true,"height":-1}"#,
    #""stream_changed","stream":"s2","has_video":true,"width":9223372036854775807"#, #""stream_destroyed","stream":"s2""#,
    #""signal","kind":"k","data":"d","from":"c2""#, #""muted","stream":"mine","active":true"#, #""speaker","stream":"s2""#,
    #""relay","from":"c2","data":"{\"description\":{\"type\":\"offer\",\"sdp\":\"v\"},\"sections\":{\"0\":\"s2\"}}""#,
    #""relay","from":"c2","data":"{\"candidate\":{\"candidate\":\"c\",\"sdpMid\":\"0\"}}""#,
    #""video_disabled","stream":"s2","reason":"quality""#, #""recording_started","archive":"a""#,
    #""transport","state":"lost""#, #""transport","state":"ended""#,
    #""done","id":1,"stream":{"id":"mine","connection":"me"}"#,
    #""refused","id":2,"code":"limit","retry_after_ms":-9223372036854775808"#,
    #""done","id":3,"sdp":"v""#, #""closed","code":"gone","retry":true"#, #""session_ended""#
  ]

  @Test(arguments: 1...300 as ClosedRange<UInt64>)
  func nothingItSaysTraps(seed: UInt64) {
    let simulation = Simulation(seed: seed)
    var session = CallSession(randomSeed: seed)
    var now: Int64 = 0
    func put(_ input: SessionInput) {
      now += simulation.below(4_000)
      _ = session.handle(input, now: now)
    }
    put(.command(.connect(CallToken("t"), session: "s"), id: 1))
    put(.command(.publish(1, .camera, name: "n", audio: true, video: true), id: 2))
    put(.media(.captured(1, CapturedMedia(stream: "x", hasAudio: true, hasVideo: true))))
    for _ in 0..<80 {
      switch session.socket.phase {
      case .opening: put(.socketOpened(session.socket.id))
      case .greeting:
        put(.text(session.socket.id, simulation.chance(80) ? Array(Self.greeting.utf8) : odd(Self.greeting, simulation)))
      default: break
      }
      let text = Self.texts[Int(simulation.below(Int64(Self.texts.count)))]
      let numbered = #"{"seq":\#(session.wire.lastHeard + 1),"type":\#(text)}"#
      put(.text(session.socket.id, simulation.chance(50) ? Array(numbered.utf8) : odd(numbered, simulation)))
      let peer = session.lastPeer
      put(.media(.described(peer, round: UInt32(simulation.below(6)), sdp: "v", [SectionMID(1, "0"), SectionMID(9, "0")])))
      put(.media(.remoteSet(peer, round: UInt32(simulation.below(6)))))
      put(.media(.trackArrived(peer, mid: "0", stream: "", .audio)))
      put(.time)
    }
    put(.command(.leave, id: 3))
    if case .ended = session.state { return }
    Issue.record("it has not ended")
  }

  private func odd(_ text: String, _ simulation: Simulation) -> [UInt8] {
    var bytes = Array(text.utf8)
    for _ in 0...simulation.below(2) {
      let at = Int(simulation.below(Int64(bytes.count)))
      switch simulation.below(4) {
      case 0: bytes[at] = UInt8(simulation.below(256))
      case 1: bytes.remove(at: at)
      case 2: bytes.insert(contentsOf: Array("-9223372036854775808".utf8), at: at)
      default: bytes.insert(contentsOf: Array(#"{"id":[]},"#.utf8), at: at)
      }
    }
    return bytes
  }
}
