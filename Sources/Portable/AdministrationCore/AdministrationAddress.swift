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
    let text = parts.count > 2 ? Array(parts[2]) : []
    // What is not encoded is what somebody typed.
    let subject = ByteString(decoding: PercentEncoding.decode(text[...]) ?? text)
    self.subject = subject.count <= Self.subjectBytesLimit ? subject : ""
  }

  package var fragment: String {
    var text = "/admin/" + section.name.description
    if !subject.isEmpty { text += "/" + PercentEncoding.encode(subject) }
    return text
  }
}
