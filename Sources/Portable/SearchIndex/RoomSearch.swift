import ClientCore
import EventContent
import JSON
import MatrixModel

/// Finds the messages of a room that have all words, the newest first, as they are now: with their newest edit, and without those that were redacted.
///
/// The host does what `next` says until it has enough, or there is no more.
package struct RoomSearch: Sendable {
  package enum Step: Sendable {
    /// Read these records, each range by itself, decrypt those of timelines, and give them to `take` in order.
    case read([StoreRange])
    case found([StoredMatch])
    /// Let the index do its next work (`MessageIndex.next`) up to a write, and ask again: not all that is stored is indexed.
    case index
    case end
  }

  private enum Phase: Sendable { case spans, indexed, readingSpans, readingSegments([SearchDocument]), finding }

  private let room: RoomID
  private let pageMessages: Int
  private let words: SoughtWords
  private let terms: [SearchTerm]
  private let buckets: [Int]
  private var phase = Phase.spans
  private var spans = SearchedSpans()
  /// The last span that was read.
  private var lastSpan: Int?
  /// Read beside the spans.
  private var unindexed: (new: [SegmentPosition], unread: [SegmentPosition: [Int]]) = ([], [:])
  private var hasReadNew = false
  /// Spans that count.
  private var valid: Set<Int> = []
  /// The next one last.
  private var candidates: [SearchDocument] = []
  private var found: [StoredMatch] = []

  /// Without a word that has letters, digits or symbols nothing is found. The room has to be in the index (`MessageIndex.begin`).
  /// - Parameter pageMessages: messages that are looked at, and found at most, at a time.
  package init(_ text: ByteString, in room: RoomID, pageMessages: Int = 20) {
    self.room = room
    self.pageMessages = max(pageMessages, 1)
    words = SoughtWords(text)
    terms = SearchTerm.sought(words)
    var buckets: [Int] = []
    for term in terms where !buckets.contains(term.bucket) { buckets.append(term.bucket) }
    self.buckets = buckets
  }

  // MARK: Steps

  package mutating func next(_ index: MessageIndex) -> Step {
    guard !terms.isEmpty, let state = index.rooms[room] else { return .end }
    if !found.isEmpty {
      defer { found = [] }
      return .found(found)
    }
    switch phase {
    case .spans, .indexed:
      let numbers = state.spans.map { $0.number }.filter { $0 > lastSpan ?? -1 }
      if case .indexed = phase, numbers.isEmpty { return index.isWhole(room) ? .end : .index }
      valid = Set(numbers)
      if !hasReadNew { unindexed = index.unindexed(room) }
      phase = .readingSpans
      return .read(spanRanges + (hasReadNew ? [] : segmentRanges(Set(unindexed.new).union(unindexed.unread.keys))))
    case .finding:
      guard !candidates.isEmpty else {
        phase = .indexed
        return next(index)
      }
      let page = Array(candidates.suffix(pageMessages).reversed())
      candidates.removeLast(page.count)
      let documents = page.flatMap { [$0] + spans.changes(of: $0) }
      phase = .readingSegments(page)
      return .read(segmentRanges(Set(documents.map { spans.position(of: $0) })))
    case .readingSpans, .readingSegments: return .end
    }
  }

  /// - Parameter records: of each range.
  package mutating func take(_ records: [[StoreRecord]]) {
    switch phase {
    case .readingSpans: takeSpans(records)
    case .readingSegments(let page): takeSegments(page, records.flatMap { $0 })
    case .spans, .indexed, .finding: break
    }
  }

  private var spanRanges: [StoreRange] {
    ([IndexKey.documents(of: room)] + buckets.map { IndexKey.terms($0, of: room) }).map { prefix in
      StoreRange(prefix: prefix, after: lastSpan.map { IndexKey.of($0, in: prefix) })
    }
  }

  private func segmentRanges(_ positions: Set<SegmentPosition>) -> [StoreRange] {
    positions.map { StoreRange(prefix: TimelineRecord.key(of: $0, in: room), limit: 1) }
  }

  // MARK: Spans

  private mutating func takeSpans(_ records: [[StoreRecord]]) {
    phase = .finding
    guard records.count > buckets.count else { return }
    var read: [Int: [Int: [UInt8]]] = [:]
    for (place, bucket) in buckets.enumerated() {
      for record in records[place + 1] {
        if let span = IndexKey.span(of: record.key) { read[span, default: [:]][bucket] = record.value }
      }
    }
    for record in records[0] {
      guard let span = IndexKey.span(of: record.key), valid.contains(span) else { continue }
      lastSpan = max(lastSpan ?? -1, span)
      guard let documents = SpanDocuments(record.value) else { continue }
      let terms = read[span] ?? [:]
      candidates += spans.add(documents, matching: matching(in: documents.count) { terms[$0] ?? [] })
    }
    // A span whose record is missing is not waited for.
    if let newest = valid.max() { lastSpan = max(lastSpan ?? -1, newest) }
    if !hasReadNew { takeNew(records[(buckets.count + 1)...].flatMap { $0 }) }
    candidates = spans.messages(of: candidates)
  }

  /// What is in no span yet makes one of its own.
  private mutating func takeNew(_ records: [StoreRecord]) {
    hasReadNew = true
    var builder = SpanBuilder()
    let isNew = Set(unindexed.new)
    for record in records {
      guard let position = SegmentPosition(key: record.key) else { continue }
      let places = isNew.contains(position) ? nil : unindexed.unread[position]
      let events = TimelineRecord.events(of: record) { places?.contains($0) ?? true }
      builder.add(events, of: position)
    }
    candidates += spans.add(builder.documents, matching: matching(in: builder.documents.count) { builder.termRecord($0) })
  }

  private func matching(in count: Int, _ record: (Int) -> [UInt8]) -> DocumentSet {
    var all: DocumentSet?
    for term in terms {
      var found = DocumentSet(count: count)
      SpanTerms.find(term.utf8, in: record(term.bucket), &found)
      if var both = all {
        both.formIntersection(found)
        all = both
      } else {
        all = found
      }
    }
    return all ?? DocumentSet(count: count)
  }

  // MARK: Messages

  private mutating func takeSegments(_ page: [SearchDocument], _ records: [StoreRecord]) {
    phase = .finding
    var wanted: [SegmentPosition: [Int]] = [:]
    for document in page {
      for one in [document] + spans.changes(of: document) {
        wanted[spans.position(of: one), default: []].append(spans.place(of: one))
      }
    }
    var events: [SegmentPosition: [StoredEvent]] = [:]
    for record in records {
      guard let position = SegmentPosition(key: record.key), let places = wanted[position] else { continue }
      events[position] = TimelineRecord.events(of: record) { places.contains($0) }
    }
    func event(_ document: SearchDocument) -> StoredEvent? {
      let place = spans.place(of: document)
      return events[spans.position(of: document)]?.first { $0.place == place }
    }
    for document in page {
      guard let original = event(document), case .message(var match) = original.kind else { continue }
      // The newest first.
      let changes = spans.changes(of: document).compactMap { event($0) }
      guard !changes.contains(where: { $0.redacts(match.eventID) }) else { continue }
      let edit = changes.first { change in
        guard case .edit(let target, _) = change.kind else { return false }
        return target == match.eventID && change.sender == match.sender && !spans.isRedacted(change.eventID)
          && (change.wasEncrypted || !original.wasEncrypted)
      }
      if case .edit(_, let content)? = edit?.kind { match = match.edited(content) }
      if words.areFound(in: match.content.searchedTexts) { found.append(match) }
    }
  }
}

extension StoredEvent {
  fileprivate func redacts(_ event: EventID) -> Bool {
    if case .redaction(let target) = kind { target == event } else { false }
  }
}
