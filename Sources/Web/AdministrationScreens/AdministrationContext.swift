import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// What the screens for administrators need of the page that shows them.
package struct AdministrationContext<D: DOM> {
  let dom: D
  /// Whoever is signed in.
  let user: UserID?
  let ask: (QueryRequest, @escaping (QueryResult) -> Void) -> Void
  /// Goes to another of these screens; with nil, back to the chats.
  let goTo: (AdministrationAddress?) -> Void
  let openDialog: (@escaping (DialogFrame<D>) -> Void) -> Void
  let closeDialogs: () -> Void
  /// Says something that goes away by itself.
  let say: (String) -> Void
  /// The address of a small picture.
  let avatarSource: (MediaURI?) -> String?

  package init(
    _ dom: D, user: UserID?, ask: @escaping (QueryRequest, @escaping (QueryResult) -> Void) -> Void,
    goTo: @escaping (AdministrationAddress?) -> Void,
    openDialog: @escaping (@escaping (DialogFrame<D>) -> Void) -> Void, closeDialogs: @escaping () -> Void,
    say: @escaping (String) -> Void, avatarSource: @escaping (MediaURI?) -> String?
  ) {
    self.dom = dom
    self.user = user
    self.ask = ask
    self.goTo = goTo
    self.openDialog = openDialog
    self.closeDialogs = closeDialogs
    self.say = say
    self.avatarSource = avatarSource
  }

  func ask<Answer>(_ query: Query<Answer>, _ then: @escaping (Result<Answer, ClientError>) -> Void) {
    ask(query.request) { result in
      do throws(ClientError) {
        then(.success(try query.answer(result)))
      } catch {
        then(.failure(error))
      }
    }
  }
}
