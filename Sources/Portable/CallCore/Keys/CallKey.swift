import JSON
import MatrixModel

/// A key that the frames of one device in an encrypted call are encrypted with. Without its secret in a log.
package struct CallKey: Sendable, Equatable, CustomStringConvertible {
  /// Tells the keys of a device apart. After 255 comes 0.
  package let index: UInt8
  /// 32 bytes in base64.
  package let secret: ByteString

  package init(index: UInt8, secret: ByteString) {
    self.index = index
    self.secret = secret
  }

  package var description: String { "key \(index)" }

  /// Of the event between devices that carries it, encrypted: as clients send it today (MSC4143).
  package static let eventType: ByteString = "io.element.call.encryption_keys"

  /// From the content of such an event for the call of this room. nil for other calls, for a device that claims to be another, and if it is not
  /// valid.
  init?(_ content: JSON, of room: RoomID, from device: CallDeviceName) {
    guard content.text("room_id") == room.text, content["member"]?.text("claimed_device_id") == device.device,
      let session = content["session"], session["application"]?.isString("m.call") == true,
      session["call_id"]?.isString("") ?? true, let keys = content["keys"], let index = keys.integer("index"),
      let index = UInt8(exactly: index), let secret = keys.text("key"), CallLimits.keyCharacters.contains(secret.count)
    else { return nil }
    self.init(index: index, secret: secret)
  }

  /// - Parameter now: milliseconds since 1970.
  package func content(for room: RoomID, from device: CallDeviceName, at now: Int64) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("keys")
      writer.object { writer in
        writer.member("index", Int64(index))
        writer.member("key", secret)
      }
      writer.key("member")
      writer.object { writer in
        writer.member("id", device.text)
        writer.member("claimed_device_id", device.device)
      }
      writer.member("room_id", room.text)
      writer.key("session")
      writer.object { writer in
        writer.member("application", "m.call" as ByteString)
        writer.member("call_id", "" as ByteString)
        writer.member("scope", "m.room" as ByteString)
      }
      writer.member("sent_ts", now)
    }
    return writer.bytes
  }
}

/// A device in a call, by its IDs.
package struct CallDeviceName: Sendable, Equatable {
  package let user: UserID
  package let device: ByteString

  package init(_ user: UserID, _ device: ByteString) {
    self.user = user
    self.device = device
  }

  package init(_ membership: CallMembership) { self.init(membership.user, membership.device) }

  /// User ID and device ID with a colon between.
  package var text: ByteString {
    ByteString(decoding: user.text.utf8 + [UInt8(ascii: ":")] + device.utf8)
  }
}
