import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct OwnKeysTests {
  private func counts(_ count: Int) throws -> JSON { try parsed(#"{"signed_curve25519":\#(count)}"#) }
  private func uploaded(_ count: Int) throws -> JSON { try parsed(#"{"one_time_key_counts":{"signed_curve25519":\#(count)}}"#) }
  private func names(_ upload: JSON?, _ kind: StaticString = "one_time_keys") -> [ByteString] {
    upload?[kind]?.members.map(\.key) ?? []
  }

  /// A device whose server has its keys and fifty one-time keys.
  private func published() throws -> TestDevice {
    var device = TestDevice()
    _ = try device.nextUpload()
    device.own.uploaded(try uploaded(0))
    _ = try device.nextUpload()
    device.own.uploaded(try uploaded(50))
    return device
  }

  @Test
  func `the first upload has the device and a fallback key; one-time keys follow when the server has said that it has none`()
    throws
  {
    var device = TestDevice()
    let first = try #require(try device.nextUpload())
    #expect(first["device_keys"] != nil && names(first, "fallback_keys").count == 1 && names(first).isEmpty)
    #expect(try device.nextUpload() == nil, "one at a time")
    device.own.uploaded(try parsed(#"{"one_time_key_counts":{}}"#))
    let second = try #require(try device.nextUpload())
    #expect(second["device_keys"] == nil && names(second, "fallback_keys").isEmpty && names(second).count == 50)
    device.own.uploaded(try uploaded(50))
    #expect(try device.nextUpload() == nil && device.own.isDevicePublished)
  }

  // Proves E2
  @Test func `keys are made anew below twenty-five, and have the order in which they were made`() throws {
    var device = try published()
    device.own.told(counts: try counts(25), unusedFallbacks: nil)
    #expect(try device.nextUpload() == nil)
    device.own.told(counts: try counts(24), unusedFallbacks: nil)
    let upload = try device.nextUpload()
    #expect(names(upload).count == 26 && names(upload) == names(upload).sorted())
  }

  @Test func `keys that the server has not confirmed are uploaded again, the same ones`() throws {
    var device = try published()
    device.own.told(counts: try counts(0), unusedFallbacks: nil)
    let upload = try device.nextUpload()
    device.own.uploadFailed()
    let again = try device.nextUpload()
    #expect(names(upload).count == 50 && again?.bytes == upload?.bytes)
  }

  @Test func `the fallback key is replaced after its use and after a week; the one before stays`() throws {
    var device = try published()
    let first = try #require(device.own.account.fallbackKey)
    device.own.told(counts: nil, unusedFallbacks: try parsed(#"["signed_curve25519"]"#))
    #expect(try device.nextUpload() == nil)
    device.own.told(counts: nil, unusedFallbacks: try parsed("[]"))
    let afterUse = try device.nextUpload(at: 5)
    #expect(names(afterUse, "fallback_keys").count == 1)
    #expect(device.own.account.previousFallbackKey?.number == first.number)
    device.own.uploaded(try uploaded(50))
    #expect(try device.nextUpload(at: 5 + OwnKeys.fallbackLifetimeMilliseconds - 1) == nil)
    let afterAWeek = try device.nextUpload(at: 5 + OwnKeys.fallbackLifetimeMilliseconds)
    #expect(names(afterAWeek, "fallback_keys").count == 1)
  }

  @Test func `names that the server has for other keys are left, once`() throws {
    var device = try published()
    device.own.told(counts: try counts(0), unusedFallbacks: nil)
    let refused = names(try device.nextUpload())
    let isRenamed = device.own.uploadRefused()
    let renamed = names(try device.nextUpload())
    #expect(isRenamed && renamed.count == 50 && Set(renamed).isDisjoint(with: refused))
    let isRenamedAgain = device.own.uploadRefused()
    #expect(!isRenamedAgain, "the device is broken")
    #expect(device.own.account.fallbackKey?.isPublished ?? false, "the server still has it")
  }

  @Test func `a one-time key is taken with its device's signature only`() throws {
    var device = TestDevice()
    _ = try device.nextUpload()
    device.own.uploaded(try uploaded(0))
    let key = try #require(try device.nextUpload()?["one_time_keys"]?.members.map { $0 }.first)
    func claimed(_ name: ByteString, _ value: JSON) throws -> Curve25519Key? {
      let answer = try JSON.object { writer in
        writer.key(bob)
        writer.object { writer in
          writer.key("PHONE")
          writer.object { writer in
            writer.key(name)
            writer.write(value)
          }
        }
      }
      return device.own.deviceKeys.claimedKey(in: answer)
    }
    #expect(try claimed(key.key, key.value) == device.own.account.oneTimeKeys.first?.pair.key)
    #expect(try claimed("curve25519:AAAA", key.value) == nil)
    #expect(
      try claimed(
        key.key,
        try key.value.replacing(["key"]) {
          $0.member("key", ByteString(decoding: Base64.encode([UInt8](repeating: 7, count: 32))))
        }) == nil)
    #expect(try claimed(key.key, try parsed(#""text""#)) == nil)
    #expect(device.own.deviceKeys.claimedKey(in: try parsed("[]")) == nil)
  }

  @Test(arguments: ["-1", "1e400", "99999999999999999999", #""many""#, "null"]) func `a senseless count means zero`(
    _ count: String
  ) throws {
    var device = try published()
    device.own.told(counts: try parsed(#"{"signed_curve25519":\#(count)}"#), unusedFallbacks: try parsed("7"))
    let upload = try device.nextUpload()
    #expect(names(upload).count == 50)
  }
}
