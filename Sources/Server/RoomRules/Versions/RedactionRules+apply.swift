import JSON
import MatrixModel

extension RedactionRules {
  /// What a redaction leaves of an event, in canonical bytes.
  ///
  /// - Parameter event: parsed from canonical bytes, so that members are in order and their bytes can be taken over.
  func redacted(_ event: JSON, type: EventType, leavingOut omitted: [StaticString] = []) -> [UInt8] {
    var writer = JSONWriter(capacity: event.bytes.count)
    writer.object { writer in
      for member in event.members {
        guard topLevel.contains(where: member.isKey), !omitted.contains(where: member.isKey) else { continue }
        writer.key(member.key)
        if member.isKey("content") {
          writeRedacted(member.value, type: type, to: &writer)
        } else {
          writer.write(member.value)
        }
      }
    }
    return writer.bytes
  }

  /// What a redaction leaves of a content, both in canonical bytes.
  func redactedContent(canonical content: [UInt8], type: EventType) -> [UInt8] {
    guard let keys = contentKeys(of: type) else { return content }
    guard !keys.isEmpty, let parsed = try? JSON.parse(content) else { return Array("{}".utf8) }
    var writer = JSONWriter(capacity: content.count)
    write(parsed, keeping: keys, to: &writer)
    return writer.bytes
  }

  private func writeRedacted(_ content: JSON, type: EventType, to writer: inout JSONWriter) {
    if let keys = contentKeys(of: type) { write(content, keeping: keys, to: &writer) } else { writer.write(content) }
  }

  private func write(_ content: JSON, keeping keys: [ContentKey], to writer: inout JSONWriter) {
    writer.object { writer in
      for member in content.members {
        guard let key = keys.first(where: { member.isKey($0.name) }) else { continue }
        guard let inner = key.inner else {
          writer.key(member.key)
          writer.write(member.value)
          continue
        }
        guard member.value.isObject else { continue }
        writer.key(member.key)
        write(member.value, keeping: [ContentKey(name: inner)], to: &writer)
      }
    }
  }
}

extension RoomVersion {
  /// What a redaction would leave of a content. Throws for one that has no canonical form, which no event of a room has.
  package func redactedContent(_ content: JSON, type: EventType) throws -> JSON {
    try JSON.parse(redaction.redactedContent(canonical: content.canonical(), type: type))
  }
}
