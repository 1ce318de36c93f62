import JSON
import MatrixModel

/// The way into lists of rooms, spaces, tags, breadcrumbs and changes of direct chats. By values, so that a program that has none of them need not
/// carry their code (the page's is measured by it).
struct ListChapter: Sendable {
  let settle: @Sendable (inout Client) -> Void
  let handle: @Sendable (inout Client, Command, CommandID) -> Void
  let answered: @Sendable (inout Client, Answer, RequestPurpose) -> Void
}

extension Client {
  /// From now on there are `spaces` and lists of rooms, and the commands of these chapters; without it they end with `notAllowed`.
  public mutating func keepLists() {
    guard listChapter == nil else { return }
    roomLists.isAllChanged = true
    listChapter = ListChapter(
      settle: { $0.settleLists() }, handle: { $0.handleRoomList($1, $2) }, answered: { $0.listAnswered($1, $2) })
  }

  mutating func handleLists(_ command: Command, _ id: CommandID) {
    guard let listChapter else { return finish(id, .failed(.notAllowed)) }
    listChapter.handle(&self, command, id)
  }

  mutating func listAnswered(_ answer: Answer, _ purpose: RequestPurpose) {
    switch purpose {
    case .breadcrumbs: breadcrumbsAnswered()
    case .readDirect: directAnswered(answer)
    case .writeDirect: directWritten(answer)
    case .spaceChild(let child, let space, let change, let command):
      spaceChildAnswered(answer, child, in: space, change, command)
    default: break
    }
  }
}
