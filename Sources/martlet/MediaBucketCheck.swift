import Homeserver
import ObjectStore
import Telemetry

/// Asks for the bucket of media before the server starts.
enum MediaBucketCheck {
  /// Throws `failed` if the settings do not fit the bucket. A bucket that is only away does not keep the server from starting: it logs that.
  static func beforeStart(_ homeserver: Homeserver) async throws {
    guard let bucket = homeserver.media.bucket else { return }
    do {
      try await bucket.check()
    } catch let error as BucketError where error.isConfiguration {
      throw StartError.failed("cannot use the \(bucket.configuration.name) (media.s3): \(error)")
    } catch let error as BucketError {
      Log("media").warning(
        "the media bucket is away: uploads and files that are not in the cache are refused until it is back",
        ["bucket": .text(bucket.configuration.name), "error": .text("\(error)")])
    }
  }
}
