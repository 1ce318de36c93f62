import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

let ann = UserID(trusted: "@ann:one.example"), bob = UserID(trusted: "@bob:two.example")

func parsed(_ text: String) throws -> JSON { try JSON.parse(Array(text.utf8)) }

/// A device with keys that are the same in each run.
struct TestDevice {
  var random: SecretSource
  var own: OwnKeys

  init(of user: UserID = bob, _ device: DeviceID = DeviceID(trusted: "PHONE"), seed: String = "a phone") {
    random = .repeating(seed: Array(seed.utf8))
    own = OwnKeys(user: user, device: device, account: Account(random: &random))
  }

  mutating func nextUpload(at now: Int64 = 0) throws -> JSON? {
    try own.nextUpload(random: &random, at: now).map { bytes throws in try JSON.parse(bytes) }
  }

  /// What the server gives to others who ask for the device.
  func published() throws -> JSON {
    var copy = self
    return try #require(try copy.nextUpload()?["device_keys"])
  }
}

/// An answer of `/keys/query`.
func answer(_ devices: [(user: UserID, device: DeviceID, keys: JSON)], failures: [String] = []) throws -> JSON {
  try JSON.object { writer in
    writer.key("device_keys")
    writer.object { writer in
      for user in Set(devices.map(\.user)).sorted() {
        writer.key(user)
        writer.object { writer in
          for entry in devices where entry.user == user {
            writer.key(entry.device)
            writer.write(entry.keys)
          }
        }
      }
    }
    writer.key("failures")
    writer.object { writer in
      for server in failures {
        writer.key(ByteString(server))
        writer.object { _ in }
      }
    }
  }
}
