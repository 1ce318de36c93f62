public import ClientCore
import JSON
public import MatrixModel

/// Files of the content repository, through the cache.
extension MatrixClient {
  /// Downloads stay there from now on.
  public func useMediaCache(_ cache: MediaCache) { mediaCache = cache }

  /// A file or a thumbnail of it, from memory or the folder, else from the server. Cancelling the task ends the download, unless
  /// others wait for it too. What the bytes are is said by `FileSignature`, not by whoever sent them.
  /// - Throws: `tooLarge` where it has more bytes than `MediaRetention.fileBytes`, without a folder than an eighth of `memoryBytes`.
  public func media(
    _ uri: MediaURI, size: ThumbnailSize? = nil, progress: MediaCache.Progress? = nil
  ) async throws(ClientError) -> [UInt8] {
    try await mediaCache.bytes(MediaKey(uri, size), progress, fetch: fetcher(uri, size))
  }

  /// The path of the file in the cache's folder. Open it at once: it goes when others need the room.
  /// - Throws: `tooLarge`, also where the cache has no folder.
  public func mediaFile(
    _ uri: MediaURI, size: ThumbnailSize? = nil, progress: MediaCache.Progress? = nil
  ) async throws(ClientError) -> String {
    try await mediaCache.file(MediaKey(uri, size), progress, fetch: fetcher(uri, size))
  }

  private func fetcher(_ uri: MediaURI, _ size: ThumbnailSize?) -> MediaCache.Fetch {
    { [self] destination, bytesLimit, progress in
      do throws(ClientError) {
        return .success(try await fetch(uri, size, to: destination, bytesLimit: bytesLimit, progress))
      } catch { return .failure(error) }
    }
  }
}
