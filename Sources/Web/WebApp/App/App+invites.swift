import ClientCore
import ClientHost
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Invite links: the page's addresses behind `#/join/`, before and after somebody is signed in.
extension App {
  /// The server that somebody is signed in at, if it is not the one that the page comes from: links of the page are of no use
  /// there.
  var serverElsewhere: String? { effects.server.base.hasSameBytes(as: Host.origin) ? nil : effects.server.name }

  /// Whether the page's address is an invitation. It is shown, or waits for somebody to sign in.
  func followInvite(_ fragment: String) -> Bool {
    guard embedding == nil, let address = InviteAddress(fragment: fragment) else { return false }
    invite = address
    if main != nil { showInvite() } else { signIn?.showInvite() }
    return true
  }

  /// Whether a link in a message is an invitation of this page's server, which needs no other tab.
  func followInviteLink(_ url: String) -> Bool {
    let start = Array((effects.server.base + "/#").utf8)
    guard main != nil, serverElsewhere == nil, url.utf8.starts(with: start) else { return false }
    return followInvite(String(decoding: Array(url.utf8.dropFirst(start.count)), as: UTF8.self))
  }

  /// The card of a room that a link leads to.
  func showInvite(to link: Permalink) {
    guard embedding == nil else { return follow(Destination(link)) }
    invite = .room(link)
    showInvite()
  }

  func showInvite() {
    guard let address = invite else { return }
    invite = nil
    dialogs.closeAll()
    dialogs.open(.more) { [self] frame in
      InviteDialog(self, address, in: frame)
      // The address stays until then: a reload shows the same.
      frame.onEnd = { [self] in
        if InviteAddress(fragment: Host.fragment) == address { Host.setFragment(place.fragment, replacing: true) }
      }
    }
  }

  /// Goes on to where the invitation leads, for somebody who has read it and then signed in or up.
  func acceptInvite() {
    let command: RoomCommand
    let accepted = invite
    switch accepted {
    case .token(let token) where serverElsewhere == nil: command = .joinByLink(token)
    case .room(let link): command = .join(link.roomText, via: link.via)
    case .token, .unread, nil: return showInvite()
    }
    invite = nil
    Host.setFragment("", replacing: true)
    ask(.rooms(command)) { [self] result in
      switch result {
      case .room(let room):
        goTo(.room(room), replacing: true)
        askFirstStep()
      case .failed(let error) where error.isUnknownLink: notices.show(.linkNotValid, isTrouble: true)
      case .failed(let error):
        // Its card can be tried again, and says itself that the server does not answer.
        if case .network = error {} else { notices.show(Strings.words(for: error), isTrouble: true) }
        invite = accepted
        showInvite()
      case .done, .event, .unread, .timeline, .queued: break
      }
    }
  }

  /// The address by which others follow an invitation: always of the server, whose page it opens.
  func inviteURL(_ address: InviteAddress) -> String { effects.server.base + "/#" + address.fragment }

  // MARK: At a provider of single sign-on

  /// The provider's page leads back to the page's address alone: this browser keeps what stood behind it.
  func keepInvite() {
    if let invite { Host.setSetting(Settings.invite, invite.fragment) }
  }

  /// What was kept when the page was left; only for somebody who comes back from there.
  func takeKeptInvite(isBack: Bool) {
    guard let kept = Host.setting(Settings.invite) else { return }
    Host.setSetting(Settings.invite, nil)
    if isBack, invite == nil { invite = InviteAddress(fragment: kept) }
  }
}
