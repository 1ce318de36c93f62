extension Account {
  /// For the store.
  package var record: Secret {
    var writer = RecordWriter(.account)
    writer.write(signing.seed)
    writer.write(identity.secret)
    writer.write(keysMade)
    writer.write(oneTimeKeys) { $1.write(to: &$0) }
    writer.write(fallbackKey) { $1.write(to: &$0) }
    writer.write(previousFallbackKey) { $1.write(to: &$0) }
    return writer.record
  }

  package init(record: Secret) throws(OlmError) {
    var reader = try RecordReader(record, .account)
    let signing = try reader.ed25519KeyPair()
    let identity = try reader.curve25519KeyPair()
    let keysMade: UInt64 = try reader.number()
    let oneTimeKeys = try reader.list(limit: Self.oneTimeKeysLimit, OneTimeKey.read)
    let fallbackKey = try reader.optional(OneTimeKey.read)
    let previousFallbackKey = try reader.optional(OneTimeKey.read)
    try reader.end()
    self.init(
      signing: signing, identity: identity, oneTimeKeys: oneTimeKeys, fallbackKey: fallbackKey,
      previousFallbackKey: previousFallbackKey, keysMade: keysMade)
  }
}

extension OneTimeKey {
  fileprivate func write(to writer: inout RecordWriter) {
    writer.write(number)
    writer.write(isPublished)
    writer.write(pair.secret)
  }

  fileprivate static func read(_ reader: inout RecordReader) throws(OlmError) -> OneTimeKey {
    let number: UInt64 = try reader.number()
    let isPublished = try reader.flag()
    return OneTimeKey(number: number, pair: try reader.curve25519KeyPair(), isPublished: isPublished)
  }
}
