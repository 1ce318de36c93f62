import Messenger
import WebHost

/// Every text the program says, by its `Key`. The words are in the files `Web/texts.LANGUAGE.txt`, of which the host brings one.
///
/// A new text: a line `name = words` where it belongs in `Web/texts.en.txt`, one anywhere in the file of each other language,
/// then `Scripts/texts`: it puts the lines in order and writes the names down as keys. `Strings[.name]` has it from then on,
/// `Strings[.name, "Ana"]` with `{0}` filled in, `Strings[.name, count: 7]` in the form for a number.
package enum Strings {
  private static let table = StringTable(Host.texts, isRightToLeft: Host.pageState.contains(.rightToLeft))

  // Never inlined: there are some hundred places that say something.

  package static subscript(key: Key) -> String { @inline(never) get { words(key, 0, []) } }
  package static subscript(key: Key, argument: String) -> String { @inline(never) get { words(key, 0, [argument]) } }
  package static subscript(key: Key, first: String, second: String) -> String {
    @inline(never) get { words(key, 0, [first, second]) }
  }
  package static subscript(key: Key, first: String, second: String, third: String) -> String {
    @inline(never) get { words(key, 0, [first, second, third]) }
  }
  /// What is done or said, and of what: "Edit: Topic", with the colon of the language.
  package static subscript(key: Key, of name: String) -> String { @inline(never) get { self[.labelled, self[key], name] } }
  /// In the form that the language has for that number.
  package static subscript(key: Key, count count: Int) -> String {
    @inline(never) get { words(key, Host.pluralForm(of: count), ["\(count)"]) }
  }

  @inline(never)
  private static func words(_ key: Key, _ form: Int, _ arguments: [String]) -> String {
    #if !hasFeature(Embedded)
      // Without a page there are no words: tests see the names.
      if table.count == 0, key == .labelled { return arguments.joined(separator: ": ") }
      if table.count == 0 { return (["\(key)"] + arguments).joined(separator: " ") }
    #endif
    return table.words(key.rawValue, form: form, arguments)
  }

  /// What the messenger says.
  package static var phrases: Phrases {
    let phrases = Phrases()
    phrases.newMessagesDivider = self[.newMessagesDivider]
    phrases.newMessages = { self[.newMessages, count: $0] }
    phrases.jumpToEnd = self[.toLatest]
    phrases.timeline = self[.timeline]
    phrases.startOfHistory = self[.startOfHistory]
    phrases.loading = self[.loading]
    phrases.loadingFailed = self[.loadingFailed]
    phrases.loadMore = self[.showMore]
    phrases.gap = self[.gap]
    phrases.reply = self[.reply]
    phrases.moreActions = self[.moreActions]
    phrases.showChanges = self[.showChanges]
    phrases.hideChanges = self[.hideChanges]
    phrases.selected = self[.selected]
    phrases.retry = self[.retry]
    phrases.cancel = self[.discard]
    phrases.sending = self[.sending]
    phrases.queued = self[.queued]
    phrases.failed = self[.notSent]
    phrases.edited = self[.edited]
    phrases.redacted = self[.removedMessage]
    phrases.undecryptable = self[.undecryptable]
    phrases.unsupported = self[.unsupported]
    phrases.unreadMembers = { self[.unreadMembers, count: $0] }
    phrases.typing = { self[.typing, $0] }
    phrases.openImage = { self[.openImage, $0] }
    phrases.openVideo = { self[.openVideo, $0] }
    phrases.uploading = self[.uploading]
    phrases.play = self[.play]
    phrases.pause = self[.pause]
    phrases.seek = self[.seek]
    phrases.playbackRate = self[.playbackRate]
    phrases.copyCode = self[.copy]
    phrases.location = self[.location]
    phrases.liveLocation = self[.liveLocation]
    phrases.poll = { self[.poll, $0] }
    phrases.votes = { self[.votes, count: $0] }
    phrases.pollVoters = { self[.pollVoters, count: $0] }
    phrases.pollEnded = { self[.pollEnded, count: $0] }
    phrases.spoiler = { $0.utf8.isEmpty ? self[.spoiler] : self[.spoilerAbout, $0] }
    phrases.replyTo = { $0.utf8.isEmpty ? self[.replyToMessage] : self[.replyTo, $0] }
    phrases.replies = { self[.replies, count: $0] }
    phrases.addReaction = self[.addReaction]
    phrases.reactWith = { self[.reactWith, $0] }
    phrases.reaction = { key, count, people in
      people.utf8.isEmpty ? self[.reaction, key, "\(count)"] : self[.reactionBy, key, "\(count)", people]
    }
    phrases.readBy = { self[.readBy, count: $0] }
    phrases.sent = self[.sent]
    phrases.delivered = self[.delivered]
    phrases.read = self[.read]
    phrases.endOfHistory = self[.endOfHistory]
    phrases.closeChat = self[.close]
    phrases.composerPlaceholder = self[.composerPlaceholder]
    phrases.attach = self[.attach]
    phrases.send = self[.send]
    phrases.remainingLength = { $0 < 0 ? self[.charactersOver, count: -$0] : self[.charactersLeft, count: $0] }
    return phrases
  }
}
