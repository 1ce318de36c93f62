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
/// The typing counter starts at zero with each process: it counts only if the boot is the same. The fourth part is there
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
    let bytes = text.utf8
    var index = 1
    guard let position = Self.number(bytes, &index), Self.separator(bytes, &index), let typing = Self.number(bytes, &index),
      Self.separator(bytes, &index), let boot = Self.number(bytes, &index)
    else { return nil }
    var toDevice: Int64?
    if Self.separator(bytes, &index) {
      guard let number = Self.number(bytes, &index) else { return nil }
      toDevice = min(number, position)
    }
    guard index == bytes.count else { return nil }
    self.init(SyncPosition(position: position, typing: typing), boot: boot, toDevice: toDevice)
  }

  package var text: ByteString {
    let base = "s\(seen.position)_\(seen.typing)_\(boot)"
    return ByteString(toDevice == seen.position ? base : base + "_\(toDevice)")
  }

  /// What it stands for in the process of `boot`.
  package func seen(inBoot boot: Int64) -> SyncPosition {
    boot == self.boot ? seen : SyncPosition(position: seen.position, typing: 0)
  }

  /// Reads a number of 1 to 18 digits.
  private static func number(_ bytes: [UInt8], _ index: inout Int) -> Int64? {
    let start = index
    var number: Int64 = 0
    while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 {
      guard index - start < 18 else { return nil }
      number = number * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
      index += 1
    }
    return index > start ? number : nil
  }

  private static func separator(_ bytes: [UInt8], _ index: inout Int) -> Bool {
    guard index < bytes.count, bytes[index] == UInt8(ascii: "_") else { return false }
    index += 1
    return true
  }
}
