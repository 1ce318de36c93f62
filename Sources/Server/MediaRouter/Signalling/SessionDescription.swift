/// SDP could not be read, or an offer cannot be answered.
package enum SDPError: Error, Equatable {
  case malformed
  case tooLarge
  /// ICE credentials or a fingerprint that can be used are missing, or sections are not bundled on one transport.
  case unsupported
}

/// The lines of an SDP text as far as WebRTC uses them. RFC 8866 §5.
package struct SessionDescription: Sendable, Equatable {
  package static let bytesLimit = 512 << 10
  /// 50 participants with sound and picture, those who left meanwhile, and room.
  package static let sectionsLimit = 256
  /// Of a section: there are no more payload types.
  package static let formatsLimit = 128
  package static let attributesLimit = 512

  package struct Attribute: Sendable, Equatable {
    package var name: String
    /// nil for a flag.
    package var value: String?

    package init(_ name: String, _ value: String? = nil) {
      self.name = name
      self.value = value
    }

    var line: String { "a=" + name + (value.map { ":" + $0 } ?? "") }
  }

  package struct Section: Sendable, Equatable {
    /// `audio`, `video`, `application`.
    package var kind: String
    package var port: Int
    package var transport: String
    package var formats: [String]
    package var attributes: [Attribute] = []

    package subscript(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
    package func has(_ name: String) -> Bool { attributes.contains { $0.name == name } }
    package func all(_ name: String) -> [String] { attributes.filter { $0.name == name }.compactMap(\.value) }
  }

  /// The number of the session (`o=`), which a peer connection keeps for life; nil where it has none. RFC 8829 §5.2.1.
  package private(set) var number: String?
  package var attributes: [Attribute] = []
  package var sections: [Section] = []

  package init() {}

  /// - Throws: `malformed` or `tooLarge`.
  package init(_ text: String) throws(SDPError) {
    guard text.utf8.count <= Self.bytesLimit else { throw .tooLarge }
    let text = Self.ascii(text)
    let lines = text.split(whereSeparator: \.isNewline)
    guard lines.first == "v=0" else { throw .malformed }
    for line in lines {
      guard line.utf8.count >= 2, line.utf8.dropFirst().first == UInt8(ascii: "=") else { throw .malformed }
      let value = line.dropFirst(2)
      switch line.first {
      case "m": try append(section: value)
      case "a": try append(attribute: value)
      case "o": number = value.split(separator: " ").dropFirst().first.map(String.init)
      default: break
      }
    }
  }

  /// Names and values that count are ASCII. Texts of anything else are compared by what they mean: of a hundred thousand marks on one letter that takes
  /// minutes.
  private static func ascii(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
    return String(decoding: text.utf8.lazy.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }

  private mutating func append(section value: Substring) throws(SDPError) {
    let words = value.split(separator: " ").map(String.init)
    guard words.count >= 4, let port = UInt16(words[1]) else { throw .malformed }
    guard sections.count < Self.sectionsLimit, words.count - 3 <= Self.formatsLimit else { throw .tooLarge }
    sections.append(Section(kind: words[0], port: Int(port), transport: words[2], formats: Array(words[3...])))
  }

  private mutating func append(attribute value: Substring) throws(SDPError) {
    let parts = value.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let attribute = Attribute(parts[0], parts.count > 1 ? parts[1] : nil)
    if sections.isEmpty {
      guard attributes.count < Self.attributesLimit else { throw .tooLarge }
      attributes.append(attribute)
    } else {
      guard sections[sections.count - 1].attributes.count < Self.attributesLimit else { throw .tooLarge }
      sections[sections.count - 1].attributes.append(attribute)
    }
  }

  /// The text with line ends as RFC 8866 §9 wants them.
  ///
  /// - Parameters:
  ///   - address: in `c=`; the candidates are what counts.
  ///   - number: of the session, unchanged between versions.
  ///   - version: grows by one with each text of the session. RFC 8866 §5.2.
  package func text(address: String, number: UInt64, version: UInt64) -> String {
    var lines = ["v=0", "o=- \(number) \(version) IN IP4 127.0.0.1", "s=-", "t=0 0"] + attributes.map(\.line)
    for section in sections {
      lines.append("m=\(section.kind) \(section.port) \(section.transport) \(section.formats.joined(separator: " "))")
      lines.append("c=IN \(address.contains(":") ? "IP6" : "IP4") \(address)")
      lines += section.attributes.map(\.line)
    }
    return lines.joined(separator: "\r\n") + "\r\n"
  }
}
