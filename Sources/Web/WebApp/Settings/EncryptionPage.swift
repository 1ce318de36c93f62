import ClientCore
import ClientHost
import EncryptionLink
import JSON
import Messenger
import PageWidgets
import SecurityDialogs
import WebHost

/// Whether this browser is verified, and the recovery key: how to make one, and how to come back with it.
final class EncryptionPage<D: DOM> {
  let app: App<D>
  let dom: D
  private let frame: DialogFrame<D>
  private let device: Node
  private let arrivals: KeyArrivals<D>
  private let recovery: Node
  private let readers: ReadersChoice<D>
  private let trouble: Node
  private var shown: (recovery: EncryptionReport.Recovery, isVerified: Bool)?
  /// As the server said last.
  private var found: EncryptionReport.Recovery?

  @discardableResult
  init(_ app: App<D>, _ frame: DialogFrame<D>, in page: Node) {
    self.app = app
    self.frame = frame
    dom = app.dom
    dom.element("p", "ma-note", text: .encryptionNote, in: page)
    device = dom.element("p", "ma-safety", in: page)
    arrivals = KeyArrivals(dom, in: page)
    recovery = dom.element("div", "ma-form", in: page)
    readers = ReadersChoice(dom, app.effects.encryption, in: page)
    trouble = frame.trouble(in: page)
    KeyFiles(dom, in: page) { [app] kind in
      app.dialogs.open { KeyFileDialog(app.effects.encryption, kind, in: $0) { app.notices.show($0) } }
    }
    let diagnosis = DiagnosisFold(dom, app.effects.encryption, in: page)
    diagnosis.onCopied = { [app] in app.notices.show(.copied) }
    app.onEncryptionState = { [self] in
      guard frame.isOpen else { return app.onEncryptionState = nil }
      update()
      dom.flush()
    }
    inspect()
    update()
  }

  private func inspect() {
    app.effects.encryption.perform(.inspectRecovery) { [self] outcome in
      guard frame.isOpen else { return }
      if case .recovery(let state)? = outcome { found = state } else { say(outcome) }
      update()
      dom.flush()
    }
  }

  // MARK: What there is

  private func update() {
    arrivals.show(app.effects.encryption.state, isBuilding: app.effects.encryption.isBuilding)
    guard let state = app.effects.encryption.state else { return }
    readers.show(state.readers)
    guard let found, shown == nil || shown?.recovery != found || shown?.isVerified != state.isVerified else { return }
    shown = (found, state.isVerified)
    dom.releaseChildren(of: device)
    Drawing.lock.draw(dom, in: device)
    dom.element("span", text: state.isVerified ? .browserVerified : .browserUnverified, in: device)
    dom.releaseChildren(of: recovery)
    if !state.isVerified, found != .disabled { return showRecover() }
    if found == .disabled {
      if state.isVerified || !state.hasIdentity { return showSetUp(.setUpRecovery) }
      note(.recoveryMissing)
      showOtherDevice()
      showReset()
    } else {
      note(found == .changed ? .recoveryChanged : .recoveryIsOn)
      showSetUp(.newRecoveryKey)
    }
  }

  private func note(_ words: Strings.Key) { dom.element("p", "ma-note", text: words, in: recovery) }

  // MARK: Making a key

  private func showSetUp(_ words: Strings.Key) {
    dom.element("h3", "ma-field-label", text: .recoveryKey, in: recovery)
    note(.setUpRecoveryNote)
    let button = SubmitButton(dom, words, busy: .creating, kind: found == .disabled ? "ma-primary" : "", in: recovery)
    dom.on(button.node, .click) { [self] _ in
      guard !button.isBusy else { return }
      guard found != .disabled else { return setUp(button) }
      app.dialogs.open {
        ConfirmDialog(
          Strings[.newRecoveryKeyAsk], note: Strings[.newRecoveryKeyNote], action: .newRecoveryKey, busy: .creating, in: $0,
          run: { ended in ended(nil) }, { [self] in setUp(button) })
      }
    }
  }

  private func setUp(_ button: SubmitButton<D>) {
    button.setBusy(true)
    dom.setText(trouble, "")
    app.makeRecoveryKey { [self] outcome in
      guard frame.isOpen else { return }
      button.setBusy(false)
      took(outcome)
    }
    dom.flush()
  }

  private func took(_ outcome: EncryptionReport.Outcome?) {
    guard case .done? = outcome else { return say(outcome) }
    found = .enabled
    update()
  }

  // MARK: Coming back

  private func showOtherDevice() {
    let button = dom.button("ma-button", .useOtherDevice, icon: .device, in: recovery)
    dom.on(button, .click) { [app] _ in app.verifications.verifyOwn() }
  }

  private func showRecover() {
    showOtherDevice()
    let form = dom.element("form", "ma-form", in: recovery)
    if found == .changed { dom.element("p", "ma-note", text: .recoveryChanged, in: form) }
    let field = Field(dom, Strings[.recoveryField], kind: "password", autocomplete: "off", in: form)
    let button = SubmitButton(dom, .recover, busy: .checking, in: form)
    dom.on(form, .submit) { [self] _ in
      guard !button.isBusy, !field.text.trimmed.utf8.isEmpty else { return field.focus() }
      button.setBusy(true)
      dom.setText(trouble, "")
      app.effects.encryption.perform(.recover(ByteString(field.text.trimmed))) { [self] outcome in
        guard frame.isOpen else { return }
        button.setBusy(false)
        switch outcome {
        case .done:
          found = .enabled
          app.notices.show(.recovered)
          update()
        case .failed(.wrongKey):
          field.setError(Strings[.wrongRecoveryKey])
          field.focus()
        default: say(outcome)
        }
        dom.flush()
      }
      dom.flush()
    }
    showReset()
  }

  // MARK: Beginning anew

  private func showReset() {
    let button = dom.button("ma-link", .resetKeys, in: recovery)
    dom.on(button, .click) { [self] _ in
      app.askToBeginAnew { [self] outcome in
        if frame.isOpen { took(outcome) }
        dom.flush()
      }
    }
  }

  /// What went wrong.
  private func say(_ outcome: EncryptionReport.Outcome?) {
    let words: String =
      switch outcome {
      case .failed(.unreachable): Strings[.noAnswer]
      case .failed(.unverified): Strings[.browserUnverified]
      case .failed(.incomplete), .failed(.noBackup): Strings[.recoveryMissing]
      case .failed(.wrongKey): Strings[.wrongRecoveryKey]
      case .failed(.refused), .failed(.unusable): Strings[.encryptionRefused]
      case .done, .recovery, .verification, .trust, .told, .imported, .sealed, .users, .failed, nil:
        Strings[.encryptionUnavailable]
      }
    dom.setText(trouble, words)
  }
}
