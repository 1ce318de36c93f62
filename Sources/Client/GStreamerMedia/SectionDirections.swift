import CallClient

/// webrtcbin (until 1.24 at least) refuses a description that changes the direction of a section. So it always hears that a section goes on
/// as it began, and the other side what is true.
struct SectionDirections {
  /// Names of sections that are over.
  private(set) var stopped: Set<ByteString> = []
  /// What descriptions of ours said first.
  private var own: [ByteString: ByteString] = [:]

  mutating func stop(_ mid: ByteString) { stopped.insert(mid) }

  /// An offer of webrtcbin's for the other side: what is over is inactive.
  mutating func outgoing(_ sdp: ByteString) -> ByteString {
    var sections = SDPSections(sdp)
    for i in sections.list.indices {
      guard let mid = sections.mid(i), let direction = sections.direction(i) else { continue }
      own[mid] = own[mid] ?? direction
      if stopped.contains(mid) { sections.setDirection(i, "inactive") }
    }
    return sections.text
  }

  /// An answer for webrtcbin: each section as it was offered, so that one which rests over there may live later.
  func incoming(_ sdp: ByteString) -> ByteString {
    var sections = SDPSections(sdp)
    for i in sections.list.indices {
      guard let mid = sections.mid(i), let offered = own[mid] else { continue }
      switch offered {
      case "sendonly": sections.setDirection(i, "recvonly")
      case "recvonly": sections.setDirection(i, "sendonly")
      default: break
      }
    }
    return sections.text
  }
}

/// A session description by its lines: those above all sections, then section by section. RFC 8866 §5.
private struct SDPSections {
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
