extension OutboundGroupSession {
  /// For the store.
  package var record: Secret {
    var writer = RecordWriter(.outboundGroupSession)
    writer.write(signing.seed)
    ratchet.write(to: &writer)
    return writer.record
  }

  package init(record: Secret) throws(OlmError) {
    var reader = try RecordReader(record, .outboundGroupSession)
    let signing = try reader.ed25519KeyPair()
    let ratchet = try MegolmRatchet.read(&reader)
    try reader.end()
    self.init(signing: signing, ratchet: ratchet)
  }
}

extension InboundGroupSession {
  /// For the store. It does not change by reading messages.
  package var record: Secret {
    var writer = RecordWriter(.inboundGroupSession)
    writer.write(isSigned)
    writer.write(key)
    first.write(to: &writer)
    return writer.record
  }

  package init(record: Secret) throws(OlmError) {
    var reader = try RecordReader(record, .inboundGroupSession)
    let isSigned = try reader.flag()
    let key = try reader.ed25519Key()
    let first = try MegolmRatchet.read(&reader)
    try reader.end()
    self.init(GroupKey(first, key), isSigned: isSigned)
  }
}

extension MegolmRatchet {
  fileprivate func write(to writer: inout RecordWriter) {
    writer.write(index)
    writer.write(secret)
  }

  fileprivate static func read(_ reader: inout RecordReader) throws(OlmError) -> MegolmRatchet {
    let index: UInt32 = try reader.number()
    return MegolmRatchet(try reader.secret(byteCount), index: index)
  }
}
