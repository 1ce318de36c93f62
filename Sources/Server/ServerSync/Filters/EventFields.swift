import JSON
import MatrixModel

/// The parts of an event that a client wants. Spec: `event_fields` of a filter.
struct EventFields {
  private let paths: [[ByteString]]

  init(_ paths: [PropertyPath]) { self.paths = paths.map(\.names) }

  /// Writes what of `event` lies on one of the paths; a path that is not there is passed over.
  func write(_ event: JSON, to writer: inout JSONWriter) { Self.write(event, paths[...], 0, &writer) }

  private static func write(_ value: JSON, _ paths: ArraySlice<[ByteString]>, _ depth: Int, _ writer: inout JSONWriter) {
    writer.beginObject()
    for member in value.members {
      let name = member.key
      let deeper = paths.filter { $0.count > depth && $0[depth] == name }
      guard !deeper.isEmpty else { continue }
      writer.key(name)
      if !member.value.isObject || deeper.contains(where: { $0.count == depth + 1 }) {
        writer.write(member.value)
      } else {
        write(member.value, deeper[...], depth + 1, &writer)
      }
    }
    writer.endObject()
  }
}
