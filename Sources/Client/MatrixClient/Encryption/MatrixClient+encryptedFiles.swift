public import ClientCore
import JSON
import MatrixModel
import Olm

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Files of encrypted rooms. They are decrypted only after their hash is the one that the sender has told.
extension MatrixClient {
  /// Returns a file of an encrypted room in clear text. The cache has it as it lies on the server, encrypted.
  /// - Throws: the same errors as `media` for other files; `damagedAttachment` if it is not what its sender encrypted.
  public func media(_ file: EncryptedFile, progress: MediaCache.Progress? = nil) async throws(ClientError) -> [UInt8] {
    try await Self.opened(media(file.source, progress: progress), file.keys)
  }

  /// Returns the file of a message.
  /// - Throws: `attachmentIsGone` if the message names none.
  public func media(_ attachment: Attachment, progress: MediaCache.Progress? = nil) async throws(ClientError) -> [UInt8] {
    if let file = attachment.encrypted { return try await media(file, progress: progress) }
    guard let source = attachment.source else { throw .attachmentIsGone }
    return try await media(source, progress: progress)
  }

  /// Returns a small picture of a message's file; nil if there is none. The server makes one of its own size for files that are not encrypted.
  public func thumbnail(of attachment: Attachment, size: ThumbnailSize) async throws(ClientError) -> [UInt8]? {
    if let file = attachment.encryptedThumbnail { return try await media(file) }
    guard attachment.encrypted == nil, let source = attachment.thumbnail ?? attachment.source else { return nil }
    return try await media(source, size: size)
  }

  /// Downloads a file of an encrypted room to a path, in clear text. The file exists only when it is complete and was proven to be the sender's.
  public func download(
    _ file: EncryptedFile, to path: String, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws(ClientError) {
    guard (try? AttachmentReader(file.keys)) != nil else { throw .damagedAttachment }
    let ciphertext = path + ".encrypted"
    try await download(file.source, to: ciphertext, progress: progress)
    try await Self.decrypt(ciphertext, to: path, file.keys)
  }

  @concurrent static func opened(_ bytes: [UInt8], _ keys: FileKeys) async throws(ClientError) -> [UInt8] {
    var bytes = bytes
    do throws(OlmError) {
      var reader = try AttachmentReader(keys)
      reader.decrypt(&bytes)
      try reader.verify()
    } catch { throw .damagedAttachment }
    return bytes
  }

  /// In parts. The ciphertext goes in any case.
  @concurrent private static func decrypt(_ source: String, to path: String, _ keys: FileKeys) async throws(ClientError) {
    defer { unlink(source) }
    guard var reader = try? AttachmentReader(keys) else { throw .damagedAttachment }
    guard let file = fopen(source, "re") else { throw .attachmentIsGone }
    defer { fclose(file) }
    guard let sink = FileSink(path: path) else { throw .attachmentIsGone }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      var part = Array(buffer[..<count])
      reader.decrypt(&part)
      guard part.withUnsafeBytes({ sink.append($0) }) else { throw .attachmentIsGone }
    }
    guard ferror(file) == 0 else { throw .attachmentIsGone }
    guard (try? reader.verify()) != nil else { throw .damagedAttachment }
    guard sink.finish() else { throw .attachmentIsGone }
  }
}

extension AttachmentReader {
  init(_ keys: FileKeys) throws(OlmError) {
    try self.init(keyText: Array(keys.key.utf8), counter: Array(keys.counter.utf8), digest: Array(keys.digest.utf8))
  }
}
