import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// To rooms and messages by their addresses.
extension App {
  /// The page's address is another.
  func followAddress() {
    if let address = AdministrationAddress(fragment: ByteString(Host.fragment)), embedding == nil {
      if main == nil { place = .administration(address) } else { goTo(.administration(address), isAddressSet: true) }
    } else {
      follow(Destination(fragment: Host.fragment), isAddressSet: true)
    }
  }

  /// - Parameter isAddressSet: the page's address says it already.
  func follow(_ destination: Destination?, isAddressSet: Bool = false) {
    // Nobody is led anywhere before somebody is signed in.
    guard main != nil else {
      next = destination
      return signIn?.showInvite() ?? ()
    }
    guard let destination else { return goTo(.list, isAddressSet: isAddressSet) }
    let link = destination.link
    switch link.target {
    case .user: break
    case .room(let room): arrive(in: room, destination, link.via, isAddressSet)
    case .alias(let alias):
      resolve(alias, destination, isAddressSet) { [self] error in
        if !error.isAnswer, let known = joinedRoom(at: alias) { return arrive(in: known, destination, link.via, isAddressSet) }
        let words = Strings.words(for: error)
        if let embedding { return embedding.fail(words) }
        if error.isAnswer { notices.show(words, isTrouble: true) } else { wait(for: alias, destination, isAddressSet, words) }
      }
    }
  }

  /// The directory first: what an invitation says of a room's address, nobody has checked.
  private func resolve(
    _ alias: RoomAlias, _ destination: Destination, _ isAddressSet: Bool, failed: @escaping (ClientError) -> Void
  ) {
    ask(.resolve(alias)) { [self] result in
      switch result {
      case .success(let found): arrive(in: found.roomID, destination, destination.link.via + found.servers, isAddressSet)
      case .failure(let error): failed(error)
      }
    }
  }

  /// Without an answer of the server the link stays. It is followed once the connection is back, or when the user tries again.
  private func wait(for alias: RoomAlias, _ destination: Destination, _ isAddressSet: Bool, _ words: String) {
    dialogs.open(.more) { [self] frame in
      frame.setTitle(alias.string)
      let card = InviteCard(self, heading: "h2", in: frame.body)
      func tryAgain() {
        guard frame.isOpen else { return onConnected = nil }
        card.say(Strings[.lookingAtLink])
        resolve(alias, destination, isAddressSet) { error in if frame.isOpen { say(Strings.words(for: error)) } }
        dom.flush()
      }
      func say(_ words: String) { card.say(words, retry: tryAgain) }
      onConnected = tryAgain
      // Who does not go there stays at the address where they are.
      let end = frame.onEnd
      frame.onEnd = { [self] in
        onConnected = nil
        if isAddressSet, Destination(fragment: Host.fragment) == destination {
          Host.setFragment(place.fragment, replacing: true)
        }
        end()
      }
      say(words)
    }
  }

  /// Whether the user is in the room, or has heard of it in another way than by a link.
  func isIn(_ target: Permalink.Target) -> Bool {
    switch target {
    case .user: false
    case .room(let room): client.room(room) != nil
    case .alias(let alias): joinedRoom(at: alias) != nil
    }
  }

  private func joinedRoom(at alias: RoomAlias) -> RoomID? {
    client.roomIDs.first { client.room($0).map { $0.membership == .join && $0.canonicalAlias == alias } ?? false }
  }

  private func arrive(in room: RoomID, _ destination: Destination, _ servers: [ServerName], _ isAddressSet: Bool) {
    via = (room, servers)
    let there: Place = destination.showsDetails ? .details(room) : .room(room)
    // Going back and forth between what lies over one place closes nothing of it.
    if isAddressSet, there == place, destination.link.event == nil { return }
    goTo(there, isAddressSet: isAddressSet)
    wanted = destination.link.event
    main?.settle()
    dom.flush()
  }

  /// Returns the command that joins a room, with the servers that the link named.
  func joining(_ room: RoomID) -> Command {
    .rooms(.join(room.text, via: servers(of: room)))
  }

  /// Returns the servers that the link named for the room.
  func servers(of room: RoomID) -> [ServerName] { via.flatMap { $0.room == room ? $0.servers : nil } ?? [] }
}

extension ClientError {
  /// Whether the error is the server's answer, not a network or server failure.
  fileprivate var isAnswer: Bool {
    switch self {
    case .network: false
    case .refused(let status, _, _, _): status < 500
    default: true
    }
  }
}
