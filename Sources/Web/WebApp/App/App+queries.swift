import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords

/// Commands, and queries, which leave the client's state as it is.
extension App {
  /// Says what went wrong.
  func askOrSay(_ command: Command, _ then: @escaping () -> Void = {}) {
    ask(command) { [self] result in
      if case .failed(let error) = result { notices.show(Strings.words(for: error), isTrouble: true) } else { then() }
    }
  }

  /// Says what went wrong.
  func askOrSay(_ query: Query<Void>, _ then: @escaping () -> Void = {}) {
    ask(query) { [self] result in
      if case .failure(let error) = result { notices.show(Strings.words(for: error), isTrouble: true) } else { then() }
    }
  }

  func ask(_ request: QueryRequest, _ then: @escaping (QueryResult) -> Void) {
    let id = nextCommand()
    waitingQueries[id] = then
    take(.query(request, id: id))
  }

  func ask<Answer>(_ query: Query<Answer>, _ then: @escaping (Result<Answer, ClientError>) -> Void) {
    let id = nextCommand()
    waitingQueries[id] = { result in
      do throws(ClientError) {
        then(.success(try query.answer(result)))
      } catch {
        then(.failure(error))
      }
    }
    take(.query(query.request, id: id))
  }

  func queryEnded(_ id: CommandID, _ result: QueryResult) {
    waitingQueries.removeValue(forKey: id)?(result)
    main?.settle()
    dom.flush()
  }

  /// The same with the user's password, if the server wants it.
  func askSurely(_ request: QueryRequest, _ then: @escaping (QueryResult) -> Void) {
    ask(request) { [self] result in
      guard case .failed(.authenticationNeeded(let needed)) = result else { return then(result) }
      dialogs.open {
        AuthenticationDialog(self, needed, in: $0) { [self] stage, ended in
          guard let stage else { return then(.failed(.cancelled)) }
          var sure = request
          sure.authentication = stage.body(session: needed.session)
          ask(sure) { result in
            if case .failed(.authenticationNeeded(let again)) = result, again.refusal != nil { return ended(false) }
            ended(true)
            then(result)
          }
        }
      }
    }
  }

  /// The same for requests that need the user's password. If the user closes the dialog, the query fails with `cancelled`.
  func askSurely<Answer>(_ query: Query<Answer>, _ then: @escaping (Result<Answer, ClientError>) -> Void) {
    ask(query) { [self] result in
      guard case .failure(.authenticationNeeded(let needed)) = result else { return then(result) }
      dialogs.open {
        AuthenticationDialog(self, needed, in: $0) { [self] stage, ended in
          guard let stage else { return then(.failure(.cancelled)) }
          ask(query.authenticated(by: stage, needed)) { result in
            if case .failure(.authenticationNeeded(let again)) = result, again.refusal != nil { return ended(false) }
            ended(true)
            then(result)
          }
        }
      }
    }
  }
}
