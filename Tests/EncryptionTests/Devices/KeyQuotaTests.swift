import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct KeyQuotaTests {
  @Test func `a user brings so many keys an hour, and others are not held up`() {
    var quota = KeyQuota()
    var taken = 0
    for _ in 0..<20 where quota.take(from: ann, limit: 10, at: 5) { taken += 1 }
    let other = quota.take(from: bob, limit: 10, at: 5)
    let times = [KeyQuota.hourMilliseconds, KeyQuota.hourMilliseconds + 5, 1].map { quota.take(from: ann, limit: 10, at: $0) }
    #expect(taken == 10 && other && times == [false, true, true], "a clock that was set back begins anew")
  }

  @Test func `a stranger who floods a device with keys fills no store`() throws {
    let eve = UserID(trusted: "@eve:evil.example")
    var world = try World([(ann, "DESK"), (eve, "EVIL")])
    try world.write("hello", by: 1)
    let (desk, evil) = (world.hosts[0], world.hosts[1])
    // She shares no room with Ann any more.
    let device = desk.machine.own.deviceKeys
    desk.machine.tracker.forget([eve])
    var random = SecretSource.repeating(seed: [1])
    for number in 0..<(EncryptionLimits.roomKeysOfStranger + 50) {
      var room = OutboundRoom(
        RoomID(trusted: ByteString("!\(number):evil.example")), sharesHistory: false, random: &random, at: 0)
      let content = try room.share(with: device)
      let encrypted = evil.machine.encrypted("m.room_key", content, for: device)
      let message = try #require(encrypted)
      evil.machine.send("m.room.encrypted", [ToDeviceRequest.Message(device, message)], keysOf: nil)
    }
    evil.handle(.woken, at: world.now)
    while !evil.requests.isEmpty { try evil.ask(at: world.now) }
    desk.sync(at: world.now)
    let kept = desk.durable.store.keys.filter { RecordNames.isSession($0) }
    #expect(kept.count == EncryptionLimits.roomKeysOfStranger, "with the one of the room that they shared")
  }

  @Test func `a stranger who floods a device with refusals fills no store`() throws {
    let world = try World([(ann, "DESK")])
    let desk = world.hosts[0]
    var synced = SyncedKeys()
    synced.toDevice = try (0..<EncryptionLimits.roomKeysOfStranger + 50).map { number in
      try parsed(
        #"{"type":"m.room_key.withheld","sender":"@eve:evil.example","content":{"algorithm":"m.megolm.v1.aes-sha2","#
          + #""room_id":"!tea:one.example","session_id":"s\#(number)","code":"m.unverified","sender_key":"A"}}"#)
    }
    desk.replay(synced, at: world.now)
    #expect(desk.durable.store.keys.count { RecordNames.isSession($0) } == EncryptionLimits.roomKeysOfStranger)
  }

  @Test func `messages that nothing opens make this device follow a limited number of strangers`() throws {
    var world = try World([(ann, "DESK"), (bob, "PHONE")])
    try world.write("hello", by: 1)
    let desk = world.hosts[0], event = try #require(world.server.toDevice(of: desk.name).first)
    let strangers = (0..<EncryptionLimits.unreachedUsers + 50).map { UserID(trusted: ByteString("@\($0):evil.example")) }
    var synced = SyncedKeys()
    synced.toDevice = try strangers.map { stranger in try event.replacing(["sender"]) { $0.member("sender", stranger) } }
    let refused = desk.machine.handle(.sync(synced), at: world.now).results.count {
      if case .refused(_, .undecryptable) = $0 { true } else { false }
    }
    #expect(refused == strangers.count)
    #expect(strangers.count { desk.machine.tracker.isTracked($0) } == EncryptionLimits.unreachedUsers)
  }

  @Test func `a message between devices that is larger than any event is not looked at`() throws {
    let world = try World([(ann, "DESK"), (bob, "PHONE")])
    var synced = SyncedKeys()
    let padding = String(repeating: "x", count: EncryptionLimits.toDeviceBytes)
    synced.toDevice = [
      try parsed(
        #"{"type":"m.room.encrypted","sender":"@bob:two.example","content":{"algorithm":"\#(padding)","sender_key":"A"}}"#)
    ]
    let output = world.hosts[0].machine.handle(.sync(synced), at: world.now)
    #expect(output.results.allSatisfy { if case .refused = $0 { false } else { true } })
  }
}
