extension JSON {
  /// Canonical JSON: keys in code point order, no space, shortest escapes, integers within ±(2^53 − 1).
  ///
  /// - Parameter omitted: members of the outermost object that are left out (`signatures`, `unsigned` for hashing and signing).
  /// - Throws: `notCanonical` for fractions, exponents, integers out of range and keys that stand twice.
  ///
  /// Spec: Appendices, "Canonical JSON".
  public func canonical(leavingOut omitted: [StaticString] = []) throws(JSONError) -> [UInt8] {
    var writer = JSONWriter(capacity: bytes.count)
    try writeCanonical(to: &writer, leavingOut: omitted)
    return writer.bytes
  }

  /// Writes the canonical form as the writer's next value.
  public func writeCanonical(to writer: inout JSONWriter, leavingOut omitted: [StaticString] = []) throws(JSONError) {
    let node = node
    switch node.kind {
    case .null: writer.null()
    case .isFalse: writer.write(false)
    case .isTrue: writer.write(true)
    case .integer:
      guard let value = integer, value.magnitude <= JSON.integerMagnitudeLimit else {
        throw JSONError(.notCanonical, at: node.start)
      }
      writer.write(value)
    case .number: throw JSONError(.notCanonical, at: node.start)
    case .string: writer.raw(bytes)
    case .escapedString: writer.write(text ?? "")
    case .array:
      writer.beginArray()
      for element in elements { try element.writeCanonical(to: &writer) }
      writer.endArray()
    case .object:
      writer.beginObject()
      for member in try sortedMembers() where !omitted.contains(where: { member.key == $0 }) {
        writer.key(member.key)
        try member.value.writeCanonical(to: &writer)
      }
      writer.endObject()
    }
  }

  /// 2^53 − 1, the largest integer that every JSON implementation keeps exactly.
  public static let integerMagnitudeLimit: UInt64 = 9_007_199_254_740_991

  private func sortedMembers() throws(JSONError) -> [(key: ByteString, value: JSON)] {
    var sorted = members.map { (key: $0.key, value: $0.value) }
    var isSorted = true
    for i in sorted.indices.dropFirst() where !(sorted[i - 1].key < sorted[i].key) {
      isSorted = false
      break
    }
    if isSorted { return sorted }
    sorted = sorted.ordered { $0.key < $1.key }
    for i in sorted.indices.dropFirst() where sorted[i - 1].key == sorted[i].key {
      throw JSONError(.notCanonical, at: sorted[i].value.node.start)
    }
    return sorted
  }
}
