import JSON

/// `mxc://server/media-id`. Spec: Client-Server API, "Matrix Content (`mxc://`) URIs".
public struct MediaURI: Identifier {
  public let text: ByteString

  public init(trusted text: ByteString) { self.text = text }

  public init(server: ServerName, mediaID: ByteString) {
    text = ByteString("mxc://" + server.string + "/" + mediaID.string)
  }

  public static func accepts(_ text: ByteString) -> Bool {
    text.withBytes { bytes in
      guard text.hasPrefix("mxc://"), bytes.count <= 512 else { return false }
      let rest = bytes[6...]
      guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), ServerName.accepts(rest[..<slash]),
        !isPathStep(rest[..<slash])
      else { return false }
      let mediaID = rest[(slash + 1)...]
      return !mediaID.isEmpty && mediaID.allSatisfy(isMediaID)
    }
  }

  /// `.` and `..`, which are server names by the grammar, lead to another path on the way.
  private static func isPathStep(_ server: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    server.count <= 2 && server.allSatisfy { $0 == UInt8(ascii: ".") }
  }

  public var serverName: ServerName { ServerName(trusted: ByteString(decoding: path.prefix { $0 != UInt8(ascii: "/") })) }
  public var mediaID: ByteString {
    ByteString(decoding: path.drop { $0 != UInt8(ascii: "/") }.dropFirst())
  }

  /// `A-Z`, `a-z`, `0-9`, `_`, `-`. Spec: Client-Server API, "Security considerations" of content repositories.
  public static func isMediaID(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private var path: ArraySlice<UInt8> { text.utf8.dropFirst(6) }
}
