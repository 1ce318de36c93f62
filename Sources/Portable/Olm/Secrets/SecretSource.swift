import CPrimitives

/// The source of new secrets. It is passed in, so that a test can repeat a session.
package struct SecretSource: Sendable {
  private let seed: Secret?
  private var taken: UInt64 = 0

  private init(seed: Secret?) { self.seed = seed }

  /// The operating system's generator, or the browser's.
  package static var system: SecretSource { SecretSource(seed: nil) }

  /// A source that returns the same secrets each time, for tests.
  package static func repeating(seed: [UInt8]) -> SecretSource { SecretSource(seed: Secret(seed)) }

  package mutating func secret(_ count: Int) -> Secret {
    guard let seed else { return Secret(count: count) { primitives_random($0, count) } }
    taken &+= 1
    return seed.derived(count, info: (0..<8).map { UInt8(truncatingIfNeeded: taken >> (8 * UInt64($0))) })
  }

  /// Returns bytes that need not stay secret, such as a salt.
  package mutating func bytes(_ count: Int) -> [UInt8] { secret(count).exposed() }
}
