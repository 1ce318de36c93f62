import ClientCore
import JSON
import MatrixModel
import Messenger

/// Commands, and questions to the server that leave the client's state as it is.
extension App {
  /// Says what went wrong.
  func askOrSay(_ command: Command, _ then: @escaping () -> Void = {}) {
    ask(command) { [self] result in
      if case .failed(let error) = result { notices.show(Strings.words(for: error), isTrouble: true) } else { then() }
    }
  }

  /// Says what went wrong.
  func askOrSay(_ call: Call<Void>, _ then: @escaping () -> Void = {}) {
    ask(call) { [self] result in
      if case .failure(let error) = result { notices.show(Strings.words(for: error), isTrouble: true) } else { then() }
    }
  }

  func ask<Answer>(_ call: Call<Answer>, _ then: @escaping (Result<Answer, ClientError>) -> Void) {
    let id = nextCommand()
    waitingCalls[id] = { result in
      do throws(ClientError) {
        then(.success(try call.answer(result)))
      } catch {
        then(.failure(error))
      }
    }
    take(.call(call.request, id: id))
  }

  func callEnded(_ id: CommandID, _ result: CallResult) {
    waitingCalls.removeValue(forKey: id)?(result)
    main?.settle()
    dom.flush()
  }

  /// The same for what the server does only for somebody who can say the password. Whoever closes the question ends it with
  /// `cancelled`.
  func askSurely<Answer>(_ call: Call<Answer>, _ then: @escaping (Result<Answer, ClientError>) -> Void) {
    ask(call) { [self] result in
      guard case .failure(.authenticationNeeded(let needed)) = result else { return then(result) }
      dialogs.open {
        AuthenticationDialog(self, needed, in: $0) { [self] stage, ended in
          guard let stage else { return then(.failure(.cancelled)) }
          ask(call.authenticated(by: stage, needed)) { result in
            if case .failure(.authenticationNeeded(let again)) = result, again.refusal != nil { return ended(false) }
            ended(true)
            then(result)
          }
        }
      }
    }
  }
}
