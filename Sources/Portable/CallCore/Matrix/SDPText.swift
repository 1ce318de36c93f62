import JSON

/// The little that calls read of descriptions themselves.
enum SDPText {
  static func hasVideo(_ sdp: ByteString) -> Bool { has("\nm=video ", sdp) }

  /// Whether its sender wants to hear nothing for now. WebRTC 1.0, "Hold functionality".
  static func isOnHold(_ sdp: ByteString) -> Bool {
    (has("\na=inactive", sdp) || has("\na=sendonly", sdp)) && !has("\na=sendrecv", sdp) && !has("\na=recvonly", sdp)
  }

  private static func has(_ text: StaticString, _ sdp: ByteString) -> Bool {
    let count = text.utf8CodeUnitCount
    return sdp.withBytes { bytes in
      var i = 0
      while i + count <= bytes.count {
        var matched = 0
        while matched < count, bytes[i + matched] == text.utf8Start[matched] { matched += 1 }
        if matched == count { return true }
        i += 1
      }
      return false
    }
  }
}
