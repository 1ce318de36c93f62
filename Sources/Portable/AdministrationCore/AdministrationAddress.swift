import JSON
import MatrixModel

/// A place within the administration page, and how the page's address names it: `admin/users/%40ann%3Aexample.org`.
package struct AdministrationAddress: Hashable, Sendable {
  package enum Section: Sendable, CaseIterable {
    case overview, users, registration, rooms, reports, media, notices, audit

    package var name: StaticString {
      switch self {
      case .overview: "overview"
      case .users: "users"
      case .registration: "registration"
      case .rooms: "rooms"
      case .reports: "reports"
      case .media: "media"
      case .notices: "notices"
      case .audit: "audit"
      }
    }
  }

  /// Bytes of a subject; longer ones name nothing on any server.
  package static let subjectBytesLimit = 512

  package let section: Section
  /// The user, room or report that is shown; empty for the list of them.
  package let subject: ByteString

  package init(_ section: Section, _ subject: ByteString = "") {
    self.section = section
    self.subject = subject
  }

  /// Reads the part of an address behind `#`, with or without a slash at its start. Returns nil if it does not begin with `admin`. A
  /// section that does not exist leads to the overview.
  package init?(fragment: ByteString) {
    var parts = fragment.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    if parts.first?.isEmpty ?? false { parts.removeFirst() }
    guard let first = parts.first, ByteString(decoding: first) == "admin" as ByteString else { return nil }
    let name = parts.count > 1 ? ByteString(decoding: parts[1]) : ""
    section = Section.allCases.first { name == $0.name } ?? .overview
    let subject = parts.count > 2 ? Self.decode(parts[2]) : ""
    self.subject = subject.count <= Self.subjectBytesLimit ? subject : ""
  }

  package var fragment: String {
    var text = "/admin/" + section.name.description
    if !subject.isEmpty { text += "/" + PercentEncoding.encode(subject) }
    return text
  }

  /// Leaves what is no escape as it is.
  private static func decode(_ text: some Collection<UInt8>) -> ByteString {
    let text = Array(text)
    var bytes: [UInt8] = []
    var at = 0
    while at < text.count {
      if text[at] == UInt8(ascii: "%"), at + 2 < text.count, let high = digit(text[at + 1]), let low = digit(text[at + 2]) {
        bytes.append(high << 4 | low)
        at += 3
      } else {
        bytes.append(text[at])
        at += 1
      }
    }
    return ByteString(decoding: bytes)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
