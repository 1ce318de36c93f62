import ClientCore
import JSON
import MatrixModel

/// What a span of the index is about: messages, edits and redactions of some segments, numbered from 0 on.
///
/// The record has a version, then the segments: block, page, and how many documents it has. Of each of these follow the distance from the one before with
/// its kind, and four bytes of a hash of the event it is about, which leads from a message to its edits and back.
struct SpanDocuments: Sendable {
  enum Kind: UInt8, Sendable { case message, edit, redaction }

  /// What all records of the index begin with. Not 1, with which a sealed value begins in the page's store.
  static let version = UInt8(ascii: "A")

  private(set) var positions: [SegmentPosition] = []
  /// Of each document.
  private(set) var segments: [UInt32] = []
  private(set) var places: [UInt32] = []
  private(set) var kinds: [Kind] = []
  /// The message itself, or what is edited or redacted.
  private(set) var subjects: [UInt32] = []

  init() {}

  var count: Int { kinds.count }

  func position(of document: Int) -> SegmentPosition { positions[Int(segments[document])] }

  mutating func begin(_ position: SegmentPosition) { positions.append(position) }

  /// Adds a document of the segment that was begun last.
  mutating func append(_ place: Int, _ kind: Kind, about subject: UInt32) {
    segments.append(UInt32(max(positions.count - 1, 0)))
    places.append(UInt32(clamping: place))
    kinds.append(kind)
    subjects.append(subject)
  }

  // MARK: The record

  var bytes: [UInt8] {
    var bytes = [Self.version]
    var next = 0
    for (segment, position) in positions.enumerated() {
      let first = next
      while next < count, segments[next] == segment { next += 1 }
      bytes.append(number: Int(position.block))
      bytes.append(number: Int(position.page))
      bytes.append(number: next - first)
      var last: UInt32 = 0
      for document in first..<next {
        bytes.append(number: Int(places[document] - min(last, places[document])) * 3 + Int(kinds[document].rawValue))
        last = places[document]
        for shift: UInt32 in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: subjects[document] >> shift)) }
      }
    }
    return bytes
  }

  /// nil for a record of another version. A damaged one is read as far as it can be.
  init?(_ record: [UInt8]) {
    guard record.first == Self.version else { return nil }
    var reader = IndexReader(record)
    _ = reader.bytes(1)
    while !reader.isAtEnd {
      guard let block = reader.number(), let page = reader.number().flatMap({ Int32(exactly: $0) }), let count = reader.number()
      else { return }
      begin(SegmentPosition(block: Int64(block), page: page))
      var place = 0
      for _ in 0..<count {
        guard let next = reader.number(), let subject = reader.word(), let kind = Kind(rawValue: UInt8(next % 3)) else {
          return
        }
        place += next / 3
        append(place, kind, about: subject)
      }
    }
  }

  /// FNV-1a. It only narrows: the events themselves are compared.
  static func hash(_ event: EventID) -> UInt32 {
    var hash: UInt32 = 2_166_136_261
    for byte in event.text.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return hash
  }
}
