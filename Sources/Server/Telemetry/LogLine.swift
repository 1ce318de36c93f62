/// One line before it is text or JSON.
struct LogLine {
  let time: WallTime
  let level: Log.Level
  let area: StaticString
  let message: StaticString
  let requestID: RequestID?
  let fields: LogFields

  /// `time level area message name=value …`; a value with a space, a quote or a control character is quoted as in JSON, so
  /// that no text from outside can forge a line.
  func text() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(160)
    time.append(to: &bytes)
    bytes.append(UInt8(ascii: " "))
    bytes.append(contentsOf: level.name.utf8)
    bytes.append(UInt8(ascii: " "))
    bytes.append(area)
    bytes.append(UInt8(ascii: " "))
    bytes.append(message)
    if let requestID {
      bytes.append(contentsOf: " request=".utf8)
      bytes.append(contentsOf: requestID.description.utf8)
    }
    for (name, value) in fields.members {
      bytes.append(UInt8(ascii: " "))
      bytes.append(name)
      bytes.append(contentsOf: value.nameSuffix.utf8)
      bytes.append(UInt8(ascii: "="))
      value.appendText(to: &bytes)
    }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// `{"time":…,"level":…,"area":…,"message":…,"request":…,` and the fields `}`.
  func json() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(200)
    bytes.append(contentsOf: #"{"time":""#.utf8)
    time.append(to: &bytes)
    bytes.append(contentsOf: #"","level":""#.utf8)
    bytes.append(contentsOf: level.name.utf8)
    bytes.append(contentsOf: #"","area":"#.utf8)
    bytes.appendQuoted(area.withUTF8Buffer { Array($0) })
    bytes.append(contentsOf: #","message":"#.utf8)
    bytes.appendQuoted(message.withUTF8Buffer { Array($0) })
    if let requestID {
      bytes.append(contentsOf: #","request":""#.utf8)
      bytes.append(contentsOf: requestID.description.utf8)
      bytes.append(UInt8(ascii: "\""))
    }
    for (name, value) in fields.members {
      bytes.append(UInt8(ascii: ","))
      bytes.appendQuoted(name.withUTF8Buffer { Array($0) } + Array(value.nameSuffix.utf8))
      bytes.append(UInt8(ascii: ":"))
      value.appendJSON(to: &bytes)
    }
    bytes.append(contentsOf: "}\n".utf8)
    return bytes
  }
}

extension LogFields.Value {
  fileprivate var nameSuffix: String {
    if case .duration = self { "_ms" } else { "" }
  }

  fileprivate func appendJSON(to bytes: inout [UInt8]) {
    switch self {
    case .text(let text): bytes.appendQuoted(text.boundedBytes)
    case .secret: bytes.appendQuoted(Array("[redacted]".utf8))
    case .number(let number) where !number.isFinite: bytes.appendQuoted(Array(number.description.utf8))
    default: appendPlain(to: &bytes)
    }
  }

  fileprivate func appendText(to bytes: inout [UInt8]) {
    switch self {
    case .text(let text):
      let value = text.boundedBytes
      let isPlain =
        !value.isEmpty
        && value.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") }
      if isPlain { bytes.append(contentsOf: value) } else { bytes.appendQuoted(value) }
    case .secret: bytes.append(contentsOf: "[redacted]".utf8)
    default: appendPlain(to: &bytes)
    }
  }

  private func appendPlain(to bytes: inout [UInt8]) {
    switch self {
    case .integer(let integer): bytes.append(contentsOf: integer.description.utf8)
    case .number(let number): bytes.append(contentsOf: number.description.utf8)
    case .bool(let bool): bytes.append(contentsOf: (bool ? "true" : "false").utf8)
    case .duration(let duration): bytes.append(contentsOf: duration.milliseconds.description.utf8)
    case .text, .secret: break
    }
  }
}

extension Duration {
  /// Milliseconds to three decimals.
  fileprivate var milliseconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) * 1000 + Double(attoseconds / 1_000_000_000_000) / 1000
  }
}

extension String {
  /// The text's bytes, cut before the character that would pass the limit.
  fileprivate var boundedBytes: [UInt8] {
    let limit = LogFields.textByteLimit
    let bytes = Array(utf8.prefix(limit + 1))
    guard bytes.count > limit else { return bytes }
    var end = limit
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return Array(bytes[..<end]) + Array("…".utf8)
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ text: StaticString) {
    text.withUTF8Buffer { append(contentsOf: $0) }
  }

  /// A JSON string. Spec: RFC 8259 §7; DEL is escaped too, for terminals.
  fileprivate mutating func appendQuoted(_ text: [UInt8]) {
    append(UInt8(ascii: "\""))
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        append(UInt8(ascii: "\\"))
        append(byte)
      case UInt8(ascii: "\n"): append(contentsOf: #"\n"#.utf8)
      case UInt8(ascii: "\r"): append(contentsOf: #"\r"#.utf8)
      case UInt8(ascii: "\t"): append(contentsOf: #"\t"#.utf8)
      case 0..<0x20, 0x7F:
        let digits = Array("0123456789abcdef".utf8)
        append(contentsOf: #"\u00"#.utf8)
        append(digits[Int(byte >> 4)])
        append(digits[Int(byte & 15)])
      default: append(byte)
      }
    }
    append(UInt8(ascii: "\""))
  }
}
