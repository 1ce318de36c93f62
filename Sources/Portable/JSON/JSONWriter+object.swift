extension JSONWriter {
  /// The bytes of one object.
  package static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter()
    writer.object(members)
    return writer.bytes
  }
}
