import ClientCore
import JSON
import MatrixModel
import Messenger
import MessengerTesting
import PageWidgets
import Testing

@testable import WebApp

@Suite("The web client's screens")
struct ScreenTests {
  @Test("name and password go to the server, and then the rooms are there")
  func signIn() {
    let page = Page()
    #expect(page.text.contains(Strings[.welcome]))
    page.signIn()
    #expect(!page.text.contains(Strings[.welcome]))
    page.sync([])
    #expect(page.text.contains(Strings[.noRooms]))
  }

  @Test("a wrong password is said in words, and the form takes another try")
  func wrongPassword() {
    let page = Page()
    page.answer("/login", #"{"flows":[{"type":"m.login.password"}]}"#)
    page.type("alice", into: Strings[.userName])
    page.type("wrong", into: Strings[.password])
    page.submit()
    page.answer("/login", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    #expect(page.text.contains(Strings[.signInWrong]))
    page.submit()
    #expect(page.body(of: "/login").contains("wrong"))
  }

  @Test("a locked account is told where help is, on a server that sends mail, too; addresses that run something are no links")
  func locked() throws {
    let page = Page()
    page.answer("/versions", #"{"versions":["v1.11"],"unstable_features":{"martlet.support":true}}"#)
    page.answer(
      "/.well-known/matrix/support",
      #"{"contacts":[{"role":"m.role.admin","email_address":"help@chat.example"}],"support_page":"javascript:alert(1)"}"#)
    page.answer("/login", #"{"flows":[{"type":"m.login.password"}]}"#)
    #expect(!page.text.contains("help@chat.example"))
    page.type("alice", into: Strings[.userName])
    page.type("correct horse", into: Strings[.password])
    page.submit()
    page.answer("/login", status: 401, #"{"errcode":"M_USER_LOCKED","error":"locked","soft_logout":true}"#)
    let box = try #require(page.all("ma-support").first)
    let links = page.all("ma-link", in: box)
    #expect(links.map { $0.attributes["href"] } == ["mailto:help@chat.example"])
    // Nothing of it is there where an account is created.
    page.dom.fire(.click, on: try #require(page.all("ma-tab").last).node)
    #expect(page.all("ma-support").isEmpty)
  }

  @Test("who goes on as a guest and clicks twice is one guest, and is told of no failure")
  func guest() throws {
    let page = Page()
    page.answer("/login", #"{"flows":[{"type":"m.login.password"}],"martlet.guests":true}"#)
    let button = try #require(page.all("ma-button").first { $0.allText == Strings[.goOnAsGuest] })
    for _ in 0..<2 { page.dom.fire(.click, on: button.node) }
    #expect(page.requests.filter { $0.request.target.hasSuffix("/register?kind=guest") }.count == 1)
    #expect(page.all("ma-trouble").allSatisfy { $0.text.isEmpty })
  }

  @Test(
    "what cannot be an account is not asked for",
    arguments: [
      ("", "correct horse", Strings[.userNameMissing]), ("Not Allowed", "correct horse", Strings[.userNameWrongSpace]),
      ("müller", "correct horse", Strings[.userNameWrongLetter, "ü"]), ("alice", "seven77", Strings[.passwordShort])
    ])
  func badAccount(_ name: String, _ password: String, _ words: String) throws {
    let page = try Self.registering()
    page.type(name, into: Strings[.userName])
    page.type(password, into: Strings[.password])
    page.submit()
    #expect(page.text.contains(words))
    #expect(page.body(of: "/register").isEmpty)
  }

  /// The form for a new account, of a server that asks for nothing more than its name and password.
  private static func registering() throws -> Page {
    let page = Page()
    page.answer("/login", #"{"flows":[{"type":"m.login.password"}]}"#)
    page.dom.fire(.click, on: try #require(page.all("ma-tab").last).node)
    page.answer("/register", status: 401, #"{"session":"s","flows":[{"stages":["m.login.dummy"]}]}"#)
    return page
  }

  @Test("a wrong name and a short password are told in one round, and the name has the focus")
  func badAccountAtOnce() throws {
    let page = try Self.registering()
    page.type("al!ce", into: Strings[.userName])
    page.type("short", into: Strings[.password])
    page.submit()
    #expect(page.text.contains(Strings[.userNameWrongLetter, "!"]) && page.text.contains(Strings[.passwordShort]))
    let name = try #require(page.all("ma-input").first { $0.attributes["aria-label"] == Strings[.userName] })
    #expect(page.dom.focused == name.node)
  }

  @Test("an account is asked for in small letters, as phones write names with a capital")
  func capitals() throws {
    let page = try Self.registering()
    page.type(" Alice ", into: Strings[.userName])
    page.type("correct horse", into: Strings[.password])
    page.submit()
    #expect(page.body(of: "/register").contains(#""username":"alice""#))
  }

  @Test("a server that wants a token is given one")
  func token() throws {
    let page = Page()
    page.answer("/login", #"{"flows":[{"type":"m.login.password"}]}"#)
    page.dom.fire(.click, on: try #require(page.all("ma-tab").last).node)
    page.answer("/register", status: 401, #"{"session":"s","flows":[{"stages":["m.login.registration_token"]}]}"#)
    #expect(page.text.contains(Strings[.tokenHint]))
    page.type("alice", into: Strings[.userName])
    page.type("eightchr", into: Strings[.password])
    page.type("T0ken", into: Strings[.token])
    page.submit()
    page.answer("/register", status: 401, #"{"session":"s","flows":[{"stages":["m.login.registration_token"]}]}"#)
    #expect(page.body(of: "/register").contains("T0ken"))
  }

  @Test("a closed server says so instead of taking a form")
  func closed() throws {
    let page = Page()
    page.answer("/login", #"{"flows":[{"type":"m.login.password"}]}"#)
    page.dom.fire(.click, on: try #require(page.all("ma-tab").last).node)
    page.answer("/register", status: 403, #"{"errcode":"M_FORBIDDEN","error":"closed"}"#)
    #expect(page.text.contains(Strings[.registrationClosed]))
    #expect(page.all("ma-primary").first?.attributes["disabled"] != nil)
  }

  // Proves C19
  @Test("the ways to sign in that the server announces are offered, and a form only where a password is one of them")
  func signOn() {
    let page = Page()
    page.answer(
      "/login",
      #"{"flows":[{"type":"m.login.sso","identity_providers":[{"id":"a","name":"Our company"},{"id":"b","name":"Club"}]}]}"#)
    #expect(page.all("ma-wide").map(\.allText) == ["Our company", "Club"].map { Strings[.goOnWith, $0] })
    #expect(page.all("ma-form").allSatisfy { $0.tag != "form" })
  }

  @Test("a token that a single sign-on brought back signs in")
  func loginToken() {
    let page = Page(loginToken: "secret-token")
    #expect(page.requests.contains { String(decoding: $0.request.body ?? [], as: UTF8.self).contains("secret-token") })
    #expect(page.app.loginToken == nil)
  }

  // Proves C20
  @Test("a token that came without this tab's own word signs nobody in, and it says so")
  func strangeLoginToken() {
    typealias Buttons = SingleSignOnButtons<FakeDOM>
    #expect(Buttons.loginToken(in: "signOn=abc&loginToken=t%2B1", word: "abc") == "t+1")
    #expect(Buttons.loginToken(in: "loginToken=t&signOn=abc", word: "abc") == "t")
    for (query, word) in [
      ("loginToken=t", ""), ("loginToken=t", "abc"), ("signOn=&loginToken=t", ""), ("signOn=abcd&loginToken=t", "abc"),
      ("signOn=ab&loginToken=t", "abc"), ("xsignOn=abc&loginToken=t", "abc"), ("loginToken=t&a=signOn=abc", "abc")
    ] {
      #expect(Buttons.loginToken(in: query, word: word) == "", "\(query) \(word)")
    }
    #expect(Buttons.loginToken(in: "signOn=abc", word: "abc") == nil)
    let page = Page(loginToken: "")
    #expect(page.text.contains(Strings[.strangeSignOn]))
    #expect(!page.requests.contains { $0.request.target.contains("/login") && $0.request.body != nil })
  }

  private static func register(_ flows: String) throws -> Page {
    let page = Page()
    page.answer("/login", #"{"flows":[{"type":"m.login.password"}]}"#)
    page.dom.fire(.click, on: try #require(page.all("ma-tab").last).node)
    page.answer("/register", status: 401, flows)
    page.type("alice", into: Strings[.userName])
    page.type("eightchr", into: Strings[.password])
    page.submit()
    page.answer("/register", status: 401, flows)
    return page
  }

  // Proves C19
  @Test("terms are shown, and the account is made once they are agreed to")
  func terms() throws {
    let policy = #"{"version":"1","en":{"name":"House rules","url":"https://chat.example/rules"}}"#
    let flows =
      #"{"session":"s","flows":[{"stages":["m.login.terms"]}],"params":{"m.login.terms":{"policies":{"rules":\#(policy)}}}}"#
    let page = try Self.register(flows)
    #expect(page.text.contains("House rules"))
    page.submitForm()
    #expect(page.text.contains(Strings[.agreeFirst]) && page.body(of: "/register").isEmpty)
    let check = try #require(page.all("ma-check").last?.children.first)
    page.dom.fire(.change, on: check.node, x: 1)
    page.submitForm()
    #expect(page.body(of: "/register").contains("m.login.terms"))
    page.answer("/register", #"{"user_id":"@alice:chat.example","device_id":"D","access_token":"secret"}"#)
    #expect(!page.text.contains(Strings[.welcome]))
    // The one question to somebody who is new.
    #expect(page.text.contains(Strings[.yourNameTitle]))
    page.click(Strings[.skip])
    #expect(!page.app.dialogs.isOpen)
  }

  // Proves C19
  @Test("an e-mail address is asked for, gets a mail, and has to be confirmed")
  func email() throws {
    let flows = #"{"session":"s","flows":[{"stages":["m.login.email.identity"]}]}"#
    let page = try Self.register(flows)
    page.type("ann@example.org", into: Strings[.email])
    page.submitForm()
    #expect(page.body(of: "/register/email/requestToken").contains("ann@example.org"))
    page.answer("/register/email/requestToken", #"{"sid":"7"}"#)
    #expect(page.text.contains(Strings[.mailSent, "ann@example.org"]))
    page.submitForm()
    page.answer("/register", status: 401, flows)
    #expect(page.text.contains(Strings[.mailNotFollowed]))
    page.submitForm()
    #expect(page.body(of: "/register").contains("threepid_creds"))
  }

  // Proves C19
  @Test("who forgot the password sets another one once the mail is followed")
  func forgotten() {
    let page = Page()
    page.answer("/login", #"{"flows":[{"type":"m.login.password"}]}"#)
    // Offered as soon as it is known to lead somewhere.
    func isOffered() -> Bool { page.all("ma-link").contains { $0.allText == Strings[.forgotPassword] } }
    #expect(!isOffered())
    page.answer("/versions", #"{"versions":["v1.11"],"unstable_features":{}}"#)
    #expect(isOffered())
    page.click(Strings[.forgotPassword])
    page.type("ann@example.org", into: Strings[.email])
    page.submitForm()
    page.answer("/account/password/email/requestToken", #"{"sid":"7"}"#)
    page.type("short", into: Strings[.newPassword])
    page.submitForm()
    #expect(page.text.contains(Strings[.passwordShort]) && page.body(of: "/account/password").isEmpty)
    page.type("long enough", into: Strings[.newPassword])
    let flows = #""session":"s","flows":[{"stages":["m.login.email.identity"]}]"#
    for isFollowed in [false, true] {
      page.submitForm()
      page.answer("/account/password", status: 401, "{\(flows)}")
      let body = page.body(of: "/account/password")
      #expect(
        body.contains(#""type":"m.login.email.identity""#) && body.contains(#""sid":"7""#) && body.contains("long enough"))
      if isFollowed {
        page.answer("/account/password", "{}")
      } else {
        page.answer("/account/password", status: 401, "{\(flows),\"errcode\":\"M_FORBIDDEN\",\"error\":\"no\"}")
        #expect(page.text.contains(Strings[.mailNotFollowed]))
      }
    }
    #expect(page.text.contains(Strings[.passwordChanged]) && !page.app.dialogs.isOpen)
  }

  // Proves C19
  @Test(
    "why no mail comes is said in words",
    arguments: [
      ("M_THREEPID_MEDIUM_NOT_SUPPORTED", Strings.Key.noMailHere), ("M_UNRECOGNIZED", .noMailHere),
      ("M_THREEPID_NOT_FOUND", .emailUnknown), ("M_THREEPID_IN_USE", .emailTaken)
    ])
  func noMail(_ code: String, _ words: Strings.Key) {
    let page = Page()
    page.answer("/versions", #"{"versions":["v1.11"]}"#)
    page.click(Strings[.forgotPassword])
    page.type("ann@example.org", into: Strings[.email])
    page.submitForm()
    page.answer("/account/password/email/requestToken", status: 400, "{\"errcode\":\"\(code)\",\"error\":\"-\"}")
    #expect(page.text.contains(Strings[words]))
  }

  @Test("an e-mail address is as good as a user name", arguments: ["ann@example.org", "@ann:example.org", "ann"])
  func identifier(_ name: String) {
    let page = Page()
    page.answer("/login", #"{"flows":[{"type":"m.login.password"}]}"#)
    page.type(name, into: Strings[.userName])
    page.type("correct horse", into: Strings[.password])
    page.submit()
    #expect(page.body(of: "/login").contains("m.id.thirdparty") == (name == "ann@example.org"))
    #expect(page.body(of: "/login").contains(name))
  }

  // Proves C19
  @Test("what the page does not know is done on the server's own, and then it goes on")
  func elsewhere() throws {
    let page = try Self.register(#"{"session":"s","flows":[{"stages":["org.example.riddle"]}]}"#)
    #expect(page.text.contains(Strings[.goOnElsewhere]))
    page.submitForm()
    #expect(page.body(of: "/register").contains(#""session":"s""#))
  }

  // Proves C24, J44
  @Test("rooms stand with the latest message first, with preview and badge, and move when there is news")
  func roomList() {
    let page = Page()
    page.signIn()
    page.sync([
      ("!a", room("Garden", [("@boris:chat.example", "beans", 10)])),
      ("!bb", room("Choir!", unread: 120, [("@boris:chat.example", "at seven", 20)]))
    ])
    #expect(page.all("ma-entry-name").map(\.text) == ["Choir!", "Garden"])
    #expect(page.badges == ["99+", ""])
    #expect(page.all("ma-entry-preview").map(\.text) == ["at seven", "beans"])
    page.sync([("!a", room("Garden", [("@alice:chat.example", "peas", 30)]))])
    #expect(page.all("ma-entry-name").map(\.text) == ["Garden", "Choir!"])
    #expect(page.all("ma-entry-sender").map(\.text).first == Strings[.you, ""].trimmed)
    #expect(page.all("ma-entry-preview").map(\.text).first == "peas")
  }

  // Proves T5
  @Test("an opened room shows its messages as text, and what is written appears before the server has it")
  func roomScreen() throws {
    let page = Page()
    page.signIn()
    page.sync([("!a", room("Garden", [("@boris:chat.example", "<b>beans</b>", 10)]))])
    try openRoom(page)
    #expect(page.all("mg-text").map(\.text) == ["<b>beans</b>"])
    let field = try #require(page.all("mg-input").first)
    page.dom.fire(.input, on: field.node, text: "peas & carrots")
    page.dom.fire(.keyDown, on: field.node, text: "Enter")
    #expect(page.all("mg-text").map(\.text) == ["<b>beans</b>", "peas & carrots"])
    #expect(page.all("mg-state").map(\.text).contains(Strings[.queued]))
    page.settleStore()
    #expect(page.body(of: "/send/").contains("peas & carrots"))
    page.answer("/send/", #"{"event_id":"$mine"}"#)
    #expect(!page.all("mg-state").map(\.text).contains(Strings[.queued]))
  }

  @Test("a room whose sync comes while it is being opened shows every event once")
  func openedBeforeSync() throws {
    let page = Page()
    page.signIn()
    page.app.goTo(.room(try #require(RoomID("!a"))))
    page.dom.fire(.resize, on: try #require(page.root.first("mg-scroller")).node, x: 400, y: 600)
    page.sync([("!a", room("Garden", [("@boris:chat.example", "beans", 10), ("@boris:chat.example", "peas", 11)]))])
    #expect(page.all("mg-text").map(\.text) == ["beans", "peas"])
    page.sync([("!a", room("Garden", [("@boris:chat.example", "corn", 12)]))])
    #expect(page.all("mg-text").map(\.text) == ["beans", "peas", "corn"])
  }

  // Proves C52, W34
  @Test("a refused message offers to try again, and trying again sends it")
  func refused() throws {
    let page = Page()
    page.signIn()
    page.sync([("!a", room("Garden", [("@boris:chat.example", "beans", 10)]))])
    try openRoom(page)
    let field = try #require(page.all("mg-input").first)
    page.dom.fire(.input, on: field.node, text: "peas")
    page.dom.fire(.keyDown, on: field.node, text: "Enter")
    page.settleStore()
    page.answer("/send/", status: 403, #"{"errcode":"M_FORBIDDEN","error":"no"}"#)
    let row = try #require(page.all("mg-failed").first)
    page.dom.fire(.click, on: try #require(page.all("mg-button", in: row).first).node)
    page.settleStore()
    #expect(page.body(of: "/send/").contains("peas"))
  }

  // Proves C64
  @Test("Escape closes a dialog, and the rest of the page takes no input while it is open")
  func dialog() throws {
    let page = Page()
    page.signIn()
    page.sync([])
    let new = try #require(page.all("ma-new").first).node
    page.dom.fire(.focus, on: new)
    page.dom.fire(.click, on: new)
    #expect(page.root.first("ma-app")?.attributes["inert"] != nil)
    page.submit()
    #expect(page.text.contains(Strings[.personMissing]))
    page.dom.fire(.keyDown, on: try #require(page.all("ma-overlay").first).node, text: "Escape")
    #expect(page.all("ma-overlay").isEmpty)
    #expect(page.dom.focused == new)
    #expect(page.root.first("ma-app")?.attributes["inert"] == nil)
  }

  // Proves J15
  @Test("without the network a banner says so, and with it the banner is gone")
  func offline() {
    let page = Page()
    page.signIn()
    page.app.take(.networkChanged(isOnline: true))
    page.sync([])
    #expect(!page.text.contains(Strings[.offline]))
    page.app.take(.networkChanged(isOnline: false))
    #expect(page.text.contains(Strings[.offline]))
    page.app.take(.networkChanged(isOnline: true))
    #expect(!page.text.contains(Strings[.offline]))
  }

  private func openRoom(_ page: Page) throws {
    page.dom.fire(.click, on: try #require(page.all("ma-entry").first).node)
    page.settleStore()
    page.dom.fire(.resize, on: try #require(page.root.first("mg-scroller")).node, x: 400, y: 600)
  }
}
