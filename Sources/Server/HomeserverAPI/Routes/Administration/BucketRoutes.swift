import HTTPServer
import JSON
import MatrixModel
import ServerMedia

/// The bucket of media compared with the database. GET looks; POST also lets the server remove what nothing names.
extension Routes {
  mutating func addBucketRoutes() {
    let (media, audit) = (homeserver.media, homeserver.audit)
    let path = Self.ownAdministration + "/media/check"

    onAdmin(.get, path) { _, _ in .json(try await media.checked(dooms: false)) }

    onAdmin(.post, path) { _, administrator in
      let check = try await audit.record("media.check", of: "", by: administrator) { try await media.checked(dooms: true) }
      return .json(check)
    }
  }
}

extension MediaRepository {
  /// Throws `M_UNKNOWN` (400) without a bucket.
  fileprivate func checked(dooms: Bool) async throws -> BucketCheck {
    guard let check = try await checkBucket(dooms: dooms) else {
      throw MatrixError.unknown(
        status: 400, "Files are in data_dir and not in a bucket. 'martlet check' looks through data_dir.")
    }
    return check
  }
}

extension Response {
  fileprivate static func json(_ check: BucketCheck) -> Response {
    .json { writer in
      writer.object { writer in
        writer.member("objects", check.objects)
        writer.member("bytes", check.bytes)
        writer.member("missing_count", check.missingCount)
        writer.array("missing", check.missing) { $1.write(ByteString($0)) }
        writer.member("unnamed_count", check.unnamedCount)
        writer.array("unnamed", check.unnamed) { $1.write(ByteString($0)) }
      }
    }
  }
}
