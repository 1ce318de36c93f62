/// New messages that are spoken together.
struct Burst {
  var count = 0
  /// What is said when it stays alone.
  var first = ""
  /// The first was said already: what came behind it waits for the end.
  var isOpen = false
}

/// One polite announcement for a message that comes alone, at once, and one for all that follow it closely.
extension Timeline {
  /// What comes within this time of the first one belongs together.
  private static var burstMilliseconds: Int { 1000 }

  func announce(_ message: MessageRow) {
    guard !isClosed else { return }
    burst.count += 1
    if burst.count == 1 { burst.first = message.sender.name + ": " + SpokenRow.text(message, options.phrases) }
  }

  /// The messages of a step are in.
  func endStep() {
    guard burst.count > 0, !burst.isOpen, !isClosed else { return }
    say()
    guard let after = options.after else { return }
    burst.isOpen = true
    after(Timeline.burstMilliseconds) { [self] in
      burst.isOpen = false
      guard burst.count > 0, !isClosed else { return }
      endStep()
      dom.flush()
    }
  }

  private func say() {
    parts.announce(burst.count == 1 ? burst.first : options.phrases.newMessages(burst.count))
    burst = Burst()
  }
}
