import JSON
import MatrixModel

/// A place somebody sent. Spec: `m.location`; MSC3488.
public struct Location: Sendable {
  public enum Asset: UInt8, Sendable {
    /// Where the sender is.
    case sender
    /// A place on the map.
    case pin
  }

  public var uri: GeoURI
  public var description: ByteString?
  public var asset: Asset
  /// When the sender was there, in milliseconds since 1970.
  public var timestampMilliseconds: Int64?

  public init(
    uri: GeoURI, description: ByteString? = nil, asset: Asset = .sender, timestampMilliseconds: Int64? = nil
  ) {
    self.uri = uri
    self.description = description
    self.asset = asset
    self.timestampMilliseconds = timestampMilliseconds
  }
}

/// A `geo:` URI: where on the earth. RFC 5870.
public struct GeoURI: Sendable {
  /// As it was written.
  public let text: ByteString
  /// Degrees, −90 to 90.
  public let latitude: Double
  /// Degrees, −180 to 180.
  public let longitude: Double
  /// Metres above the ellipsoid.
  public let altitude: Double?
  /// Metres around the place (`u`).
  public let uncertainty: Double?

  private static var bytesLimit: Int { 255 }

  /// nil for what is no `geo:` URI of the earth: other coordinate systems (`crs`) are not read.
  public init?(_ text: ByteString) {
    guard text.hasPrefix("geo:"), text.count <= GeoURI.bytesLimit else { return nil }
    let parts = text.utf8.dropFirst(4).split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    guard let first = parts.first else { return nil }
    var numbers: [Double] = []
    for part in first.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let number = GeoURI.number(part) else { return nil }
      numbers.append(number)
    }
    guard numbers.count == 2 || numbers.count == 3, abs(numbers[0]) <= 90, abs(numbers[1]) <= 180 else { return nil }
    var uncertainty: Double?
    for part in parts.dropFirst() {
      let (name, value) = GeoURI.parameter(part)
      if name == "crs", value != "wgs84" { return nil }
      if name == "u" { uncertainty = GeoURI.number(value.utf8[...]).flatMap { $0 < 0 ? nil : $0 } }
    }
    self.text = text
    latitude = numbers[0]
    longitude = numbers[1]
    altitude = numbers.count == 3 ? numbers[2] : nil
    self.uncertainty = uncertainty
  }

  private static func parameter(_ part: ArraySlice<UInt8>) -> (ByteString, ByteString) {
    let lowered = part.map { $0 >= 0x41 && $0 <= 0x5A ? $0 + 0x20 : $0 }
    let equals = lowered.firstIndex(of: UInt8(ascii: "=")) ?? lowered.count
    return (ByteString(decoding: lowered[..<equals]), ByteString(decoding: lowered[min(equals + 1, lowered.count)...]))
  }

  /// A decimal number without an exponent. RFC 5870 §3.3: `num`.
  private static func number(_ digits: ArraySlice<UInt8>) -> Double? {
    let isNegative = digits.first == UInt8(ascii: "-")
    var mantissa = 0.0
    var scale = 1.0
    var count = 0
    var isFraction = false
    for byte in digits.dropFirst(isNegative ? 1 : 0) {
      if byte == UInt8(ascii: "."), !isFraction, count > 0 {
        isFraction = true
        continue
      }
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      count += 1
      // Beyond what a double tells apart.
      guard count <= 17 else {
        if isFraction { continue }
        return nil
      }
      mantissa = mantissa * 10 + Double(byte - UInt8(ascii: "0"))
      if isFraction { scale *= 10 }
    }
    guard count > 0, digits.last != UInt8(ascii: ".") else { return nil }
    return isNegative ? -mantissa / scale : mantissa / scale
  }
}

/// A place that moves: somebody shares where they are for a while. MSC3489 (`m.beacon_info`, `m.beacon`), unstable names too.
public struct LiveLocation: Sendable {
  public struct Position: Sendable {
    public let uri: GeoURI
    public let timestampMilliseconds: Int64
    package let event: EventID
    /// Who says so.
    package var sender = UserID(trusted: "")
  }

  public let description: ByteString?
  public let startedAtMilliseconds: Int64
  /// When it ends by itself, in milliseconds since 1970.
  public let expiresAtMilliseconds: Int64
  /// False once it was stopped, replaced by a newer one of the same person, or has expired.
  public package(set) var isLive = true
  /// The newest; nil until there is one.
  public package(set) var position: Position?
}
