import Foundation
import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Items as text, with everything a view could show, to be compared with a file in `Snapshots`.
enum Snapshot {
  static func text(_ items: [TimelineItem]) -> String { items.map(text).joined(separator: "\n") + "\n" }

  static func text(_ item: TimelineItem) -> String {
    var lines = ["\(item.eventID?.string ?? "-") \(item.sender) \(item.timestampMilliseconds)"]
    lines += text(item.content).map { "  " + $0 }
    if item.isEdited { lines.append("  edited") }
    if let root = item.threadRoot { lines.append("  in thread \(root)") }
    if let reply = item.replyTo { lines.append("  answers \(reply) \(describe(item.quoted))") }
    for reaction in item.reactions {
      lines.append(
        "  reaction \(reaction.key) \(reaction.senders.map { $0.string }) own \(reaction.ownEventID?.string ?? "-")")
    }
    if let thread = item.thread {
      let latest = thread.latest.map { "\($0.eventID) \($0.sender) \(describe($0.content))" } ?? "-"
      lines.append("  thread of \(thread.count), latest \(latest), participating \(thread.isParticipating)")
    }
    return lines.joined(separator: "\n")
  }

  static func text(_ content: TimelineItem.Content) -> [String] {
    switch content {
    case .message(let message): text(message)
    case .state(let change): ["state: " + change.english(sender: "SENDER") { $0.string }]
    case .redacted: ["redacted"]
    case .undecryptable(.waiting): ["undecryptable"]
    case .undecryptable(let reason): ["undecryptable: \(reason.name)"]
    case .call(let call): [call.english]
    case .verification(let verification): [verification.english]
    case .custom(let event):
      ["custom \(event.type): \(event.text?.string ?? "-") \(String(decoding: event.content, as: UTF8.self))"]
    case .unparsable(let type, let reason): ["unparsable \(type): \(reason)"]
    case .gap(let state): ["gap \(state)"]
    }
  }

  private static func text(_ message: MessageContent) -> [String] {
    var lines = ["\(message.kind): \(message.body)"]
    if let html = message.formattedBody { lines.append("html: \(html)") }
    if let mentions = message.mentions { lines.append("mentions: \(mentions.users.map { $0.string }) room \(mentions.room)") }
    if let file = message.attachment { lines.append(text(file)) }
    if let caption = message.caption { lines.append("caption: \(caption)") }
    if let place = message.location {
      lines.append(
        "location: \(place.uri.latitude) \(place.uri.longitude) \(place.asset) \(place.description?.string ?? "-")")
    }
    for entry in message.gallery { lines += text(entry).map { "- " + $0 } }
    if let poll = message.poll { lines += text(poll) }
    if let share = message.liveLocation {
      lines.append(
        "live \(share.isLive) until \(share.expiresAtMilliseconds) at \(share.position?.uri.text.string ?? "-")")
    }
    return lines
  }

  private static func text(_ poll: Poll) -> [String] {
    let end = poll.endedAtMilliseconds.map { "ended at \($0)" } ?? "open"
    return ["poll: up to \(poll.selectionLimit), disclosed \(poll.isDisclosed), \(poll.voterCount) voted, \(end)"]
      + poll.answers.map { "answer \($0.id) \($0.text): \($0.voters.map { $0.string }) own \($0.isOwn)" }
  }

  private static func text(_ file: ClientCore.Attachment) -> String {
    var parts = ["file: \(file.fileName) \(file.source?.string ?? "-")"]
    if let type = file.mimeType { parts.append(type.string) }
    if let size = file.sizeBytes { parts.append("\(size) bytes") }
    if let width = file.width, let height = file.height { parts.append("\(width)x\(height)") }
    if let duration = file.durationMilliseconds { parts.append("\(duration) ms") }
    if let thumbnail = file.thumbnail {
      parts.append("thumbnail \(thumbnail) \(file.thumbnailWidth ?? 0)x\(file.thumbnailHeight ?? 0)")
    }
    if let hash = file.blurHash { parts.append("blurhash \(hash)") }
    if !file.waveform.isEmpty { parts.append("waveform \(file.waveform)") }
    return parts.joined(separator: ", ")
  }

  /// Compares with `Snapshots/NAME.txt`. With `MARTLET_RECORD=1` in the environment the file is written instead, and the test fails.
  static func compare(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Snapshots/\(name).txt")
    if ProcessInfo.processInfo.environment["MARTLET_RECORD"] == "1" {
      try? Data(text.utf8).write(to: file)
      Issue.record("recorded \(name)", sourceLocation: sourceLocation)
      return
    }
    let expected = (try? String(contentsOf: file, encoding: .utf8)) ?? "no such file"
    #expect(text == expected, sourceLocation: sourceLocation)
  }
}
