import JSON

/// A record of terms, in the order of their bytes: how many of the bytes the term before has, too, the others, and the documents that have the term.
///
/// Both counts are one byte, 16 × shared + others, or 255 and two numbers. A single document is 2 × document + 1; of more there follow 2 × bytes, and in so
/// many bytes the distances between them.
enum SpanTerms {
  /// - Parameter terms: with their documents in ascending order.
  static func bytes(_ terms: [ByteString: [UInt32]]) -> [UInt8] {
    var bytes = [SpanDocuments.version]
    var last: [UInt8] = []
    for term in terms.keys.ordered() {
      let utf8 = term.utf8
      var shared = 0
      while shared < min(last.count, utf8.count), last[shared] == utf8[shared] { shared += 1 }
      let others = utf8.count - shared
      if shared < 16, others < 15 {
        bytes.append(UInt8(shared << 4 | others))
      } else {
        bytes.append(escape)
        bytes.append(number: shared)
        bytes.append(number: others)
      }
      bytes += utf8[shared...]
      append(terms[term] ?? [], to: &bytes)
      last = utf8
    }
    return bytes
  }

  private static let escape: UInt8 = 0xFF

  private static func append(_ documents: [UInt32], to bytes: inout [UInt8]) {
    if documents.count == 1 { return bytes.append(number: Int(documents[0]) << 1 | 1) }
    var distances: [UInt8] = []
    var last = 0
    for document in documents {
      distances.append(number: Int(document) - last)
      last = Int(document)
    }
    bytes.append(number: distances.count << 1)
    bytes += distances
  }

  private static func readCounts(_ reader: inout IndexReader) -> (shared: Int, others: Int)? {
    guard let byte = reader.bytes(1)?.first else { return nil }
    if byte != escape { return (Int(byte >> 4), Int(byte & 0x0F)) }
    guard let shared = reader.number(), let others = reader.number() else { return nil }
    return (shared, others)
  }

  /// Adds the documents that have a term that begins so.
  static func find(_ prefix: [UInt8], in record: [UInt8], _ found: inout DocumentSet) {
    guard record.first == SpanDocuments.version else { return }
    var reader = IndexReader(record)
    _ = reader.bytes(1)
    // How many bytes of the prefix the term has, and whether it differs behind them, being smaller.
    var matched = 0
    var length = 0
    while let (shared, count) = readCounts(&reader), let rest = reader.bytes(count), let documents = reader.number(),
      shared <= length
    {
      length = shared + count
      if shared <= matched {
        matched = shared
        for byte in rest {
          guard matched < prefix.count, byte == prefix[matched] else { break }
          matched += 1
        }
        if matched < prefix.count, matched - shared < count, rest[rest.startIndex + matched - shared] > prefix[matched] {
          return
        }
      }
      let isSingle = documents & 1 == 1
      guard matched == prefix.count else {
        guard isSingle || reader.bytes(documents >> 1) != nil else { return }
        continue
      }
      if isSingle {
        found.insert(documents >> 1)
        continue
      }
      let end = reader.position + documents >> 1
      var document = 0
      while reader.position < end, let distance = reader.number() {
        document += distance
        found.insert(document)
      }
    }
  }
}

/// Documents of a span, a bit each.
struct DocumentSet: Sendable {
  private var words: [UInt64]
  private let count: Int

  init(count: Int) {
    self.count = count
    words = Array(repeating: 0, count: (count + 63) / 64)
  }

  mutating func insert(_ document: Int) {
    if document >= 0, document < count { words[document >> 6] |= 1 << UInt64(document & 63) }
  }

  mutating func formIntersection(_ other: DocumentSet) {
    for i in words.indices { words[i] &= i < other.words.count ? other.words[i] : 0 }
  }

  func forEach(_ body: (Int) -> Void) {
    for (i, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        body(i << 6 + rest.trailingZeroBitCount)
        rest &= rest - 1
      }
    }
  }
}
