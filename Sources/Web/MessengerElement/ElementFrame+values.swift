import JSON
import Messenger
import WebHost

/// From JSON to rows, and from actions to JSON.
extension ElementFrame {
  func id(_ value: JSON?) -> RowID { RowID(UInt64(clamping: value?.integer ?? 0)) }
  func handle(_ request: JSON) -> RowHandle { RowHandle(id(request["id"])) }

  func rows(_ request: JSON) -> [NewRow] {
    var rows: [NewRow] = []
    if let list = request["rows"] {
      for value in list.elements { if let row = row(value) { rows.append(row) } }
    }
    return rows
  }

  /// nil for what is neither a message nor a line.
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
    return NewRow(content, timestampMilliseconds: value["time"]?.integer, id: value["id"].map { id($0) })
  }

  private func message(_ value: JSON, _ sender: Sender) -> MessageRow {
    var message = MessageRow(sender: sender, body: .text(value["text"]?.string ?? ""))
    if let image = value["image"] {
      let picture = ImageBody(
        name: image["name"]?.string ?? "", thumbnail: image["source"]?.string,
        width: Int(clamping: image["width"]?.integer ?? 0), height: Int(clamping: image["height"]?.integer ?? 0),
        blurHash: image["blurHash"]?.string ?? "")
      let caption = value["text"]?.string ?? ""
      message.body = .parts(caption.utf8.isEmpty ? [.image(picture)] : [.image(picture), .text(caption)])
    } else if let file = value["file"] {
      message.body = .file(FileBody(name: file["name"]?.string ?? "", detail: file["detail"]?.string ?? ""))
    }
    message.isEdited = value["edited"]?.bool ?? false
    message.sendState = SendState(rawValue: UInt8(clamping: value["state"]?.integer ?? 0)) ?? .sent
    message.receipt = ReceiptState(rawValue: UInt8(clamping: value["receipt"]?.integer ?? 0)) ?? .hidden
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
            key: reaction["key"]?.string ?? "", count: Int(clamping: reaction["count"]?.integer ?? 1),
            isOwn: reaction["own"]?.bool ?? false, people: reaction["people"]?.string ?? ""))
      }
    }
    return around
  }

  func place(_ request: JSON) -> AddPlace {
    if let before = request["before"] { return .before(RowHandle(id(before))) }
    if let after = request["after"] { return .after(RowHandle(id(after))) }
    return request["atStart"]?.bool == true ? .start : .end
  }

  func rowPlace(_ request: JSON) -> RowPlace {
    guard let place = request["place"]?.text else { return .centre }
    return place == "top" ? .top : place == "bottom" ? .bottom : .centre
  }

  func bubbles(_ request: JSON) -> BubbleConfiguration {
    guard let name = request["name"]?.text else { return .house }
    return name == "standard" ? .standard : name == "simple" ? .simple : .house
  }

  func head(_ request: JSON) -> HeadState {
    guard let state = request["state"]?.text else { return .more(.idle) }
    return state == "end" ? .start : state == "failed" ? .more(.failed) : .more(.idle)
  }

  func tail(_ request: JSON) -> TailState {
    guard let state = request["state"]?.text else { return .more(.idle) }
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
    case .openMedia(let row, _, let item): return tell("openmedia", row) { $0.member("item", item) }
    case .openFile(let row, _): return tell("openfile", row)
    case .openSender(let row): return tell("opensender", row)
    case .openReply(let row): return tell("openreply", row)
    case .openThread(let row): return tell("openthread", row)
    case .showReaders(let row): return tell("showreaders", row)
    case .showReactors(let row): return tell("showreactors", row)
    default: return false
    }
  }

  private func tell(_ name: StaticString, _ row: RowID, _ members: (inout JSONWriter) -> Void = { _ in }) -> Bool {
    tell(name) {
      $0.member("row", Int64(clamping: row.rawValue))
      members(&$0)
    }
    return true
  }
}
