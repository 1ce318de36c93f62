import JSON
import Messenger
import WebHost

/// Converts JSON to rows, and actions to JSON.
extension ElementFrame {
  func id(_ value: JSON?) -> RowID { RowID(UInt64(clamping: value?.integer ?? 0)) }
  func handle(_ request: JSON) -> RowHandle { RowHandle(id(request["id"])) }

  /// Returns nil if any entry is not a valid row.
  func rows(_ request: JSON) -> [NewRow]? {
    var rows: [NewRow] = []
    if let list = request["rows"] {
      for value in list.elements {
        guard let row = row(value) else { return nil }
        rows.append(row)
      }
    }
    return rows
  }

  /// Returns nil if the value is neither a message nor a line.
  func row(_ value: JSON?) -> NewRow? {
    guard let value else { return nil }
    let content: TimelineRow.Content
    if let line = value["line"]?.string {
      content = .line(line)
    } else if let sender = sender(value["sender"]) {
      content = .message(message(value, sender))
    } else {
      return nil
    }
    return NewRow(content, timestampMilliseconds: value.integer("time"), id: value["id"].map { id($0) })
  }

  private func message(_ value: JSON, _ sender: Sender) -> MessageRow {
    var message = MessageRow(sender: sender, body: .text(value["text"]?.string ?? ""))
    let parts = parts(value)
    if !parts.isEmpty { message.body = .parts(parts) }
    message.isEdited = value.bool("edited") ?? false
    message.sendState = sendState(value)
    message.receipt = ReceiptState(rawValue: UInt8(clamping: value.integer("receipt") ?? 0)) ?? .hidden
    message.surroundings = surroundings(value)
    return message
  }

  private func surroundings(_ value: JSON) -> Surroundings? {
    guard value["reply"] != nil || value["reactions"] != nil || value["header"] != nil || value["footer"] != nil else {
      return nil
    }
    var around = Surroundings(header: value["header"]?.string ?? "", footer: value["footer"]?.string ?? "")
    if let reply = value["reply"] {
      around.reply = ReplyQuote(
        sender: sender(reply["sender"]), text: reply["text"]?.string ?? "", row: reply["id"].map { id($0) })
    }
    if let reactions = value["reactions"] {
      for reaction in reactions.elements {
        around.reactions.append(
          Reaction(
            key: reaction["key"]?.string ?? "", count: Int(clamping: reaction.integer("count") ?? 1),
            isOwn: reaction.bool("own") ?? false, people: reaction["people"]?.string ?? ""))
      }
    }
    return around
  }

  func sendState(_ value: JSON) -> SendState {
    SendState(rawValue: UInt8(clamping: value.integer("state") ?? 0)) ?? .sent
  }

  /// nil where it is not said.
  func avatarPlace(_ request: JSON) -> AvatarPlace? {
    guard let place = request.text("avatars") else { return nil }
    return place == "group-end"
      ? .groupEnd : place == "every" ? .everyMessage : place == "none" ? AvatarPlace.none : .groupStart
  }

  func transactionMode(_ request: JSON) -> TransactionMode {
    guard let mode = request.text("mode") else { return .natural }
    return mode == "none" ? .none : mode == "keep-stable" ? .keepStable : .natural
  }

  func place(_ request: JSON) -> AddPlace {
    if let before = request["before"] { return .before(RowHandle(id(before))) }
    if let after = request["after"] { return .after(RowHandle(id(after))) }
    return request.bool("atStart") == true ? .start : .end
  }

  func rowPlace(_ request: JSON) -> RowPlace {
    guard let place = request.text("place") else { return .centre }
    return place == "top" ? .top : place == "bottom" ? .bottom : .centre
  }

  func head(_ request: JSON) -> HeadState {
    guard let state = request.text("state") else { return .more(.idle) }
    return state == "end" ? .start : state == "failed" ? .more(.failed) : .more(.idle)
  }

  func tail(_ request: JSON) -> TailState {
    guard let state = request.text("state") else { return .more(.idle) }
    return state == "end" ? .end : state == "live" ? .live : state == "failed" ? .more(.failed) : .more(.idle)
  }

  // MARK: Actions

  /// True where the page is told; links are opened by the browser, menus by it too.
  func act(_ action: TimelineAction) -> Bool {
    switch action {
    case .react(let row, let key): return tell("react", row) { $0.member("key", key) }
    case .addReaction(let row, let x, let y):
      return tell("addreaction", row) {
        $0.member("x", Int64(x))
        $0.member("y", Int64(y))
      }
    case .retry(let row): return tell("retry", row)
    case .cancel(let row): return tell("cancel", row)
    case .openMedia(let row, let part, let item):
      return tell("openmedia", row) {
        $0.member("part", part)
        $0.member("item", item)
      }
    case .openFile(let row, let part): return tell("openfile", row) { $0.member("part", part) }
    case .openLocation(let row, let part): return tell("openlocation", row) { $0.member("part", part) }
    case .vote(let row, let part, let answers):
      return tell("vote", row) {
        $0.member("part", part)
        $0.key("answers")
        $0.beginArray()
        for answer in answers { $0.write(ByteString(answer)) }
        $0.endArray()
      }
    case .play(let row, let part): sound?.play(row, part) { source(row, part) }
    case .seek(let row, let part, let fraction): sound?.seek(row, part, fraction) { source(row, part) }
    case .changeRate(let row, let part): sound?.changeRate(row, part)
    case .openSender(let row): return tell("opensender", row)
    case .openReply(let row): return tell("openreply", row)
    case .openThread(let row): return tell("openthread", row)
    case .showReaders(let row): return tell("showreaders", row)
    case .showReactors(let row): return tell("showreactors", row)
    default: return false
    }
    return true
  }

  private func source(_ row: RowID, _ part: Int) -> String? {
    guard case .message(let message)? = view?.timeline.row(row)?.content, case .parts(let parts, _) = message.body,
      parts.indices.contains(part), case .audio(let audio) = parts[part]
    else { return nil }
    return audio.source
  }

  private func tell(_ name: StaticString, _ row: RowID, _ members: (inout JSONWriter) -> Void = { _ in }) -> Bool {
    tell(name) {
      $0.member("row", Int64(clamping: row.rawValue))
      members(&$0)
    }
    return true
  }
}
