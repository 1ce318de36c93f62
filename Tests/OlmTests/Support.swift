import Testing

@testable import Olm

func hex(_ text: String) -> [UInt8] {
  let digits = text.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

func decode(_ base64: String) throws -> [UInt8] { try #require(Base64.decode(ascii(base64))) }

func key(_ base64: String) throws -> Curve25519Key { try #require(Curve25519Key(decode(base64))) }

func pair(_ base64: String) throws -> Curve25519KeyPair { try #require(Curve25519KeyPair(Secret(decode(base64)))) }

/// The points of small order on Curve25519, and those that a careless reduction takes for them.
let weakPoints = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
  "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
]

/// Two devices with a session that the first began, and that the second has accepted.
struct Correspondence {
  var random: SecretSource
  var ann: Session
  var bob: Session

  init(seed: String = "a correspondence") throws {
    random = .repeating(seed: ascii(seed))
    let annsAccount = Account(random: &random)
    var bobsAccount = Account(random: &random)
    bobsAccount.makeOneTimeKeys(1, random: &random)
    let oneTime = try #require(bobsAccount.oneTimeKeys.first)
    ann = try annsAccount.session(to: bobsAccount.identity.key, oneTime: oneTime.pair.key, random: &random)
    let first = try ann.encrypt(ascii("first"), random: &random)
    bob = try bobsAccount.accept(first.body, from: annsAccount.identity.key).session
  }

  mutating func annSays(_ text: String) throws -> OlmMessage { try ann.encrypt(ascii(text), random: &random) }
  mutating func bobSays(_ text: String) throws -> OlmMessage { try bob.encrypt(ascii(text), random: &random) }
}

/// Every prefix and every single changed bit of the bytes.
func damaged(_ bytes: [UInt8]) -> [[UInt8]] {
  let prefixes = bytes.indices.map { [UInt8](bytes[..<$0]) }
  let changes = bytes.indices.map { index in
    var changed = bytes
    changed[index] ^= 1 << UInt8(index % 8)
    return changed
  }
  return prefixes + changes
}
