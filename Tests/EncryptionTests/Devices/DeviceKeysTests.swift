import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct DeviceKeysTests {
  let phone = DeviceID(trusted: "PHONE")

  @Test func `what a device publishes is read with its keys, its algorithms and its name`() throws {
    let device = TestDevice()
    let published = try device.published().replacing(["unsigned"]) { writer in
      writer.key("unsigned")
      writer.object { $0.member("device_display_name", "Bob's phone") }
    }
    let read = try DeviceKeys(published, of: bob, phone)
    #expect(read.hasSameKeys(as: device.own.deviceKeys) && read.readsRooms && read.name == "Bob's phone")
  }

  @Test func `keys are refused with their reason`() throws {
    let published = try TestDevice().published()
    func refusal(_ json: JSON, of user: UserID = bob, _ device: String = "PHONE") -> DeviceRefusal? {
      do throws(DeviceRefusal) {
        _ = try DeviceKeys(json, of: user, DeviceID(trusted: ByteString(device)))
        return nil
      } catch { return error }
    }
    #expect(refusal(published) == nil)
    #expect(refusal(published, of: ann) == .ofAnother && refusal(published, "LAPTOP") == .ofAnother)
    #expect(
      refusal(try published.replacing(["algorithms"]) { $0.array("algorithms", [Algorithm.olm]) { $1.write($0) } })
        == .wrongSignature)
    #expect(refusal(try published.replacing(["signatures"]) { _ in }) == .wrongSignature)
    #expect(refusal(try published.replacing(["keys"]) { _ in }) == .malformed)
    for keys in ["7", "{}", #"{"curve25519:PHONE":"AAAA","ed25519:PHONE":"AAAA"}"#] {
      #expect(refusal(try published.replacing(["keys"]) { $0.member("keys", raw: Array(keys.utf8)) }) == .malformed)
    }
    for senseless in ["7", "[]", "{}", #"{"user_id":"@bob:two.example","device_id":"PHONE"}"#] {
      #expect(refusal(try parsed(senseless)) != nil)
    }
  }

  @Test func `another device's signature does not count`() throws {
    let (phone, laptop) = (TestDevice(), TestDevice(seed: "another"))
    let forged = try #require(
      try phone.published().replacing(["signatures"]) { _ in }.signed(by: bob, "ed25519:PHONE", laptop.own.account.signing))
    #expect(throws: DeviceRefusal.wrongSignature) { try DeviceKeys(forged, of: bob, self.phone) }
  }

  @Test func `a key of small order signs nothing`() throws {
    // The identity: with it one signature would fit every message.
    let weak = try #require(Ed25519Key([1] + [UInt8](repeating: 0, count: 31)))
    let forged = try parsed(
      #"{"user_id":"@bob:two.example","device_id":"PHONE","algorithms":[],"keys":{"curve25519:PHONE":"\#(text(TestDevice().own.account.identity.key.text))","#
        + #""ed25519:PHONE":"\#(text(weak.text))"},"signatures":{"@bob:two.example":{"ed25519:PHONE":"\#(text(Base64.encode([1] + [UInt8](repeating: 0, count: 63))))"}}}"#
    )
    #expect(throws: DeviceRefusal.wrongSignature) { try DeviceKeys(forged, of: bob, phone) }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
