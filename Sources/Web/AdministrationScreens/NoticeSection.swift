import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What the server says to its users: to one, or to all.
final class NoticeSection<D: DOM> {
  private let page: AdministrationPage<D>
  private let dom: D
  private let list: Node

  @discardableResult
  init(_ page: AdministrationPage<D>) {
    self.page = page
    dom = page.dom
    dom.element("p", "ma-note", text: .adminNoticesNote, in: page.body)
    let tools = page.tools()
    list = page.part(.adminBroadcasts)
    let all = dom.button("ma-button ma-primary ma-small", .adminBroadcast, icon: .people, in: tools)
    dom.on(all, .click) { [self] _ in askBroadcast() }
    page.tool(.adminSendNotice, .bell, in: tools) { Self.askNotice(page, to: nil) }
    load()
  }

  // MARK: To one

  /// - Parameter user: nil to ask for the user as well.
  static func askNotice(_ page: AdministrationPage<D>, to user: UserID?) {
    let dom = page.dom
    var (name, text): (Field<D>?, Field<D>?)
    // The same for each try of this dialog, so that a user who has the notice already does not get it again.
    let transaction = transactionID()
    page.openDialog { frame in
      FormDialog(
        dom, user.map { Strings[.adminNoticeTo, $0.string] } ?? Strings[.adminSendNotice], action: .send, in: frame,
        fields: { form in
          if user == nil {
            let field = Field(dom, .userName, in: form)
            name = field
            frame.setFirst(field.input)
          }
          let field = Field(dom, .adminNoticeText, in: form)
          text = field
          if user != nil { frame.setFirst(field.input) }
        }
      ) { dialog in
        guard let text else { return }
        guard let to = user ?? name.flatMap({ page.user(named: $0.text) }) else {
          return name.map { dialog.fail($0, Strings[.userIDWrong]) } ?? ()
        }
        let words = text.text.trimmed
        guard !words.utf8.isEmpty else { return dialog.fail(text, Strings[.adminTextMissing]) }
        page.ask(
          .sendNotice(ByteString(words), to: to, transaction: transaction), failed: { dialog.fail(Strings.words(for: $0)) }
        ) { _ in
          dialog.end()
          page.say(.sent)
        }
      }
    }
  }

  private static func transactionID() -> ByteString {
    var number: UInt64 = 0
    for byte in Host.randomBytes(8) { number = number << 8 | UInt64(byte) }
    return ByteString("notice-\(number)")
  }

  // MARK: To all

  private func askBroadcast() {
    var text: Field<D>?
    page.openDialog { [self] frame in
      FormDialog(
        dom, Strings[.adminBroadcastQuestion], Strings[.adminBroadcastNote], action: .adminBroadcast, in: frame,
        fields: { [self] form in
          let field = Field(dom, .adminNoticeText, in: form)
          text = field
          frame.setFirst(field.input)
        }
      ) { [self] dialog in
        guard let text else { return }
        let words = text.text.trimmed
        guard !words.utf8.isEmpty else { return dialog.fail(text, Strings[.adminTextMissing]) }
        page.ask(.broadcast(ByteString(words)), failed: { dialog.fail(Strings.words(for: $0)) }) { [self] _ in
          dialog.end()
          load()
        }
      }
    }
  }

  private func load() {
    page.ask(.broadcasts()) { [self] answer in
      dom.releaseChildren(of: list)
      dom.element("h2", "ma-admin-part-title", text: .adminBroadcasts, in: list)
      if answer.items.isEmpty { dom.element("p", "ma-note", text: .adminNoBroadcasts, in: list) }
      for broadcast in answer.items { add(broadcast) }
      dom.flush()
      guard answer.items.contains(where: { $0.progress.state == .active }) else { return }
      Host.after(milliseconds: 500) { [self] in if page.isOpen { load() } }
    }
  }

  private func add(_ broadcast: Broadcast) {
    let progress = broadcast.progress
    let line = dom.element("div", "ma-admin-broadcast", in: list)
    let words = Strings[.adminReached, "\(progress.done)", "\(progress.total)"]
    dom.element("span", text: Host.dateTimeLabel(broadcast.started) + " · " + broadcast.actor.string, in: line)
    let bar = dom.element("progress", in: line)
    dom.setLabel(bar, words)
    dom.setAttribute(bar, "max", "\(max(1, progress.total))")
    dom.setAttribute(bar, "value", "\(progress.done)")
    dom.element("bdi", "ma-entry-preview", text: words, in: line)
    if broadcast.failed > 0 {
      dom.element("span", "ma-trouble", text: Strings[.adminNotReached, count: Int(broadcast.failed)], in: line)
    }
    if progress.state == .failed {
      dom.element("span", "ma-trouble", text: Strings[.adminFailed, progress.error.string], in: line)
    }
  }
}

extension AdministrationPage {
  /// `@ann:example.org`, or `ann` of this server.
  func user(named text: String) -> UserID? {
    let typed = text.trimmed
    guard let server = user?.serverName, !typed.utf8.isEmpty else { return nil }
    return UserID(typed) ?? UserID("@" + typed.asciiLowercased + ":" + server.string)
  }
}
