extension Session {
  /// For the store.
  package var record: Secret {
    var writer = RecordWriter(.session)
    writer.write(keys.identity)
    writer.write(keys.base)
    writer.write(keys.oneTime)
    writer.write(isEstablished)
    writer.write(root.key)
    writer.write(sending) { writer, sending in
      writer.write(sending.ratchet.secret)
      sending.chain.write(to: &writer)
    }
    writer.write(receiving) { $1.write(to: &$0) }
    return writer.record
  }

  package init(record: Secret) throws(OlmError) {
    var reader = try RecordReader(record, .session)
    let keys = SessionKeys(
      identity: try reader.curve25519Key(), base: try reader.curve25519Key(), oneTime: try reader.curve25519Key())
    let isEstablished = try reader.flag()
    let root = RootKey(try reader.secret(32))
    let sending = try reader.optional { (reader: inout RecordReader) throws(OlmError) in
      SendingChain(ratchet: try reader.curve25519KeyPair(), chain: try ChainKey.read(&reader))
    }
    let receiving = try reader.list(limit: Self.receivingChainsLimit, ReceivingChain.read)
    try reader.end()
    // A session that can neither send nor receive was never made.
    guard sending != nil || !receiving.isEmpty else { throw .malformed }
    self.init(keys: keys, root: root, sending: sending, receiving: receiving, isEstablished: isEstablished)
  }
}

extension ChainKey {
  fileprivate func write(to writer: inout RecordWriter) {
    writer.write(key)
    writer.write(index)
  }

  fileprivate static func read(_ reader: inout RecordReader) throws(OlmError) -> ChainKey {
    ChainKey(try reader.secret(32), index: try reader.number())
  }
}

extension ReceivingChain {
  fileprivate func write(to writer: inout RecordWriter) {
    writer.write(ratchetKey)
    chain.write(to: &writer)
    writer.write(skipped) { writer, skipped in
      writer.write(skipped.index)
      writer.write(skipped.key)
    }
  }

  fileprivate static func read(_ reader: inout RecordReader) throws(OlmError) -> ReceivingChain {
    let ratchetKey = try reader.curve25519Key()
    let chain = try ChainKey.read(&reader)
    let skipped = try reader.list(limit: skippedKeysLimit) { (reader: inout RecordReader) throws(OlmError) in
      SkippedKey(index: try reader.number(), key: try reader.secret(32))
    }
    return ReceivingChain(ratchetKey, chain, skipped: skipped)
  }
}
