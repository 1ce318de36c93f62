import JSON

/// Names one login of a user; opaque, 1 to 255 bytes without NUL.
public struct DeviceID: Identifier {
  public let text: ByteString

  public init(trusted text: ByteString) { self.text = text }

  public static func accepts(_ text: ByteString) -> Bool {
    !text.isEmpty && text.count <= 255 && !text.utf8.contains(0)
  }
}

/// Chosen by the client so that a repeated request does its work once; opaque, 1 to 255 bytes.
///
/// Spec: Client-Server API, "Transaction identifiers".
public struct TransactionID: Identifier {
  public let text: ByteString

  public init(trusted text: ByteString) { self.text = text }

  public static func accepts(_ text: ByteString) -> Bool {
    !text.isEmpty && text.count <= 255
  }
}
