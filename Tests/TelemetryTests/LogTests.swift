import Synchronization
import Testing

@testable import Telemetry

/// Keeps the lines it is given.
private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])

  func sink(_ level: Log.Level = .trace, _ format: LogSink.Format = .text) -> LogSink {
    LogSink(level: level, format: format) { line in
      self.lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
    }
  }

  var all: [String] { lines.withLock { $0 } }

  /// The only line, from its level on.
  var line: String {
    let line = all.count == 1 ? all[0] : "\(all.count) lines"
    return String(line.drop { $0 != " " }.dropFirst())
  }
}

@Suite("Log")
struct LogTests {
  @Test("A text line holds level, area, message, request and fields in order")
  func textLine() {
    let lines = Lines()
    let id = RequestID(value: 0xAB)
    Log("http", sink: lines.sink()).of(id).info(
      "request answered",
      [
        "path": .text("/x"), "status": .integer(200), "share": .number(0.5), "late": .bool(false),
        "took": .duration(.microseconds(1500))
      ])
    #expect(
      lines.line
        == "info http request answered request=00000000000000ab path=/x status=200 share=0.5 late=false took_ms=1.5\n")
  }

  @Test("A JSON line is one object")
  func jsonLine() {
    let lines = Lines()
    Log("http", sink: lines.sink(.trace, .json)).of(RequestID(value: 1)).warning(
      "a \"quoted\" word",
      [
        "text": .text("a\n\"b\"\\\u{1}é"), "n": .integer(UInt64.max), "x": .number(.infinity),
        "took": .duration(.seconds(2))
      ])
    let line = lines.all[0]
    #expect(line.hasPrefix(#"{"time":""#))
    #expect(
      line.hasSuffix(
        #"Z","level":"warning","area":"http","message":"a \"quoted\" word","request":"0000000000000001","text":"a\n\"b\"\\\u0001é","n":9223372036854775807,"x":"inf","took_ms":2000.0}"#
          + "\n"))
  }

  @Test(
    "Text from outside cannot forge a line or a field", arguments: ["a b", "a\nb", "a=b", "a\"b", "", "\u{1B}[31m"])
  func forging(text: String) {
    let lines = Lines()
    Log("http", sink: lines.sink()).info("seen", ["value": .text(text)])
    #expect(lines.line.hasPrefix("info http seen value=\""))
    #expect(lines.line.hasSuffix("\"\n"))
    #expect(lines.line.utf8.filter { $0 == UInt8(ascii: "\n") }.count == 1)
    #expect(!lines.line.utf8.contains(0x1B))
  }

  @Test("Nothing is built for a level that is off", arguments: Log.Level.allCases)
  func levels(threshold: Log.Level) {
    let lines = Lines()
    let log = Log("http", sink: lines.sink(threshold))
    let built = Mutex(0)
    func fields() -> LogFields {
      built.withLock { $0 += 1 }
      return [:]
    }
    log.trace("one", fields())
    log.debug("two", fields())
    log.info("three", fields())
    log.warning("four", fields())
    log.error("five", fields())
    let expected = Log.Level.allCases.filter { $0 >= threshold }.count
    #expect(lines.all.count == expected)
    #expect(built.withLock { $0 } == expected)
  }

  @Test("A long text is cut between characters at the limit")
  func bounded() {
    let limit = LogFields.textByteLimit
    func written(_ text: String) -> String {
      let lines = Lines()
      Log("x", sink: lines.sink()).info("m", ["v": .text(text)])
      return String(lines.line.dropFirst("info x m v=".count).dropLast())
    }
    let full = String(repeating: "a", count: limit)
    #expect(written(full) == full)
    #expect(written(full + "a") == full + "…")
    #expect(written(String(repeating: "a", count: limit - 1) + "é") == String(repeating: "a", count: limit - 1) + "…")
  }

  @Test("A secret never shows, however it is written")
  func secrets() {
    let token = Redacted("hunter2")
    #expect("\(token)" == "[redacted]")
    #expect(String(reflecting: token) == "[redacted]")
    var dumped = ""
    dump(token, to: &dumped)
    #expect(!dumped.contains("hunter2"))
    #expect(token.reveal() == "hunter2")
    for format in LogSink.Format.allCases {
      let lines = Lines()
      Log("auth", sink: lines.sink(.trace, format)).info("seen", ["token": .text(token)])
      #expect(lines.all[0].contains("[redacted]"))
      #expect(!lines.all[0].contains("hunter2"))
    }
  }

  @Test("Level and format change while running")
  func configure() {
    let lines = Lines()
    let sink = lines.sink(.error)
    let log = Log("x", sink: sink)
    log.info("unseen")
    sink.configure(level: .info, format: .json)
    log.info("seen")
    #expect(lines.all.count == 1)
    #expect(lines.all[0].hasPrefix("{"))
  }

  @Test("Request IDs differ and have sixteen digits")
  func requestIDs() {
    let ids = (0..<1000).map { _ in RequestID.next() }
    #expect(Set(ids).count == 1000)
    #expect(ids.allSatisfy { $0.description.utf8.count == 16 })
  }

  @Test(
    "Moments are written as RFC 3339 in UTC",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
      (1_769_860_800_007, "2026-01-31T12:00:00.007Z")
    ])
  func time(milliseconds: Int64, text: String) {
    var bytes: [UInt8] = []
    WallTime(milliseconds: milliseconds).append(to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == text)
  }
}
