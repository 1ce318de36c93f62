import ClientCore
import JSON
import MatrixModel

/// A span that is being made of segments.
struct SpanBuilder: Sendable {
  private(set) var documents = SpanDocuments()
  private var terms: [[ByteString: [UInt32]]] = Array(repeating: [:], count: IndexKey.bucketCount)

  var isEmpty: Bool { documents.count == 0 }

  mutating func add(_ events: [StoredEvent], of position: SegmentPosition) {
    documents.begin(position)
    for event in events {
      switch event.kind {
      case .message(let message):
        documents.append(event.place, .message, about: SpanDocuments.hash(event.eventID))
        add(message.content.searchedTexts)
      case .edit(let target, let content):
        documents.append(event.place, .edit, about: SpanDocuments.hash(target))
        add(content.searchedTexts)
      case .redaction(let target): documents.append(event.place, .redaction, about: SpanDocuments.hash(target))
      case .undecryptable: break
      }
    }
  }

  private mutating func add(_ texts: [ByteString]) {
    let document = UInt32(documents.count - 1)
    var count = 0
    SearchTerm.forEach(in: texts) { term in
      guard count < SearchTerm.countLimit else { return }
      count += 1
      let text = ByteString(decoding: term.utf8)
      if terms[term.bucket][text]?.last == document { return }
      terms[term.bucket][text, default: []].append(document)
    }
  }

  func termRecord(_ bucket: Int) -> [UInt8] { SpanTerms.bytes(terms[bucket]) }
}
