import Glibc
import HTTPServer
import JSON
import MatrixModel
import Shell
import Telemetry

/// A running subcommand: its input, the server it calls, the way it shows the answer.
struct AdminCall: Sendable {
  static let administration = "/_synapse/admin"
  static let ownAdministration = "/_matrix/client/unstable/martlet.administration"

  let arguments: CommandArguments
  let connection: AdminConnection

  // MARK: Operands

  func operand(_ index: Int) -> String { arguments.operands[index] }

  /// A user, named whole or by the localpart.
  func user(_ index: Int = 0) -> String {
    let name = operand(index)
    return name.hasPrefix("@") ? name : "@\(name):\(connection.serverName)"
  }

  /// A path whose last part, or parts, stand as they are given: encoded, so that none can be another path.
  func path(_ start: String, _ parts: String..., then end: String = "") -> String {
    start + parts.map { "/" + PercentEncoding.encode(ByteString($0)) }.joined() + end
  }

  /// A query of what is not nil.
  func query(_ parameters: [(String, String?)]) -> String {
    let given = parameters.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encode(ByteString($0)))" } }
    return given.isEmpty ? "" : "?" + given.joined(separator: "&")
  }

  // MARK: Asking

  func get(_ path: String) async throws -> JSON { try await connection.call(.get, path) }

  func send(_ method: Method, _ path: String, _ body: (inout JSONWriter) -> Void = { _ in }) async throws -> JSON {
    try await connection.call(method, path, try JSON.object(body))
  }

  // MARK: Showing

  /// Shows these lines to people, the whole answer to machines.
  func show(_ answer: JSON, _ lines: String...) {
    if arguments.isJSON { return show(answer) }
    for line in lines { StandardOutput.write(Table.harmless(line) + "\n") }
  }

  /// `1 user`, `2 users`
  static func count(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  func show(_ answer: JSON) { StandardOutput.write(String(decoding: answer.bytes, as: UTF8.self) + "\n") }

  /// A row for each element of an array in the answer, with a line below where there are more.
  func show(
    _ answer: JSON, each elements: JSON?, _ columns: [String], more: String? = nil, _ row: (JSON) -> [String]
  ) {
    if arguments.isJSON { return show(answer) }
    StandardOutput.write(Table(columns, (elements?.elements.map { $0 } ?? []).map(row)).text)
    if let more { StandardOutput.write(more + "\n") }
  }

  /// Every member of an object, one a line.
  func showMembers(of answer: JSON) {
    if arguments.isJSON { return show(answer) }
    StandardOutput.write(Table(nil, answer.members.map { [$0.key.string, Self.cell($0.key.string, $0.value)] }).text)
  }

  /// A member's value for people: times and sizes are known by the names that the administration API gives them.
  private static func cell(_ name: String, _ value: JSON) -> String {
    guard value.integer != nil else { return Table.text(value) }
    return name.hasSuffix("_ts") ? Table.time(value) : name.hasSuffix("_bytes") ? Table.bytes(value) : Table.text(value)
  }

  /// Polls until a task has ended, and shows its progress on a terminal. Throws `failed` with its error.
  func wait(_ path: String, while isActive: (JSON) -> Bool, _ progress: (JSON) -> String) async throws -> JSON {
    let isWatched = isatty(STDERR_FILENO) == 1
    while true {
      let answer = try await get(path)
      if isWatched { LogSink.standardError(Array("\r\u{1B}[K\(progress(answer))".utf8)) }
      guard isActive(answer) else {
        if isWatched { LogSink.standardError(Array("\r\u{1B}[K".utf8)) }
        if answer["status"]?.string == "failed" { throw StartError.failed(answer["error"]?.string ?? "it failed") }
        return answer
      }
      try await Task.sleep(for: .milliseconds(100))
    }
  }
}
