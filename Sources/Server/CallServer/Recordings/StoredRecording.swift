import Database
import JSON
import MatrixModel

/// One recording of a session.
package struct RecordingID: Identifier, SQLParameter {
  package let text: ByteString

  package init(trusted text: ByteString) { self.text = text }

  package static func accepts(_ text: ByteString) -> Bool { CallName.accepts(text) }
}

/// What is recorded, and what becomes of it.
package struct RecordingOptions: Sendable, Equatable {
  package var name: ByteString = ""
  package var hasAudio = true
  package var hasVideo = true
  /// One file is made of all streams afterwards.
  package var isComposed = true
  /// Only streams that were added one by one.
  package var isManual = false
  /// Of the composed picture.
  package var width: Int64 = 640
  package var height: Int64 = 480

  package init() {}
}

/// A recording as it is kept.
package struct StoredRecording: Sendable, Equatable {
  /// OpenTok's words.
  package enum Status: String, Sendable { case started, stopped, available, failed }

  package let id: RecordingID
  package let project: ProjectID
  package let session: SessionID
  package let options: RecordingOptions
  /// Milliseconds since 1970.
  package let created: Int64
  package var status = Status.started
  /// Why it stopped or failed; empty where somebody asked for it.
  package var reason: ByteString = ""
  package var durationMilliseconds: Int64 = 0
  /// Of all its files.
  package var bytes: Int64 = 0
  /// The file that its URL is of; empty before there is one.
  package var mainFile: ByteString = ""
}
