/// What a file is by its first bytes, whatever its sender or a server says: pictures, films and sounds that a viewer may be given. All else
/// (HTML, SVG, programs) is nil: it is saved, not shown.
public enum FileSignature: UInt8, Sendable, CaseIterable {
  case png, jpeg, gif, webP, avif, mp4, webM, mp3, ogg, wav, flac, pdf

  /// Bytes that are looked at.
  public static let bytesNeeded = 16

  /// - Parameter bytes: the beginning of the file.
  public init?(_ bytes: some Collection<UInt8>) {
    let head = Array(bytes.prefix(Self.bytesNeeded))
    func has(_ text: StaticString, at offset: Int = 0) -> Bool {
      head.count >= offset + text.utf8CodeUnitCount
        && head[offset...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
    let isPNG = head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    if isPNG {
      self = .png
    } else if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if has("GIF87a") || has("GIF89a") {
      self = .gif
    } else if has("RIFF"), has("WEBP", at: 8) {
      self = .webP
    } else if has("RIFF"), has("WAVE", at: 8) {
      self = .wav
    } else if has("ftyp", at: 4) {
      self = has("avif", at: 8) || has("avis", at: 8) ? .avif : .mp4
    } else if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
      self = .webM
    } else if has("ID3") || (head.count > 1 && head[0] == 0xFF && head[1] & 0xE6 == 0xE2) {
      self = .mp3
    } else if has("OggS") {
      self = .ogg
    } else if has("fLaC") {
      self = .flac
    } else if has("%PDF-") {
      self = .pdf
    } else {
      return nil
    }
  }

  public var mimeType: StaticString {
    switch self {
    case .png: "image/png"
    case .jpeg: "image/jpeg"
    case .gif: "image/gif"
    case .webP: "image/webp"
    case .avif: "image/avif"
    case .mp4: "video/mp4"
    case .webM: "video/webm"
    case .mp3: "audio/mpeg"
    case .ogg: "audio/ogg"
    case .wav: "audio/wav"
    case .flac: "audio/flac"
    case .pdf: "application/pdf"
    }
  }
}
