import ClientCore
import JSON
import MatrixModel
import Testing

@testable import Transcripts

func event(_ json: String) throws -> Event { try #require(Event(try JSON.parse(Array(json.utf8)))) }

/// A text of @a:b.
func text(_ id: String, _ body: String, at time: Int64 = 1, more: String = "") throws -> Event {
  try event(
    #"{"type":"m.room.message","event_id":"\#(id)","sender":"@a:b","origin_server_ts":\#(time),"content":{"msgtype":"m.text","body":"\#(body)"\#(more)}}"#
  )
}

/// The sender's edit of a message.
func edit(_ id: String, of message: String, to body: String, at time: Int64 = 1) throws -> Event {
  try text(
    id, "* " + body, at: time,
    more:
      #","m.new_content":{"msgtype":"m.text","body":"\#(body)"},"m.relates_to":{"rel_type":"m.replace","event_id":"\#(message)"}"#
  )
}

extension TranscriptWords {
  /// Short words, and times as they are.
  static var plain: TranscriptWords {
    TranscriptWords(
      edited: "edited", replyMissing: "not here", encrypted: "encrypted",
      deleted: { $0.map { "removed by \($0)" } ?? "removed" }, file: { "file: \($0)" }, message: { $0.body.string },
      byteCount: { "\($0) B" }, state: { change, sender, name in change.english(sender: sender, name: name) },
      call: { _ in "call" }, day: { "day \($0 / 86_400_000)" }, clock: { "\($0)" })
  }
}

extension [UInt8] {
  var text: String { String(decoding: self, as: UTF8.self) }
}
