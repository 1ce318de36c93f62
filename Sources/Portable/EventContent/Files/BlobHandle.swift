public import JSON

/// Names bytes that the host holds (a picked file). Opaque; a host that keeps its blobs over a restart lets uploads survive it.
public struct BlobHandle: Hashable, Sendable {
  public var name: ByteString

  public init(_ name: ByteString) { self.name = name }
}
