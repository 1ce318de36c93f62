import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// An invitation that a link brought to somebody who is signed in: the card, and *Join*.
final class InviteDialog<D: DOM> {
  private let app: App<D>
  private let dom: D
  private let frame: DialogFrame<D>
  private let card: InviteCard<D>
  private let trouble: Node
  private let buttons: Node

  @discardableResult
  init(_ app: App<D>, _ address: InviteAddress, in frame: DialogFrame<D>) {
    self.app = app
    self.frame = frame
    dom = app.dom
    frame.setTitle(.invitation)
    card = InviteCard(app, heading: "h2", in: frame.body)
    trouble = frame.trouble(in: frame.body)
    buttons = dom.element("div", "ma-buttons", in: frame.body)
    load(address)
  }

  private func load(_ address: InviteAddress) {
    switch address {
    case .unread: card.say(Strings[.linkUnread])
    case .token(let token):
      if let other = app.serverElsewhere { return card.say(Strings[.linkElsewhere, Server(base: Host.origin).name, other]) }
      card.say(Strings[.lookingAtLink])
      app.ask(.invitation(token)) { [self] result in
        guard frame.isOpen else { return }
        switch result {
        case .failure(let error): failed(error, address)
        case .success(let invitation):
          if invitation.room == nil, invitation.inviter == app.userID { return card.say(Strings[.ownLink]) }
          card.show(invitation)
          offer(
            invitation.room == nil ? .startChat : .join, busy: invitation.room == nil ? .starting : .joining,
            .rooms(.joinByLink(token)))
        }
      }
    case .room(let link):
      card.say(Strings[.lookingAtLink])
      app.ask(.roomSummary(link.roomText, via: link.via)) { [self] result in
        guard frame.isOpen else { return }
        switch result {
        case .failure(.refused(let status, _, _, _)) where status < 500:
          // The server does not show it to people outside: it may let them in all the same.
          frame.close()
          app.follow(Destination(link))
        case .failure(let error): failed(error, address)
        case .success(let room):
          if app.client.room(room.id)?.membership == .join { return enter(room.id) }
          card.show(room)
          offer(.join, busy: .joining, .rooms(.join(link.roomText, via: link.via)))
        }
      }
    }
    dom.flush()
  }

  private func enter(_ room: RoomID) {
    frame.close()
    app.goTo(.room(room))
  }

  private func offer(_ words: Strings.Key, busy: Strings.Key, _ command: Command) {
    let cancel = dom.button("ma-button", .cancel, in: buttons)
    let join = SubmitButton(dom, words, busy: busy, in: buttons)
    dom.on(cancel, .click) { [self] _ in frame.close() }
    dom.on(join.node, .click) { [self] _ in
      guard !join.isBusy else { return }
      join.setBusy(true)
      dom.setText(trouble, "")
      app.ask(command) { [self] result in
        switch result {
        case .room(let room):
          frame.close()
          app.goTo(.room(room))
        case .failed(let error):
          guard frame.isOpen else { return }
          join.setBusy(false)
          dom.setText(trouble, error.isUnknownLink ? Strings[.linkNotValid] : Strings.words(for: error))
        case .done, .event, .unread, .timeline, .queued: break
        }
      }
      dom.flush()
    }
    dom.focus(join.node)
    dom.flush()
  }

  private func failed(_ error: ClientError, _ address: InviteAddress) {
    if error.isUnknownLink { return card.say(Strings[.linkNotValid]) }
    card.say(Strings.words(for: error)) { [self] in load(address) }
    dom.flush()
  }
}

extension Permalink {
  /// The ID or address of the room.
  var roomText: ByteString {
    switch target {
    case .room(let room): room.text
    case .alias(let alias): alias.text
    case .user(let user): user.text
    }
  }
}

extension ClientError {
  /// Whether the server says that the link is not valid.
  var isUnknownLink: Bool {
    if case .refused(404, _, _, _) = self { return true }
    return false
  }
}
