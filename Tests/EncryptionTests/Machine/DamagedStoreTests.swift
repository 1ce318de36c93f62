import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct DamagedStoreTests {
  // Copies of files, other programs and failing disks: what a store has is input, too.
  @Test func `no damaged record traps, and what can be done without is done without`() throws {
    let server = ModelServer()
    server.members = [ann, bob]
    var now: Int64 = 1_000_000
    let hosts = [TestHost(ann, "DESK", at: server), TestHost(bob, "PHONE", at: server)]
    for host in hosts {
      host.handle(.encryption(ModelServer.room, try parsed(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#)), at: now)
    }
    try server.settle(hosts, at: &now)
    for host in hosts { try host.write("hello", at: now) }
    let recovery = EncryptionCommand.setUpRecovery(Secret([UInt8](repeating: 7, count: 32)), passphrase: nil)
    for command in [EncryptionCommand.setUpIdentity, recovery] {
      hosts[1].begin(command, at: now)
      try server.settle(hosts, at: &now)
    }
    hosts[1].handle(.share(SharingPolicy(readers: .all)), at: now)
    try server.settle(hosts, at: &now)
    let kept = hosts[1].durable
    for key in [RecordNames.ownIdentity, RecordNames.policy, RecordNames.secretStorage, RecordNames.backup] {
      #expect(kept.store[key] != nil)
    }
    for key in kept.store.keys.sorted() {
      let value = try #require(kept.store[key])
      for damaged in [
        [], Array(value.prefix(value.count / 2)), Array("{\"v\":1}".utf8), Array("{\"v\":9}".utf8), value.reversed()
      ] {
        let host = hosts[1]
        host.durable = kept
        host.durable.store[key] = damaged
        (host.durable.eventsRead, host.durable.clear, host.news) = (0, [:], [])
        host.restart(at: now)
        try host.read(at: now)
        let stopped = host.news.contains { if case .broken = $0 { true } else { false } }
        let isNewer = damaged.elementsEqual("{\"v\":9}".utf8)
        let mustStop = key == RecordNames.account || key.utf8.starts(with: RecordNames.rooms.utf8)
        let isRead = key.utf8.starts(with: "e/olm/".utf8) == false
        #expect(stopped == (mustStop || isNewer && isRead), "\(key): \(String(decoding: damaged, as: UTF8.self))")
      }
    }
    hosts[1].durable = kept
    hosts[1].restart(at: now)
    #expect(hosts[1].bodies == ["hello", "hello"])
  }
}
