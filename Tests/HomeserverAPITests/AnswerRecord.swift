import Glibc
import HTTPServer
import JSON
import Synchronization
import Testing

/// Writes each request with its answer and the test that asked, one JSON object a line, to a file in the folder that
/// `MARTLET_ANSWERS` names. `Scripts/check-answers` holds them against the specification and tells which operations have a test.
final class AnswerRecord: Sendable {
  /// nil where nobody wants a record.
  static let shared: AnswerRecord? = {
    guard let folder = getenv("MARTLET_ANSWERS") else { return nil }
    return AnswerRecord(path: "\(String(cString: folder))/unit-\(getpid()).jsonl")
  }()

  private let file: Mutex<Int32>

  private init?(path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { return nil }
    file = Mutex(descriptor)
  }

  /// - Parameter answer: the bytes of a JSON answer; empty for any other.
  func add(_ method: Method, _ target: String, request: String?, response: Response, answer: [UInt8]) {
    guard let test = Test.current else { return }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("test", test.displayName ?? test.name)
      writer.member("method", method.description)
      writer.member("target", target)
      writer.member("request", String((request ?? "").prefix(2000)))
      writer.member("status", Int64(response.status.code))
      writer.member("type", response.headers["Content-Type"] ?? "")
      writer.member("answer", String(decoding: answer, as: UTF8.self))
    }
    let line = writer.bytes + [UInt8(ascii: "\n")]
    file.withLock { file in _ = line.withUnsafeBytes { write(file, $0.baseAddress, $0.count) } }
  }
}
