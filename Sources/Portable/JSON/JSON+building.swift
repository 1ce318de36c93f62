extension JSON {
  /// A document built in place: an object with the members that `body` writes.
  ///
  /// Throws only where a spliced value is deeper than any parsed one can be.
  public static func object(_ body: (inout JSONWriter) -> Void) throws(JSONError) -> JSON {
    var writer = JSONWriter()
    writer.object { body(&$0) }
    return try parse(writer.bytes, limits: JSONLimits(depth: JSONLimits.standard.depth + 8))
  }

  /// The object with some members replaced or added by what `body` writes.
  public func replacing(_ keys: [StaticString], _ body: (inout JSONWriter) -> Void) throws(JSONError) -> JSON {
    try JSON.object { writer in
      for member in members where !keys.contains(where: { member.isKey($0) }) {
        writer.key(member.key)
        writer.write(member.value)
      }
      body(&writer)
    }
  }

  /// The bytes of a JSON string.
  public static func text(_ text: ByteString) -> [UInt8] {
    var writer = JSONWriter(capacity: text.count + 2)
    writer.write(text)
    return writer.bytes
  }
}
