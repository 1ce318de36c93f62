/// Writes structured lines for one area of the program.
///
///     private let log = Log("http")
///     log.info("request answered", ["status": .integer(200), "path": .text(pattern)])
///
/// The message is a `StaticString`: whatever varies goes into fields, where it is bounded in length, escaped and, if it is a
/// secret, wrapped in `Redacted`. Tokens, keys and message bodies are never logged. Fields are not even built while the level
/// is off, which costs one relaxed atomic load.
package struct Log: Sendable {
  /// The severity of a line, from the most talkative to the gravest.
  package enum Level: Int, Sendable, Comparable, CaseIterable {
    case trace, debug, info, warning, error

    package static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }

    /// The name in the configuration and in the lines: `trace`, `debug`, `info`, `warning` or `error`.
    package var name: String { String(describing: self) }
  }

  package let area: StaticString
  package let requestID: RequestID?
  private let sink: LogSink

  /// A log of `area`, by default into the sink of the whole process, which `LogSink.process.configure` sets up.
  package init(_ area: StaticString, sink: LogSink = .process) {
    self.init(area: area, requestID: nil, sink: sink)
  }

  private init(area: StaticString, requestID: RequestID?, sink: LogSink) {
    self.area = area
    self.requestID = requestID
    self.sink = sink
  }

  /// The same log, each line of which names the request.
  package func of(_ requestID: RequestID) -> Log { Log(area: area, requestID: requestID, sink: sink) }

  /// Whether a line of this level would be written. For work that only a log line needs.
  @inline(__always)
  package func isOn(_ level: Level) -> Bool { sink.isOn(level) }

  @inline(__always)
  package func trace(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    if isOn(.trace) { write(.trace, message, fields()) }
  }

  @inline(__always)
  package func debug(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    if isOn(.debug) { write(.debug, message, fields()) }
  }

  @inline(__always)
  package func info(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    if isOn(.info) { write(.info, message, fields()) }
  }

  @inline(__always)
  package func warning(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    if isOn(.warning) { write(.warning, message, fields()) }
  }

  @inline(__always)
  package func error(_ message: StaticString, _ fields: @autoclosure () -> LogFields = [:]) {
    if isOn(.error) { write(.error, message, fields()) }
  }

  private func write(_ level: Level, _ message: StaticString, _ fields: LogFields) {
    sink.write(LogLine(time: .now(), level: level, area: area, message: message, requestID: requestID, fields: fields))
  }
}
