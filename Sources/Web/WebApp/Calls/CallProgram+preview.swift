import ClientCore
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What stands before each call: nothing is sent or rung until one has seen how one will be seen and heard.
extension CallProgram {
  /// Calls there, or joins the call that goes on.
  /// - Parameter withCamera: as the button said that was pressed; nil as the last call of a room was joined.
  func prepare(_ id: RoomID, withCamera: Bool?) {
    guard let room = app.client.room(id), mayCall(in: room) else { return }
    let name = Strings.words(for: room.name)
    let isDirect = room.directUserID != nil
    let plan = CallPlan(
      title: Strings[isDirect ? .callOf : .groupCallIn, name],
      action: isDirect || room.callMembers.isEmpty ? .startCall : .join,
      withCamera: isDirect ? withCamera ?? false : nil)
    preview(plan) { [self] in
      call(in: id, $0)
      enter(id)
    }
  }

  /// Who may be seen and heard already is so at once.
  func prepare(toAnswer call: Int64, in id: RoomID, _ withCamera: Bool) {
    learnPermission(withCamera ? [.camera, .microphone] : .microphone) { [self] permission in
      let setup = CallSetup(hasCamera: withCamera)
      if permission == .granted {
        answer(call, setup)
        return enter(id)
      }
      let name = app.client.room(id).map { Strings.words(for: $0.name) } ?? ""
      preview(CallPlan(title: Strings[.callOf, name], action: .callAnswer, withCamera: withCamera), answering: call) { [self] in
        answer(call, $0)
        enter(id)
      }
      app.dom.flush()
    }
  }

  /// Whoever calls or answers looks at the call: it stands in its room.
  private func enter(_ room: RoomID) {
    if app.place.room != room { app.goTo(.room(room)) }
  }

  private func preview(_ plan: CallPlan, answering call: Int64? = nil, _ then: @escaping (CallSetup) -> Void) {
    app.dialogs.open(.more) { [self] frame in
      if let call { answering = (call, frame) }
      let preview = CallPreview(app, plan, in: frame, then)
      frame.onEnd = { [self] in
        preview.close()
        answering = nil
      }
    }
  }
}

/// What a preview is for.
struct CallPlan {
  let title: String
  /// What the button says that begins the call.
  let action: Strings.Key
  /// Whether a call between two begins with a picture; nil for a call of a room, which begins as the last one did.
  let withCamera: Bool?
}
