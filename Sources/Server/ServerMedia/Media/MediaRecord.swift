import Database
import JSON
import MatrixModel

/// What the server knows of one upload, for who looks after it.
package struct MediaRecord: Sendable {
  package let mediaID: ByteString
  /// nil for what the server fetched itself.
  package let userID: UserID?
  package let contentType: ByteString
  package let fileName: ByteString?
  package let bytes: Int64
  /// Milliseconds since 1970.
  package let created: Int64
  /// SHA-256 in hexadecimal; records of the same content have the same.
  package let hash: String
  /// Who withdrew it; nil where it is served.
  package let quarantinedBy: String?
  /// Whether it can be neither withdrawn with all of its user's nor deleted for its age.
  package let isProtected: Bool

  /// The columns that `init(row:)` reads are those of the `SELECT`s of `MediaModeration`, in their order.
  package init(row: Row) {
    mediaID = ByteString(row.text(0))
    let owner = row.text(1)
    userID = owner.isEmpty ? nil : UserID(trusted: ByteString(owner))
    contentType = ByteString(row.text(2))
    fileName = row.optionalText(3).map { ByteString($0) }
    bytes = row.integer(4)
    created = row.integer(5)
    hash = row.text(6)
    quarantinedBy = row.optionalText(7)
    isProtected = row.bool(8)
  }

  /// Where the record stands in lists, which are in the order of coming.
  package var position: Position { Position(created: created, mediaID: mediaID) }

  /// A place in a list, as a token of paging: `<created>_<media ID>`.
  package struct Position: Sendable, CustomStringConvertible {
    let created: Int64
    let mediaID: ByteString

    static let start = Position(created: .min, mediaID: "")

    init(created: Int64, mediaID: ByteString) {
      self.created = created
      self.mediaID = mediaID
    }

    /// nil for text of another form.
    package init?(_ text: ByteString) {
      let parts = text.string.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let created = Int64(parts[0]), created >= 0, parts[1].utf8.allSatisfy(MediaURI.isMediaID) else {
        return nil
      }
      self.init(created: created, mediaID: ByteString(String(parts[1])))
    }

    package var description: String { "\(created)_\(mediaID)" }
  }
}

/// The sums over all content.
package struct MediaStatistics: Sendable {
  package let items: Int64
  /// Bytes as their users count them.
  package let bytes: Int64
  /// Files on disk and their bytes: the same content counts once. Thumbnails are not counted.
  package let files: Int64
  package let fileBytes: Int64
  package let quarantined: Int64
  /// IDs whose content is still to come.
  package let pending: Int64
}
