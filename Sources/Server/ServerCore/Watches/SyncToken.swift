import JSON

/// How far something has been seen: the durable streams, and typing, which lives in memory with a counter of its own.
package struct SyncPosition: Sendable, Hashable {
  package var position: Int64
  package var typing: Int64

  package init(position: Int64, typing: Int64) {
    self.position = position
    self.typing = typing
  }
}

/// `next_batch` and `since`: `s<position>_<typing>_<boot>[_<to-device>]`.
///
/// The typing counter starts at zero with each process: it counts only where the boot is this one's. The fourth part is there
/// while messages to the device are left over from a page that was full: those were delivered up to that position only.
package struct SyncToken: Sendable, Hashable {
  package let seen: SyncPosition
  package let boot: Int64
  /// Where delivery of messages to the device stands.
  package let toDevice: Int64

  package init(_ seen: SyncPosition, boot: Int64, toDevice: Int64? = nil) {
    self.seen = seen
    self.boot = boot
    self.toDevice = toDevice ?? seen.position
  }

  /// nil for what is no token of this server.
  package init?(_ text: ByteString) {
    guard text.hasPrefix("s"), text.count <= 100 else { return nil }
    let parts = text.utf8.dropFirst().split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
    guard parts.count == 3 || parts.count == 4 else { return nil }
    var numbers: [Int64] = []
    for part in parts {
      guard let number = Self.number(part) else { return nil }
      numbers.append(number)
    }
    self.init(
      SyncPosition(position: numbers[0], typing: numbers[1]), boot: numbers[2],
      toDevice: numbers.count == 4 ? min(numbers[3], numbers[0]) : nil)
  }

  package var text: ByteString {
    let base = "s\(seen.position)_\(seen.typing)_\(boot)"
    return ByteString(toDevice == seen.position ? base : base + "_\(toDevice)")
  }

  /// What it stands for in the process of `boot`.
  package func seen(inBoot boot: Int64) -> SyncPosition {
    boot == self.boot ? seen : SyncPosition(position: seen.position, typing: 0)
  }

  private static func number(_ digits: some Collection<UInt8>) -> Int64? {
    guard (1...18).contains(digits.count), digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
  }
}
