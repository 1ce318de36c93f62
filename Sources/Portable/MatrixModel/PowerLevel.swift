/// How much a user may do in a room: an integer, or the level of a creator from room version 12 on, above every integer.
public struct PowerLevel: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// The integer, within ±(2^53 − 1); `Int64.max` for a creator.
  public let value: Int64

  public init(_ value: Int64) { self.value = value }
  public init(integerLiteral value: Int64) { self.value = value }

  /// "Infinitely high". No event can carry it: canonical JSON ends at 2^53 − 1.
  public static let creator = PowerLevel(.max)

  public var isCreator: Bool { value == .max }

  public static func < (left: PowerLevel, right: PowerLevel) -> Bool { left.value < right.value }
}
