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
