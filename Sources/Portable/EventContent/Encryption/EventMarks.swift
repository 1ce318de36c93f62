import JSON

/// What this side alone writes into events: `MessageTrust.mark` and `UndecryptableReason.mark`.
package enum EventMarks {
  /// Returns the answer of a server without them: a server could otherwise say how far a message is proven, and why another cannot be read. nil if
  /// what is left is no JSON.
  package static func removed(from json: JSON) -> JSON? {
    guard mayBe(in: json.bytes), are(in: json) else { return json }
    var writer = JSONWriter(capacity: json.bytes.count)
    write(json, to: &writer)
    do throws(JSONError) { return try JSON.parse(writer.bytes, limits: JSONLimits(depth: 1_000)) } catch { return nil }
  }

  private static func isOne(_ member: JSON.Member) -> Bool {
    member.isKey(MessageTrust.mark) || member.isKey(UndecryptableReason.mark)
  }

  /// Quickly. Letters can also be written as `\u00…`.
  private static func mayBe(in bytes: ArraySlice<UInt8>) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      var at = 0
      // None is as short as that.
      while at + 16 < bytes.count {
        switch bytes[at] {
        case UInt8(ascii: "\\"):
          if bytes[at + 1] == UInt8(ascii: "u"), bytes[at + 2] == UInt8(ascii: "0"), bytes[at + 3] == UInt8(ascii: "0") {
            return true
          }
          // What follows is escaped.
          at += 1
        case UInt8(ascii: "m"):
          if begins(bytes, at, with: MessageTrust.mark) || begins(bytes, at, with: UndecryptableReason.mark) { return true }
        default: break
        }
        at += 1
      }
      return false
    }
  }

  private static func begins(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, with mark: StaticString) -> Bool {
    guard start + mark.utf8CodeUnitCount <= bytes.count else { return false }
    for offset in 0..<mark.utf8CodeUnitCount where bytes[start + offset] != mark.utf8Start[offset] { return false }
    return true
  }

  private static func are(in json: JSON) -> Bool {
    if json.isArray { return json.elements.contains { are(in: $0) } }
    return json.isObject && json.members.contains { isOne($0) || are(in: $0.value) }
  }

  private static func write(_ json: JSON, to writer: inout JSONWriter) {
    if json.isArray {
      writer.array { writer in for element in json.elements { write(element, to: &writer) } }
    } else if json.isObject {
      writer.object { writer in
        for member in json.members where !isOne(member) {
          writer.key(member.key)
          write(member.value, to: &writer)
        }
      }
    } else {
      writer.write(json)
    }
  }
}
