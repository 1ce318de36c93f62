import JSON
import MatrixModel

/// An object with a new signature: a device, or a master key.
struct SignedObject: Equatable, Sendable {
  let user: UserID
  /// The ID of the device, or the key in base64.
  let name: ByteString
  let bytes: [UInt8]

  init(user: UserID, name: ByteString, object: JSON) {
    self.init(user: user, name: name, bytes: Array(object.bytes))
  }

  init(user: UserID, name: ByteString, bytes: [UInt8]) {
    self.user = user
    self.name = name
    self.bytes = bytes
  }
}

/// New signatures for `/keys/signatures/upload`.
package struct SignatureUpload: Equatable, Sendable {
  let objects: [SignedObject]

  /// The body of the request.
  package var body: [UInt8] {
    JSONWriter.object { writer in
      for user in Set(objects.map { $0.user }).ordered() {
        writer.key(user)
        writer.object { writer in
          for object in objects where object.user == user {
            writer.key(object.name)
            writer.raw(object.bytes)
          }
        }
      }
    }
  }
}
