import CSodium
import Telemetry
import Testing

@testable import ServerAccounts

@Suite struct PasswordsTests {
  private static func withPasswords(_ body: (Passwords) async throws -> Void) async throws {
    let passwords = try Passwords(memoryBytes: 8192, iterations: 1)
    do {
      try await body(passwords)
      await passwords.shutdown()
    } catch {
      await passwords.shutdown()
      throw error
    }
  }

  @Test func `a hash is of Argon2id with the settings given, salted, and fits its password only`() async throws {
    try await Self.withPasswords { passwords in
      let hash = try await passwords.hash(Redacted("correct horse"))
      #expect(hash.hasPrefix("$argon2id$v=19$m=8,t=1,p=1$"))
      let again = try await passwords.hash(Redacted("correct horse"))
      #expect(hash != again)
      #expect(try await passwords.verify(Redacted("correct horse"), against: hash))
      #expect(try await passwords.verify(Redacted("correct horsf"), against: hash) == false)
      #expect(try await passwords.verify(Redacted("correct horse"), against: nil) == false)
    }
  }

  @Test func `the decoy costs what a hash costs`() {
    let decoy = Passwords.decoy(memoryBytes: 19 << 20, iterations: 2)
    #expect(crypto_pwhash_str_needs_rehash(decoy, 2, 19 << 20) == 0)
    #expect(crypto_pwhash_str_needs_rehash(decoy, 3, 19 << 20) == 1)
  }

  @Test func `a password beyond 512 bytes is not even hashed`() async throws {
    try await Self.withPasswords { passwords in
      let long = String(repeating: "x", count: 513)
      let hash = try await passwords.hash(Redacted(long))
      #expect(try await passwords.verify(Redacted(long), against: hash) == false)
    }
  }
}
