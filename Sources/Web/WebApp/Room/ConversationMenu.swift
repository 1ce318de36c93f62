import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What can be done in a room, beside writing.
struct ConversationMenu<D: DOM> {
  private enum Choice {
    case video, details, search, shared, threads, pinned, firstUnread, date, mute, saved, export, previews, shortcuts
    case settings, leave
  }

  private let screen: RoomScreen<D>

  init(_ screen: RoomScreen<D>) { self.screen = screen }

  private var isEncrypted: Bool { screen.room.flatMap { screen.app.client.room($0) }?.isEncrypted ?? false }

  private var isMuted: Bool { screen.room.map { screen.app.client.notificationMode(of: $0) == .mute } ?? false }

  func open() {
    let app = screen.app
    app.dialogs.open(as: .menu) { frame in
      let menu = Menu(Strings[.roomMenu], in: frame)
      func add(_ choice: Choice, _ words: Strings.Key, _ icon: Drawing, isOn: Bool? = nil, isDangerous: Bool = false) {
        menu.add(words, icon, isOn: isOn, isDangerous: isDangerous) { run(choice) }
      }
      // A phone's header has no room for them.
      if Host.pageState.contains(.narrow) {
        if screen.header.offersVideo { add(.video, .callThemWithCamera, .camera) }
        add(.details, .details, .people)
      }
      add(.search, .searchRoom, .search)
      add(.shared, .sharedInRoom, .picture)
      add(.threads, .threads, .thread)
      add(.pinned, .pinnedMessages, .pin)
      menu.divide()
      add(.firstUnread, .firstUnread, .unread)
      add(.date, .jumpToDate, .calendar)
      menu.divide()
      if app.embedding == nil {
        add(.mute, isMuted ? .unmuteRoom : .muteRoom, isMuted ? .bell : .muted)
        add(.saved, .savedMessages, .bookmark)
        add(.export, .exportChat, .download)
        menu.divide()
      }
      add(.previews, isEncrypted ? .encryptedPreviews : .linkPreviews, .link, isOn: app.showsPreviews(encrypted: isEncrypted))
      add(.shortcuts, .shortcuts, .keyboard)
      if app.embedding != nil { return add(.settings, .settings, .gear) }
      guard let room = screen.room, app.client.room(room)?.membership == .join else { return }
      menu.divide()
      add(.leave, app.isChat(room) ? .leaveChat : .leave, .exit, isDangerous: true)
    }
  }

  private func run(_ choice: Choice) {
    switch choice {
    case .video: screen.header.onCall?(true)
    case .details: screen.header.openDetails()
    case .search: screen.panel.show(.search)
    case .shared: screen.panel.show(.shared)
    case .threads: screen.panel.show(.threads)
    case .pinned:
      guard let room = screen.room, screen.app.client.room(room)?.pinnedEvents.isEmpty == false else {
        return screen.app.notices.show(.nothingPinned)
      }
      screen.panel.show(.pinned)
    case .firstUnread: if !screen.goToFirstUnread() { screen.app.notices.show(.nothingUnread) }
    case .date: askDate()
    case .mute:
      if let room = screen.room { screen.app.askOrSay(.account(.changeNotifications(.mode(room, isMuted ? nil : .mute)))) }
    case .shortcuts: screen.app.openShortcuts()
    case .settings: screen.app.openSettings()
    case .leave:
      let app = screen.app
      if let room = screen.room { app.askToLeave(room) { app.goTo(.list, replacing: true) } }
    case .saved: screen.app.dialogs.open(.more) { [app = screen.app] in SavedDialog(app, in: $0) }
    case .export:
      let app = screen.app
      if let room = screen.room.flatMap({ app.client.room($0) }) { app.dialogs.open(.more) { ExportDialog(app, room, in: $0) } }
    case .previews:
      screen.app.showPreviews(!screen.app.showsPreviews(encrypted: isEncrypted), encrypted: isEncrypted)
      screen.conversation.feed.previewsChanged()
    }
    screen.dom.flush()
  }

  private func askDate() {
    let (app, dom) = (screen.app, screen.dom)
    app.dialogs.open { frame in
      frame.setTitle(.jumpToDate)
      let form = dom.element("form", "ma-form", in: frame.body)
      let field = Field(dom, .date, kind: "date", in: form)
      frame.setFirst(field.input)
      let trouble = frame.trouble(in: form)
      let submit = SubmitButton(dom, .jump, busy: .searching, in: dom.element("div", "ma-buttons", in: form))
      dom.on(form, .submit) { _ in
        guard !submit.isBusy, let day = CalendarDay(field.text) else { return }
        submit.setBusy(true)
        screen.jump(to: Host.startOfDay(day.number)) { error in
          guard frame.isOpen else { return }
          guard let error else { return frame.close() }
          submit.setBusy(false)
          dom.setText(trouble, Strings.words(for: error))
        }
        dom.flush()
      }
    }
  }
}
