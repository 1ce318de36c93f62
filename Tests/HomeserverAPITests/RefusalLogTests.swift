import Synchronization
import Telemetry
import Testing

@testable import HomeserverAPI

@Suite struct RefusalLogTests {
  @Test func `many refused requests are one line, which counts them, and later ones another`() async throws {
    let lines = AsyncStream<String>.makeStream()
    let sink = LogSink { lines.continuation.yield(String(decoding: $0, as: UTF8.self)) }
    let refusals = RefusalLog(Log("test", sink: sink), pause: .milliseconds(50))
    var told = lines.stream.makeAsyncIterator()
    // Each time fewer than what the others have left behind.
    for count in [40, 3] {
      for number in 1...count { refusals.add("error \(number)") }
      let line = try #require(await told.next())
      #expect(line.contains("requests=\(count) ") && line.contains("error \(count)"), "\(line)")
    }
  }
}
