import ClientCore
import JSON
import MatrixModel

/// A document of a span that was read.
struct SearchDocument: Hashable, Sendable {
  let span: Int
  let number: Int
}

/// The spans that a search has read, and which of their documents belong together.
struct SearchedSpans: Sendable {
  private var spans: [SpanDocuments] = []
  /// Edits and redactions by what they are about.
  private var changes: [UInt32: [SearchDocument]] = [:]
  /// Messages that were found already, also in another span.
  private var taken: Set<Place> = []

  private struct Place: Hashable, Sendable {
    let position: SegmentPosition
    let place: Int
  }

  /// Adds a span.
  /// - Returns: its documents that match.
  mutating func add(_ documents: SpanDocuments, matching: DocumentSet) -> [SearchDocument] {
    let span = spans.count
    spans.append(documents)
    for number in 0..<documents.count where documents.kinds[number] != .message {
      changes[documents.subjects[number], default: []].append(SearchDocument(span: span, number: number))
    }
    var found: [SearchDocument] = []
    matching.forEach { found.append(SearchDocument(span: span, number: $0)) }
    return found
  }

  func position(of document: SearchDocument) -> SegmentPosition { spans[document.span].position(of: document.number) }
  func place(of document: SearchDocument) -> Int { Int(spans[document.span].places[document.number]) }

  /// Edits and redactions of the message, and of others with the same hash, the newest first.
  func changes(of document: SearchDocument) -> [SearchDocument] {
    (changes[spans[document.span].subjects[document.number]] ?? []).ordered { isNewer($0, $1) }
  }

  func isRedacted(_ event: EventID) -> Bool {
    (changes[SpanDocuments.hash(event)] ?? []).contains { spans[$0.span].kinds[$0.number] == .redaction }
  }

  /// The messages that are meant, each once, the newest last: an edit that matches stands for what it edits.
  mutating func messages(of documents: [SearchDocument]) -> [SearchDocument] {
    var messages: [SearchDocument] = []
    var edited: Set<UInt32> = []
    for document in documents {
      switch spans[document.span].kinds[document.number] {
      case .message: messages.append(document)
      case .edit: edited.insert(spans[document.span].subjects[document.number])
      case .redaction: break
      }
    }
    if !edited.isEmpty {
      for (span, documents) in spans.enumerated() {
        for number in 0..<documents.count
        where documents.kinds[number] == .message && edited.contains(documents.subjects[number]) {
          messages.append(SearchDocument(span: span, number: number))
        }
      }
    }
    messages = messages.filter { taken.insert(Place(position: position(of: $0), place: place(of: $0))).inserted }
    return messages.ordered { isNewer($1, $0) }
  }

  private func isNewer(_ left: SearchDocument, _ right: SearchDocument) -> Bool {
    let (a, b) = (position(of: left), position(of: right))
    return a != b ? b < a : place(of: left) > place(of: right)
  }
}
