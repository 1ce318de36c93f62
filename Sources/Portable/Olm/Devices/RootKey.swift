/// The secret from which both sides derive their next chains.
struct RootKey: Sendable {
  private static let beginningInfo = Array("OLM_ROOT".utf8)
  private static let ratchetInfo = Array("OLM_RATCHET".utf8)

  let key: Secret

  init(_ key: Secret) { self.key = key }

  /// Derives the first root and the first chain of the side that begins, from the three agreements.
  static func begin(_ first: Secret, _ second: Secret, _ third: Secret) -> (root: RootKey, chain: ChainKey) {
    split(Secret(joining: [first, second, third]).derived(64, info: beginningInfo))
  }

  /// Derives the next root and a new chain from the agreement of both sides' newest ratchet keys.
  func next(_ agreement: Secret) -> (root: RootKey, chain: ChainKey) {
    Self.split(agreement.derived(64, info: Self.ratchetInfo, salt: key))
  }

  private static func split(_ secret: Secret) -> (root: RootKey, chain: ChainKey) {
    (root: RootKey(secret.part(0..<32)), chain: ChainKey(secret.part(32..<64)))
  }
}
