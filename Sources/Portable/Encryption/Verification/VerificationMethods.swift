import JSON

/// What a device can do to verify another. Spec: Client-Server API, "Key verification framework".
struct VerificationMethods: OptionSet, Hashable, Sendable {
  let rawValue: UInt8

  static let compare = VerificationMethods(rawValue: 1)
  static let showCode = VerificationMethods(rawValue: 2)
  static let scanCode = VerificationMethods(rawValue: 4)
  /// Says that a code was scanned, or hears it.
  static let reciprocate = VerificationMethods(rawValue: 8)

  /// What this machine can do with a client that shows and scans codes.
  static let all: VerificationMethods = [.compare, .showCode, .scanCode, .reciprocate]

  private static let names: [(method: VerificationMethods, name: ByteString)] = [
    (.compare, VerificationMethods.sas), (.showCode, "m.qr_code.show.v1"), (.scanCode, "m.qr_code.scan.v1"),
    (.reciprocate, VerificationMethods.reciprocation)
  ]

  static let sas: ByteString = "m.sas.v1", reciprocation: ByteString = "m.reciprocate.v1"

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Those of the list that are known here. nil if it is no list.
  init?(_ list: JSON?) {
    guard let list, list.isArray else { return nil }
    self = []
    for element in list.elements {
      for entry in Self.names where element.text == entry.name { insert(entry.method) }
    }
  }

  var texts: [ByteString] { Self.names.filter { contains($0.method) }.map { $0.name } }

  /// What the side with these can do with the other.
  func choices(with other: VerificationMethods, code: [UInt8]?) -> Verification.Choices {
    let both = intersection(other)
    let canScan = both.contains(.reciprocate) && contains(.scanCode) && other.contains(.showCode)
    return Verification.Choices(
      canCompare: both.contains(.compare), code: canShow(to: other) ? code : nil, canScan: canScan)
  }

  private func canShow(to other: VerificationMethods) -> Bool {
    intersection(other).contains(.reciprocate) && contains(.showCode) && other.contains(.scanCode)
  }
}
