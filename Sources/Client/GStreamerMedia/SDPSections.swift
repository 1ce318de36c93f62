import CallClient

/// A session description by its lines: those above all sections, then section by section. RFC 8866 §5.
struct SDPSections {
  private static let directions: [StaticString] = ["a=sendrecv", "a=sendonly", "a=recvonly", "a=inactive"]

  private var head: [ByteString] = []
  private(set) var list: [[ByteString]] = []

  init(_ sdp: ByteString) {
    for line in sdp.utf8.split(whereSeparator: { $0 == 10 || $0 == 13 }).map({ ByteString(decoding: $0) }) {
      if line.hasPrefix("m=") {
        list.append([line])
      } else if list.isEmpty {
        head.append(line)
      } else {
        list[list.count - 1].append(line)
      }
    }
  }

  /// The SSRCs that it names; nil where a section that sends names none, and so may bring any. RFC 5576 §4.1.
  var sources: Set<UInt32>? {
    var sources: Set<UInt32> = []
    for i in list.indices {
      let named = list[i].compactMap { line in
        line.hasPrefix("a=ssrc:") ? UInt32(ByteString(decoding: line.utf8.dropFirst(7).prefix { $0 != 32 }).string) : nil
      }
      if named.isEmpty, sends(i) { return nil }
      sources.formUnion(named)
    }
    return sources
  }

  /// One without a direction does, RFC 8866 §6.7; one whose port is 0 is refused, RFC 3264 §6.
  private func sends(_ i: Int) -> Bool {
    let direction = direction(i) ?? "sendrecv"
    let isRefused = list[i][0].utf8.split(separator: 32).dropFirst().first.map { Array($0) == [48] } ?? true
    return !isRefused && (direction == "sendrecv" || direction == "sendonly")
  }

  var text: ByteString {
    ByteString(decoding: (head + list.flatMap { $0 }).flatMap { $0.utf8 + [13, 10] })
  }

  func mid(_ i: Int) -> ByteString? {
    list[i].first { $0.hasPrefix("a=mid:") }.map { ByteString(decoding: $0.utf8.dropFirst(6)) }
  }

  func direction(_ i: Int) -> ByteString? {
    list[i].first { line in Self.directions.contains { line == $0 } }.map { ByteString(decoding: $0.utf8.dropFirst(2)) }
  }

  mutating func setDirection(_ i: Int, _ direction: ByteString) {
    let line = ByteString(decoding: Array("a=".utf8) + direction.utf8)
    list[i] = list[i].map { old in Self.directions.contains { old == $0 } ? line : old }
  }
}
