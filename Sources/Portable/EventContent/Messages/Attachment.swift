import JSON
import MatrixModel

/// A file, on the server or still here.
public struct Attachment: Sendable {
  public var fileName: ByteString
  /// nil until it is uploaded, and for a file that is encrypted.
  public var source: MediaURI?
  /// In encrypted rooms, in the place of `source`.
  public var encrypted: EncryptedFile?
  /// The file as this machine holds it, in own messages on their way.
  public var blob: BlobHandle?
  public var mimeType: ByteString?
  public var sizeBytes: Int64?
  /// Pixels.
  public var width: Int64?
  public var height: Int64?
  public var durationMilliseconds: Int64?
  public var thumbnail: MediaURI?
  /// In encrypted rooms, in the place of `thumbnail`.
  public var encryptedThumbnail: EncryptedFile?
  public var thumbnailWidth: Int64?
  public var thumbnailHeight: Int64?
  /// A blurred picture to show until the real one is there. MSC2448.
  public var blurHash: ByteString?
  /// Loudness over the length of a voice message, 0 to 1024 each; empty where unknown. MSC3246.
  public var waveform: [UInt16] = []

  public init(
    fileName: ByteString, blob: BlobHandle? = nil, mimeType: ByteString? = nil, sizeBytes: Int64? = nil,
    width: Int64? = nil,
    height: Int64? = nil
  ) {
    self.fileName = fileName
    self.blob = blob
    self.mimeType = mimeType
    self.sizeBytes = sizeBytes
    self.width = width
    self.height = height
  }
}
