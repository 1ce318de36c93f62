import MatrixClient
import Transcripts

extension TranscriptWords {
  /// All times are UTC.
  static var english: TranscriptWords {
    TranscriptWords(
      edited: "edited", replyMissing: "a message that is not here", encrypted: "encrypted; no key to read it",
      deleted: { $0.map { "message removed by \($0)" } ?? "message removed" }, file: { "file: \($0)" },
      message: { $0.words }, byteCount: { Bytes.text($0) },
      state: { change, sender, name in change.english(sender: sender, name: name) }, call: { $0.english },
      day: { String(Clock.text($0).prefix(10)) }, clock: { String(Clock.text($0).suffix(5)) })
  }
}
