import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// Secrets between the user's devices, asked for after a verification.
@Suite struct VerificationSecretTests {
  private func verified(hasBackup: Bool = true) throws -> VerificationPlay {
    var play = try VerificationPlay.ownDevices(hasBackup: hasBackup)
    try play.compare()
    try play.confirm()
    return play
  }

  /// Asks for a secret as a device does.
  private func ask(_ play: inout VerificationPlay, as device: TestHost, _ name: SecretName = .masterKey) throws -> Int {
    let before = play.sent("m.room.encrypted", by: play.one)
    let names = #""name":"\#(name.text)","requesting_device_id":"\#(device.name.device)""#
    let content = #"{"action":"request","request_id":"r",\#(names)}"#
    var synced = SyncedKeys()
    synced.toDevice = [try parsed(#"{"sender":"@ann:one.example","type":"m.secret.request","content":\#(content)}"#)]
    play.one.replay(synced, at: play.world.now)
    try play.settle()
    return play.sent("m.room.encrypted", by: play.one) - before
  }

  @Test func `secrets are given for a quarter of an hour after the verification, also after a restart`() throws {
    var play = try verified()
    #expect(try ask(&play, as: play.other) == 1)
    play.one.restart(at: play.world.now)
    try play.settle()
    #expect(try ask(&play, as: play.other, .backupKey) == 1)
    try play.pass(SecretAnswers.patienceMilliseconds)
    #expect(try ask(&play, as: play.other) == 0)
  }

  @Test func `a device that was not verified here gets no secret`() throws {
    var play = try VerificationPlay.ownDevices(hasBackup: true)
    #expect(try ask(&play, as: play.other) == 0)
    try play.begin()
    try play.perform(.accept, by: play.other)
    #expect(try ask(&play, as: play.other) == 0)
  }

  @Test func `nothing is open once the secrets are here, and no request goes to a device that was not verified`() throws {
    let play = try verified()
    for name in SecretName.allCases { #expect(!play.other.machine.secrets.requests.isOpen(name), "\(name)") }
    #expect(play.sent("m.secret.request", by: play.other) == 4 && play.sent("m.secret.request", by: play.one) == 0)
  }

  @Test func `a secret that does not fit the account's keys is not taken, and its sender is not listened to again`() throws {
    var play = try VerificationPlay.ownDevices()
    play.world.server.altered = { type, content in type == "m.secret.request" ? nil : content }
    try play.compare()
    try play.confirm()
    let id = try #require(play.other.machine.secrets.requests.open[.masterKey]?.id)
    let right = try #require(play.one.machine.identities.own.secret(.master))
    try play.one.write("for the session between both", at: play.world.now)
    try play.settle()
    for secret in [Secret([UInt8](repeating: 5, count: 32)), right] {
      let content = try JSON.object { writer in
        writer.member("request_id", id)
        writer.member("secret", base64: secret.exposed())
      }
      let device = play.other.machine.own.deviceKeys.listed(by: play.one)
      let message = play.one.machine.encrypted("m.secret.send", content, for: device)
      let encrypted = try #require(message)
      play.one.machine.send("m.room.encrypted", [ToDeviceRequest.Message(device, encrypted)], keysOf: nil)
      try play.pass(1)
      #expect(!play.other.machine.identities.own.holds(.master))
    }
    #expect(!play.other.machine.secrets.requests.isOpen(.masterKey))
  }

  @Test func `a backup that the key does not open is not used`() throws {
    var play = try VerificationPlay.ownDevices(hasBackup: true)
    // Somebody has made another in its place.
    let pair = Curve25519KeyPair(Secret([UInt8](repeating: 3, count: 32)))!
    let body = BackupVersion.creation(pair.key, play.other.machine.identities.own, play.other.machine.own)
    play.world.server.accounts[ann].backups.append(try ModelAccounts.Backup(creation: JSON.parse(body)))
    try play.compare()
    try play.confirm()
    #expect(play.other.machine.encryptionState.isVerified && play.other.machine.backup?.pair == nil)
    #expect(play.other.machine.secrets.backupKey == nil)
  }

  @Test func `a second verification asks again for what did not come`() throws {
    var play = try VerificationPlay.ownDevices()
    play.world.server.altered = { type, content in type == "m.secret.request" ? nil : content }
    try play.compare()
    try play.confirm()
    #expect(play.other.machine.secrets.requests.isOpen(.masterKey) && !play.other.machine.identities.own.holds(.master))
    play.world.server.altered = nil
    for host in [play.one, play.other] { try play.perform(.cancel, by: host) }
    try play.begin(.ownDevices, by: play.other)
    try play.perform(.accept, by: play.one)
    try play.perform(.compare, by: play.one)
    try play.confirm()
    #expect(play.other.machine.identities.own.holds(.master))
  }
}
