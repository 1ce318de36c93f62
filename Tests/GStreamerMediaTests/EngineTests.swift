import CallClient
import Synchronization
import Testing

@testable import GStreamerMedia

@Suite struct EngineTests {
  /// What an engine tells, in order.
  private func engine() throws -> (GStreamerEngine, AsyncStream<MediaInput>) {
    let (stream, inputs) = AsyncStream.makeStream(of: MediaInput.self)
    let engine = try GStreamerEngine()
    engine.open(MediaHost(report: { inputs.yield($0) }, videoSink: { _ in nil }, audioSink: { _ in nil }))
    return (engine, stream)
  }

  @Test("An offer has the sections that were asked for, each with its name")
  func offering() async throws {
    let (engine, inputs) = try engine()
    engine.perform(.open(1, []))
    engine.perform(.send(1, 10, 7, .audio, receives: false))
    engine.perform(.send(1, 11, 7, .video, receives: false))
    engine.perform(.receive(1, 12, .video, codec: "VP8"))
    engine.perform(.describe(1, round: 3, .offer, restartsICE: false, gatherMilliseconds: 0))
    for await input in inputs {
      guard case .described(let peer, let round, let sdp, let mids) = input else { continue }
      #expect(peer == 1 && round == 3)
      #expect(mids.map(\.section) == [10, 11, 12] && Set(mids.map(\.mid)).count == 3)
      let lines = sdp.string.split(separator: "\r\n")
      #expect(lines.filter { $0.hasPrefix("m=") }.map { $0.prefix(7) } == ["m=audio", "m=video", "m=video"])
      #expect(lines.filter { $0 == "a=sendonly" }.count == 2 && lines.filter { $0 == "a=recvonly" }.count == 1)
      break
    }
    await engine.close()
  }

  @Test(
    "A description that makes no sense fails, and breaks nothing",
    arguments: [
      "", "v=0", "m=audio", "\u{0}", String(repeating: "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n", count: 300),
      "v=0\r\nm=audio 9 X 1\r\na=mid:9\r\n"
    ])
  func nonsense(_ sdp: String) async throws {
    let (engine, inputs) = try engine()
    engine.perform(.open(1, []))
    engine.perform(.receive(1, 1, .audio, codec: "opus"))
    engine.perform(.describe(1, round: 1, .offer, restartsICE: false, gatherMilliseconds: 0))
    engine.perform(.setRemote(1, round: 2, .answer, sdp: ByteString(sdp)))
    engine.perform(.addCandidate(1, ICECandidate(candidate: "candidate:nonsense", mid: nil, lineIndex: .max)))
    for await input in inputs {
      guard case .failed(let peer, let round) = input else { continue }
      #expect(peer == 1 && round == 2)
      break
    }
    await engine.close()
  }

  @Test("What concerns a peer connection that is not there fails or does nothing")
  func strangers() async throws {
    let (engine, inputs) = try engine()
    engine.perform(.stop(9, 1))
    engine.perform(.attach(9, mid: "0", stream: "s"))
    engine.send(try #require(VideoFrame(width: 16, height: 16, timestampMicroseconds: 0)), from: 3)
    engine.perform(.close(9))
    engine.perform(.describe(9, round: 4, .offer, restartsICE: false, gatherMilliseconds: 0))
    for await input in inputs {
      guard case .failed(9, round: 4) = input else {
        Issue.record("\(input)")
        continue
      }
      break
    }
    await engine.close()
  }

  @Test("A source that cannot be opened says why")
  func noCamera() {
    #expect(throws: CallError.self) {
      try Camera(device: "/dev/no such camera ! fakesink").start(MediaOutput(take: { _ in }))
    }
  }
}
