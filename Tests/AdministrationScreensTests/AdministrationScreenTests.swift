import AdministrationCore
import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import AdministrationScreens

/// A page around the screens that answers as it is told.
private final class Around {
  let dom = FakeDOM()
  /// What has been asked, without an answer yet.
  var asked: [(target: String, answer: (QueryResult) -> Void)] = []
  var places: [AdministrationAddress?] = []
  var dialogs: [DialogFrame<FakeDOM>] = []
  var said: [String] = []
  lazy var screen = AdministrationScreen(
    AdministrationContext(
      dom, user: UserID("@ann:example.org"), ask: { [self] in asked.append(($0.target, $1)) },
      goTo: { [self] in places.append($0) },
      openDialog: { [self] make in
        let frame = DialogFrame(dom)
        dialogs.append(frame)
        make(frame)
        dom.append(frame.overlay, to: .root)
      },
      closeDialogs: { [self] in for frame in dialogs { frame.close() } }, say: { [self] in said.append($0) },
      avatarSource: { _ in nil }), in: .root)

  /// Answers the first question whose path ends so.
  func answer(_ end: String, _ json: String) throws { try take(end)(.answer(JSON.parse(Array(json.utf8)))) }

  func refuse(_ end: String) throws {
    try take(end)(.failed(.refused(status: 403, code: "M_FORBIDDEN", message: "", retryAfterMilliseconds: nil)))
  }

  func answerCapabilities(isAdministrator: Bool) throws {
    try answer("/capabilities", #"{"capabilities":{"martlet.administration":{"enabled":\#(isAdministrator)}}}"#)
  }

  private func take(_ end: String) throws -> (QueryResult) -> Void {
    let index = try #require(asked.firstIndex { $0.target.split(separator: "?")[0].hasSuffix(end) }, "\(asked.map(\.target))")
    return asked.remove(at: index).answer
  }
}

@Suite("The screens for administrators")
struct AdministrationScreenTests {
  @Test("Others than administrators see only that it is not for them, and the way back")
  func others() throws {
    let around = Around()
    around.screen.show(AdministrationAddress(.users))
    try around.answerCapabilities(isAdministrator: false)
    #expect(around.dom[.root].allText.contains("onlyAdministrators") && around.asked.isEmpty)
    let back = try #require(around.dom[.root].all("ma-button").last)
    around.dom.fire(.click, on: back.node)
    #expect(around.places == [nil])
  }

  @Test("A refusal looks whether the right is gone: if it is, dialogs close and nothing is left to see")
  func rightIsGone() throws {
    let around = Around()
    let root = around.dom[.root]
    around.screen.show(AdministrationAddress(.users, "@bob:example.org"))
    try around.answerCapabilities(isAdministrator: true)
    try around.answer("/%40bob%3Aexample.org", #"{"name":"@bob:example.org","displayname":"Bob"}"#)
    #expect(root.allText.contains("Bob"))
    let lock = try #require(root.all("ma-small").first { $0.allText.contains("adminLock") })
    around.dom.fire(.click, on: lock.node)
    around.dom.fire(.click, on: try #require(around.dom[around.dialogs[0].overlay].all("ma-danger").first).node)
    try around.refuse("/%40bob%3Aexample.org")
    // Of this one thing: the dialog says so and stays.
    try around.answerCapabilities(isAdministrator: true)
    #expect(around.dialogs[0].isOpen && !around.dom[around.dialogs[0].overlay].all("ma-trouble").isEmpty)
    around.dom.fire(.click, on: try #require(around.dom[around.dialogs[0].overlay].all("ma-danger").first).node)
    try around.refuse("/%40bob%3Aexample.org")
    try around.answerCapabilities(isAdministrator: false)
    #expect(!around.dialogs[0].isOpen)
    try around.answerCapabilities(isAdministrator: false)
    #expect(root.allText.contains("onlyAdministrators") && around.said.isEmpty)
  }
}
