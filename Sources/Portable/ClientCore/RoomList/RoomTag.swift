import JSON

/// A label that somebody has put on a room for themselves. Spec: Client-Server API, "Room Tagging".
public struct RoomTag: Sendable, Hashable {
  /// At most 255 bytes: `m.favourite`, `m.lowpriority`, `m.server_notice`, `u.NAME` for the user's own.
  public let name: ByteString
  /// 0 stands first, 1 last, rooms without one behind them.
  public let order: Double?

  public init(_ name: ByteString, order: Double? = nil) {
    self.name = name
    self.order = order
  }

  public static let favourite: ByteString = "m.favourite"
  public static let lowPriority: ByteString = "m.lowpriority"
  public static let serverNotice: ByteString = "m.server_notice"

  /// The name of a tag that the user made; nil for tags of the specification and of programs.
  public var displayName: ByteString? {
    if name.hasPrefix("u.") { return ByteString(decoding: name.utf8.dropFirst(2)) }
    return name.utf8.contains(UInt8(ascii: ".")) ? nil : name
  }
}

extension RoomTag {
  /// The content of `m.tag`, in the order of the names.
  static func tags(_ content: JSON) -> [RoomTag] {
    var tags: [RoomTag] = []
    for member in content["tags"]?.members ?? content.members {
      let name = member.key
      guard tags.count < Limits.roomTags, member.value.isObject, name.count <= Limits.tagBytes else { continue }
      if tags.contains(where: { $0.name == name }) { continue }
      tags.append(RoomTag(name, order: member.value["order"].flatMap { order($0) }))
    }
    tags = tags.ordered { $0.name < $1.name }
    return tags
  }

  /// A number, or a string that stands for one, as some clients write it.
  private static func order(_ json: JSON) -> Double? {
    if let text = json.text { return Decimal.read(text.utf8) }
    return json.kind == .number ? Decimal.read(json.bytes) : nil
  }

  /// `{}` or `{"order":0.5}`.
  var content: [UInt8] {
    JSONWriter.object { writer in
      if let order { writer.member("order", raw: Decimal.text(order)) }
    }
  }
}

/// Decimal numbers of small magnitude, without what the C library would bring along.
enum Decimal {
  private static let fractionDigits = 15

  /// nil for what is no number, and for those beyond 10^±30.
  static func read(_ text: some Collection<UInt8>) -> Double? {
    var rest = text[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest = rest.dropFirst() }
    var mantissa = 0.0
    var exponent = 0
    var digits = 0
    var significant = 0
    var isFraction = false
    while let byte = rest.first {
      if byte == UInt8(ascii: "."), !isFraction {
        isFraction = true
      } else if byte &- UInt8(ascii: "0") < 10 {
        digits += 1
        if significant > 0 || byte != UInt8(ascii: "0") { significant += 1 }
        // Beyond what a double tells apart.
        if significant <= 18 { mantissa = mantissa * 10 + Double(byte &- UInt8(ascii: "0")) }
        exponent += (isFraction ? -1 : 0) + (significant > 18 ? 1 : 0)
      } else {
        break
      }
      rest = rest.dropFirst()
    }
    guard digits > 0, digits <= 100, let power = self.power(rest) else { return nil }
    exponent += power
    guard abs(exponent) <= 30 + digits else { return nil }
    var scale = 1.0
    for _ in 0..<abs(exponent) { scale *= 10 }
    let value = exponent < 0 ? mantissa / scale : mantissa * scale
    return isNegative ? -value : value
  }

  /// Of `e-5`; 0 for nothing.
  private static func power(_ text: some Collection<UInt8>) -> Int? {
    guard let first = text.first else { return 0 }
    guard first | 0x20 == UInt8(ascii: "e") else { return nil }
    var rest = text.dropFirst()
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
    guard (1...3).contains(rest.count), rest.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
    let value = rest.reduce(0) { $0 * 10 + Int($1 &- UInt8(ascii: "0")) }
    return isNegative ? -value : value
  }

  /// With at most 15 digits behind the point; magnitudes beyond 1,000 become that.
  static func text(_ value: Double) -> [UInt8] {
    let bounded = value.isNaN ? 0 : max(-1000, min(1000, value))
    var units = Int64(abs(bounded) * 1e15 + 0.5)
    var digits: [UInt8] = []
    while units > 0 || digits.count <= fractionDigits {
      digits.append(UInt8(ascii: "0") + UInt8(units % 10))
      units /= 10
    }
    let zeroes = digits.prefix(fractionDigits).prefix { $0 == UInt8(ascii: "0") }.count
    let whole = digits[fractionDigits...].reversed()
    let fraction = digits[zeroes..<fractionDigits].reversed()
    let isNegative = bounded < 0 && digits.contains { $0 != UInt8(ascii: "0") }
    return (isNegative ? [UInt8(ascii: "-")] : []) + whole + (fraction.isEmpty ? [] : [UInt8(ascii: ".")] + fraction)
  }
}
