import CSodium
import EventLoop
import MatrixModel
import Telemetry

/// Argon2id through libsodium, off the loops: two hashes at once, the rest waits in a bounded queue.
///
/// Throws `M_LIMIT_EXCEEDED` where the queue is full.
package final class Passwords: Sendable {
  /// Bytes of a password. The lower bound keeps the worst away; the upper one bounds the work.
  package static let bytesRange = 8...512

  private static let concurrentHashesLimit = 2
  private static let waitingLimit = 64

  private let pool: BlockingPool
  private let memoryBytes: Int
  private let iterations: UInt64
  /// The hash of no password, of the same cost: an unknown user takes as long as a known one. Its digest is all zeros, which
  /// no password has.
  private let decoy: String

  init(memoryBytes: Int, iterations: Int) throws {
    guard sodium_init() >= 0 else { throw MatrixError.unknown("libsodium cannot be used.") }
    pool = try BlockingPool(threads: Self.concurrentHashesLimit, queueLimit: Self.waitingLimit, name: "password")
    self.memoryBytes = memoryBytes
    self.iterations = UInt64(iterations)
    decoy = Self.decoy(memoryBytes: memoryBytes, iterations: iterations)
  }

  /// Ends the threads once what is queued is done.
  package func shutdown() async { await pool.shutdown() }

  /// Throws `M_WEAK_PASSWORD` for one outside `bytesRange`.
  static func check(_ password: Redacted<String>) throws(MatrixError) {
    let count = password.reveal().utf8.count
    guard count >= bytesRange.lowerBound else {
      throw MatrixError(
        status: 400, .weakPassword, "A password needs at least \(bytesRange.lowerBound) characters.")
    }
    guard count <= bytesRange.upperBound else {
      throw MatrixError(status: 400, .weakPassword, "A password has at most \(bytesRange.upperBound) bytes.")
    }
  }

  /// The text to store for a password, salt and cost included.
  func hash(_ password: Redacted<String>) async throws -> String {
    let (memoryBytes, iterations) = (memoryBytes, iterations)
    return try await pool.run {
      try Self.hash(Array(password.reveal().utf8), memoryBytes: memoryBytes, iterations: iterations)
    }
  }

  /// Whether `hash` belongs to the password. Where there is no hash the same work is done for nothing.
  func verify(_ password: Redacted<String>, against hash: String?) async throws -> Bool {
    let password = password.reveal()
    guard password.utf8.count <= Self.bytesRange.upperBound else { return false }
    let candidate = hash ?? decoy
    let fits = try await pool.run {
      crypto_pwhash_str_verify(candidate, password, UInt64(password.utf8.count)) == 0
    }
    return fits && hash != nil
  }

  /// In libsodium's text form, so that making it costs nothing at the start.
  static func decoy(memoryBytes: Int, iterations: Int) -> String {
    let (salt, digest) = (String(repeating: "A", count: 22), String(repeating: "A", count: 43))
    return "$argon2id$v=19$m=\(memoryBytes / 1024),t=\(iterations),p=1$\(salt)$\(digest)"
  }

  private static func hash(_ password: [UInt8], memoryBytes: Int, iterations: UInt64) throws -> String {
    var text = [CChar](repeating: 0, count: Int(crypto_pwhash_STRBYTES))
    let characters = password.map { CChar(bitPattern: $0) }
    let result = crypto_pwhash_str_alg(
      &text, characters, UInt64(characters.count), iterations, memoryBytes, crypto_pwhash_ALG_ARGON2ID13)
    guard result == 0 else { throw MatrixError.unknown("There was not enough memory to hash a password.") }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
