import JSON
import MatrixModel

/// A command that one process asks another to carry out, as one line of JSON, and the lines of the answer.
struct HandedOver: Sendable {
  /// The command line without the program's name.
  let words: [String]
  /// The folder in which that was written.
  let folder: String
  /// What stood on standard input, if the command reads it.
  let input: String?

  init(words: [String], folder: String, input: String?) {
    self.words = words
    self.folder = folder
    self.input = input
  }

  init?(_ line: [UInt8]) {
    guard let json = try? JSON.parse(line), let words = json["words"], let folder = json["folder"]?.string else { return nil }
    self.words = words.elements.compactMap { $0.string }
    self.folder = folder
    input = json["input"]?.string
  }

  var line: [UInt8] {
    Self.line { writer in
      writer.array("words", words) { $1.write(ByteString($0)) }
      writer.member("folder", folder)
      if let input { writer.member("input", input) }
    }
  }

  enum Answer: Sendable {
    /// The command is being carried out. Where a connection ends before that, it was not.
    case begun
    /// For standard output.
    case output(String)
    /// The exit status, and what is for standard error.
    case end(Int32, complaint: String)

    init?(_ line: [UInt8]) {
      guard let json = try? JSON.parse(line) else { return nil }
      if json["begun"] != nil {
        self = .begun
      } else if let text = json["output"]?.string {
        self = .output(text)
      } else if let status = json["status"]?.integer {
        self = .end(Int32(truncatingIfNeeded: status), complaint: json["complaint"]?.string ?? "")
      } else {
        return nil
      }
    }

    var line: [UInt8] {
      HandedOver.line { writer in
        switch self {
        case .begun: writer.member("begun", true)
        case .output(let text): writer.member("output", text)
        case .end(let status, let complaint):
          writer.member("status", Int64(status))
          writer.member("complaint", complaint)
        }
      }
    }
  }

  private static func line(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { members(&$0) }
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}
