import JSON
import RoomRules
import Testing

@testable import ServerAccounts
@testable import ServerPush

/// RFC 8292.
@Suite struct VAPIDKeyTests {
  private static func parts(_ authorization: String?) throws -> (token: String, key: String) {
    let text = try #require(authorization)
    #expect(text.hasPrefix("vapid t="))
    let parts = text.dropFirst(8).split(separator: ",").map { String($0) }
    return (parts[0], String(parts[1].dropFirst(" k=".count)))
  }

  private static func bytes(_ text: some StringProtocol) -> [UInt8] { UnpaddedBase64.decode(text.utf8) ?? [] }

  @Test func `a push is signed for the origin it goes to, for half a day, by the key that browsers were told`() throws {
    let pair = P256KeyPair()
    let vapid = VAPIDKey(pair, subject: "mailto:ops@example.org")
    let now: Int64 = 1_700_000_000_000
    let (token, key) = try Self.parts(vapid.authorization(for: "https://Push.example.org:8443/v2/abc?d=1", now: now))
    #expect(key == vapid.publicKey && Self.bytes(key) == pair.publicKey)
    let words = token.split(separator: ".")
    let header = try JSON.parse(Self.bytes(words[0]))
    #expect(header["typ"]?.string == "JWT" && header["alg"]?.string == "ES256")
    let claims = try JSON.parse(Self.bytes(words[1]))
    #expect(claims["aud"]?.string == "https://push.example.org:8443" && claims["sub"]?.string == "mailto:ops@example.org")
    #expect(claims["exp"]?.integer == 1_700_043_200)
    let publicKey = try #require(PublicKey(p256X: Array(pair.publicKey[1..<33]), y: Array(pair.publicKey[33...])))
    #expect(publicKey.verifies(Self.bytes(words[2]), of: Array("\(words[0]).\(words[1])".utf8), .es256))
  }

  @Test func `a token is used again until an hour before it ends, for one origin`() throws {
    let vapid = VAPIDKey(P256KeyPair(), subject: "mailto:ops@example.org")
    let now: Int64 = 1_700_000_000_000
    let first = vapid.authorization(for: "https://a.example/1", now: now)
    #expect(vapid.authorization(for: "https://a.example/2", now: now + 39_599_000) == first)
    #expect(vapid.authorization(for: "https://a.example/2", now: now + 39_600_000) != first)
    #expect(vapid.authorization(for: "https://b.example/1", now: now) != first)
    // A clock that was set back does not lead to tokens that are good for longer than a push service takes.
    let later = vapid.authorization(for: "https://c.example/1", now: now + 90_000_000)
    #expect(vapid.authorization(for: "https://c.example/1", now: now) != later)
    #expect(vapid.authorization(for: "nonsense", now: now) == nil)
  }
}
