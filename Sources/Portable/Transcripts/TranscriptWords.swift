import ClientCore
import JSON
import MatrixModel

/// The words of a transcript: a program says them in the language of its user.
package struct TranscriptWords {
  /// The page's `lang`, a BCP 47 tag.
  package var language = "en"
  package var isRightToLeft = false
  package var edited: String
  package var replyMissing: String
  package var encrypted: String
  /// Of a message that was deleted; with the name of a moderator who did it.
  package var deleted: (String?) -> String
  package var file: (String) -> String
  /// What a message without a file says.
  package var message: (MessageContent) -> String
  package var byteCount: (Int64) -> String
  package var state: (StateChange, _ sender: String, _ name: (UserID) -> String) -> String
  package var call: (CallSummary) -> String
  /// In English unless the program says otherwise.
  package var verification: (VerificationSummary) -> String = { $0.english }
  /// Milliseconds since 1970: the day, and the time of that day.
  package var day: (Int64) -> String
  package var clock: (Int64) -> String
  /// An address at which the message of a file can be opened; nil if there is none.
  package var address: (EventID) -> String? = { _ in nil }
  /// What a member is called whose joining is not part of the transcript; nil if the program does not know either.
  package var name: (UserID) -> String? = { _ in nil }

  package init(
    edited: String, replyMissing: String, encrypted: String, deleted: @escaping (String?) -> String,
    file: @escaping (String) -> String, message: @escaping (MessageContent) -> String,
    byteCount: @escaping (Int64) -> String,
    state: @escaping (StateChange, _ sender: String, _ name: (UserID) -> String) -> String,
    call: @escaping (CallSummary) -> String, day: @escaping (Int64) -> String, clock: @escaping (Int64) -> String
  ) {
    self.edited = edited
    self.replyMissing = replyMissing
    self.encrypted = encrypted
    self.deleted = deleted
    self.file = file
    self.message = message
    self.byteCount = byteCount
    self.state = state
    self.call = call
    self.day = day
    self.clock = clock
  }
}
