import JSON

/// The way to a property of an event: `content.m\.relates_to.rel_type`.
///
/// Spec: Appendices, "Dot-separated property paths".
public struct PropertyPath: Sendable, Equatable {
  public let names: [ByteString]

  /// A dot parts names; `\.` and `\\` stand for themselves without the backslash; any other backslash is literal.
  public init(_ text: ByteString) {
    var names: [ByteString] = []
    var name: [UInt8] = []
    var isEscaped = false
    for byte in text.utf8 {
      if isEscaped {
        if byte != UInt8(ascii: ".") && byte != UInt8(ascii: "\\") { name.append(UInt8(ascii: "\\")) }
        name.append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: ".") {
        names.append(ByteString(decoding: name))
        name = []
      } else {
        name.append(byte)
      }
    }
    if isEscaped { name.append(UInt8(ascii: "\\")) }
    names.append(ByteString(decoding: name))
    self.names = names
  }

  /// The value below `json`; nil where a name is missing on the way.
  public func value(in json: JSON, from first: Int = 0) -> JSON? {
    var value = json
    for name in names[min(first, names.count)...] {
      guard let next = value[name] else { return nil }
      value = next
    }
    return value
  }
}
