import JSON

/// When a person without a recovery key is asked to make one: from their first encrypted message on, and again a week after they have put it off.
package struct RecoveryAsk: Equatable {
  package static var pauseMilliseconds: Int64 { 7 * 24 * 60 * 60 * 1000 }

  private let device: String
  /// Milliseconds since 1970; nil before the first encrypted message.
  private var from: Int64?

  /// - Parameter kept: `text` as it was before; that of another device says nothing.
  package init(of device: String, kept: String?) {
    self.device = device
    let parts = Array((kept ?? "").utf8).split(separator: UInt8(ascii: " "))
    guard parts.count == 2, parts[0].elementsEqual(device.utf8) else { return }
    from = Int64(String(decoding: parts[1], as: UTF8.self))
  }

  /// To be kept; nil as long as there is nothing to ask.
  package var text: String? { from.map { "\(device) \($0)" } }

  package func isDue(at now: Int64) -> Bool { from.map { $0 <= now } ?? false }

  /// An encrypted message was written. Returns whether it was the first.
  package mutating func wrote() -> Bool {
    guard from == nil else { return false }
    from = 0
    return true
  }

  package mutating func putOff(at now: Int64) { from = now + Self.pauseMilliseconds }
}
