import ClientCore
import JSON
import MatrixModel

/// Some segments on their way into a span.
struct IndexJob: Sendable {
  enum Kind: Sendable {
    /// Segments that were stored before, from the newest on; the position is where it has come to.
    case walk(SegmentPosition?)
    case new([SegmentPosition])
    /// Segments with events that had no key, and their places.
    case unread([SegmentPosition: [Int]])
  }

  let room: RoomID
  private(set) var kind: Kind
  private(set) var span = SpanBuilder()
  /// Events of the segments that have no key.
  private(set) var unread: [SegmentPosition: [Int]] = [:]
  private(set) var readSegments: [SegmentPosition] = []
  /// Nothing more is to be read.
  private(set) var isAtEnd = false
  /// For records.
  var isWaiting = false
  /// The next one last.
  private var records: [StoreRecord] = []
  /// Records of terms that are ready to be written, one for each bucket.
  private(set) var terms: [[UInt8]] = []

  init(_ room: RoomID, _ kind: Kind) {
    self.room = room
    self.kind = kind
  }

  /// Whether a segment that is stored there now would be missed.
  func misses(_ position: SegmentPosition, in room: RoomID) -> Bool {
    guard case .walk(let end) = kind, room == self.room else { return false }
    return isWaiting || isAtEnd || end.map { !(position < $0) } ?? false
  }

  /// nil where the span is to be written.
  var nextRanges: [StoreRange]? {
    guard !isAtEnd, span.documents.count < MessageIndex.spanDocuments else { return nil }
    switch kind {
    case .walk(let position):
      return [
        StoreRange(
          prefix: TimelineRecord.prefix(of: room), before: position.map { TimelineRecord.key(of: $0, in: room) },
          isDescending: true, limit: MessageIndex.walkSegments)
      ]
    case .new(let positions): return ranges(positions)
    case .unread(let places): return ranges(places.keys.ordered())
    }
  }

  private func ranges(_ positions: [SegmentPosition]) -> [StoreRange] {
    positions.map { StoreRange(prefix: TimelineRecord.key(of: $0, in: room), limit: 1) }
  }

  /// - Parameter new: segments that another job takes.
  mutating func take(_ records: [StoreRecord], skipping new: Set<SegmentPosition>) {
    isWaiting = false
    self.records = records.reversed()
    guard case .walk = kind else { return isAtEnd = true }
    isAtEnd = records.count < MessageIndex.walkSegments
    if let last = records.last.flatMap({ SegmentPosition(key: $0.key) }) { kind = .walk(last) }
    self.records.removeAll { record in SegmentPosition(key: record.key).map { new.contains($0) } ?? true }
  }

  var hasRecords: Bool { !records.isEmpty }

  mutating func addRecord() {
    guard let record = records.popLast(), let position = SegmentPosition(key: record.key) else { return }
    var wanted: [Int]?
    if case .unread(let places) = kind { wanted = places[position] ?? [] }
    let events = TimelineRecord.events(of: record) { wanted?.contains($0) ?? true }
    var places: [Int] = []
    for event in events { if case .undecryptable = event.kind { places.append(event.place) } }
    readSegments.append(position)
    unread[position] = places
    if places.count < events.count { span.add(events, of: position) }
  }

  /// Whether the span can be written.
  var isEncoded: Bool { span.isEmpty || terms.count == IndexKey.bucketCount }

  mutating func encodeBucket() { terms.append(span.termRecord(terms.count)) }

  /// The records of the span, if there is something in it.
  func records(as number: Int) -> [StoreOperation] {
    guard !span.isEmpty else { return [] }
    var records: [StoreOperation] = [
      .put(key: IndexKey.of(number, in: IndexKey.documents(of: room)), value: span.documents.bytes)
    ]
    for (bucket, record) in terms.enumerated() where record.count > 1 {
      records.append(.put(key: IndexKey.of(number, in: IndexKey.terms(bucket, of: room)), value: record))
    }
    return records
  }
}
