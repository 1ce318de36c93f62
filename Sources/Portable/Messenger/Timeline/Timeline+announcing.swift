/// New messages that are spoken together.
struct Burst {
  var count = 0
  /// What is said when it stays alone.
  var first = ""
}

/// One polite announcement for each burst of messages, however many they are.
extension Timeline {
  /// What comes within this time of the first one belongs together.
  private static var burstMilliseconds: Int { 1000 }

  func announce(_ message: MessageRow) {
    guard !isClosed else { return }
    burst.count += 1
    guard burst.count == 1 else { return }
    burst.first = message.sender.name + ": " + SpokenRow.text(message, options.phrases)
    options.after?(Timeline.burstMilliseconds) { [self] in
      endBurst()
      dom.flush()
    }
  }

  func endBurst() {
    guard burst.count > 0, !isClosed else { return }
    parts.announce(burst.count == 1 ? burst.first : options.phrases.newMessages(burst.count))
    burst = Burst()
  }
}
