import JSON

/// What a person does in a verification (`VerificationStep` of the machine).
package enum VerificationAction: Equatable, Sendable {
  case accept
  /// Begins to compare emoji.
  case compare
  /// The bytes of a QR code that the other side shows.
  case scanned([UInt8])
  case confirm
  case mismatch
  /// Ends or declines it. One that is over is forgotten.
  case cancel
}

extension VerificationAction {
  func write(to writer: inout LinkWriter) {
    switch self {
    case .accept: writer.write(kind: 0)
    case .compare: writer.write(kind: 1)
    case .scanned(let code):
      writer.write(kind: 2)
      writer.write(code)
    case .confirm: writer.write(kind: 3)
    case .mismatch: writer.write(kind: 4)
    case .cancel: writer.write(kind: 5)
    }
  }

  init(_ reader: inout LinkReader) throws(LinkError) {
    switch try reader.byte() {
    case 0: self = .accept
    case 1: self = .compare
    case 2: self = .scanned(try reader.bytes())
    case 3: self = .confirm
    case 4: self = .mismatch
    case 5: self = .cancel
    default: throw .unknownKind
    }
  }
}
