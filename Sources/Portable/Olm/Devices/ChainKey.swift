/// The key of the next message in one direction. Each message has its own key, which tells nothing about earlier ones.
struct ChainKey: Sendable {
  private(set) var key: Secret
  private(set) var index: UInt32

  init(_ key: Secret, index: UInt32 = 0) {
    self.key = key
    self.index = index
  }

  var messageKey: Secret { key.advanced(by: 1) }

  /// Moves on to the next message. The last index is never used.
  mutating func advance() throws(OlmError) {
    guard index < UInt32.max else { throw .exhausted }
    key = key.advanced(by: 2)
    index += 1
  }
}
