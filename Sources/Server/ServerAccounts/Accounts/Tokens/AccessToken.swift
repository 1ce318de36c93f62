import CCrypto
import JSON
import ServerCore

/// A secret a client proves itself with: 256 random bits, shown once, stored only as its hash.
package struct AccessToken: Sendable {
  /// `mlt_` and the like (so that secret scanners know one) and 43 characters of URL-safe Base64.
  package let text: ByteString

  /// - Parameter prefix: tells people, not the server, what the token is for.
  package static func random(prefix: StaticString = "mlt_") -> AccessToken {
    AccessToken(text: ByteString(prefix.description + RandomText.urlSafe(bytes: 32)))
  }

  package var hash: AccessTokenHash { AccessTokenHash(of: text) }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A token shows itself only to who asks for its text: not in logs, not in the words of an error.
  package var description: String { "[redacted]" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// SHA-256 of an access token: what the database and the cache know of it.
package struct AccessTokenHash: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  package init(of token: ArraySlice<UInt8>) {
    var digest = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
    withUnsafeMutableBytes(of: &digest) { digest in
      token.withUnsafeBytes { token in cryptoSHA256(token.baseAddress, token.count, digest.baseAddress) }
    }
    words = digest
  }

  package init(of token: ByteString) { self.init(of: token.withBytes { [UInt8]($0) }[...]) }

  package var bytes: [UInt8] { withUnsafeBytes(of: words) { [UInt8]($0) } }

  package static func == (left: AccessTokenHash, right: AccessTokenHash) -> Bool { left.words == right.words }

  /// The hash of a secret is as random as anything: a part of it is enough.
  package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
