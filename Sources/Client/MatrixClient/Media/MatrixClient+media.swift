public import ClientCore
import JSON
public import MatrixModel

/// Downloads from the content repository, through the cache.
extension MatrixClient {
  /// Sets the cache of downloads from now on.
  public func useMediaCache(_ cache: MediaCache) { mediaCache = cache }

  /// Returns a file or its thumbnail, from memory or the folder, or else from the server. Cancelling the task ends the download, unless
  /// other callers wait for it too. To find the type of the bytes, use `FileSignature` and do not trust the sender.
  /// - Throws: `tooLarge` if the file exceeds `MediaRetention.fileBytes`, or without a folder an eighth of `memoryBytes`.
  public func media(
    _ uri: MediaURI, size: ThumbnailSize? = nil, progress: MediaCache.Progress? = nil
  ) async throws(ClientError) -> [UInt8] {
    try await mediaCache.bytes(MediaKey(uri, size), progress, fetch: fetcher(uri, size))
  }

  /// Returns the path of the file in the cache's folder. Open it at once: the cache removes it when other files need the space.
  /// - Throws: `tooLarge`, also if the cache has no folder.
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
