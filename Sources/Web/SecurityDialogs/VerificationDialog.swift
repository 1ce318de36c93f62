import ClientHost
import EncryptionLink
import Messenger
import PageWidgets
import WebHost

/// Two people, or two devices of one person, compare what both show: waiting for the other side, choosing how, comparing, how it ended.
/// Closing it ends what is under way. Spec: Client-Server API, "Device verification".
package final class VerificationDialog<D: DOM> {
  package enum Start {
    /// Asks the other side: `verifyDevice` or `verifyUser`.
    case ask(EncryptionAction)
    /// Takes part in what the other side has asked for, or goes on with it.
    case join(UInt64)
  }

  let dom: D
  let frame: DialogFrame<D>
  /// Of the other person; empty between the user's own devices.
  let name: String
  /// Whether this device was verified when it began.
  let wasVerified: Bool
  /// What belongs to the stage, made anew for each.
  let place: Node
  let trouble: Node
  /// The camera, while a code is sought.
  var camera: CodeReader?
  private let encryption: PageEncryption
  package private(set) var id: UInt64?
  private var shown: EncryptionReport.Stage?

  /// - Parameter frame: its title and `onEnd` are the dialog's.
  package init(_ encryption: PageEncryption, _ start: Start, with name: String, in frame: DialogFrame<D>) {
    self.encryption = encryption
    self.frame = frame
    self.name = name
    dom = frame.dom
    wasVerified = encryption.state?.isVerified ?? false
    if name.utf8.isEmpty { frame.setTitle(.verifyDevice) } else { frame.setTitle(Strings[.verifyPerson, name]) }
    place = dom.element("div", "ma-form", in: frame.body)
    trouble = frame.trouble(in: frame.body)
    frame.onEnd = { [self] in end() }
    switch start {
    case .ask(let action): ask(action)
    case .join(let id): join(id)
    }
  }

  /// What the machine says now.
  package func update() {
    guard frame.isOpen, let id else { return }
    let stage = encryption.verifications.first { $0.id == id }?.stage ?? .cancelled(.other, isByUs: false)
    guard stage != shown else { return }
    shown = stage
    clear()
    show(stage)
    dom.flush()
  }

  package var isOpen: Bool { frame.isOpen }

  var isOurs: Bool { encryption.verifications.first { $0.id == id }?.isOurs ?? true }

  /// Does a step of the person.
  func act(_ action: VerificationAction) {
    guard let id else { return }
    dom.setText(trouble, "")
    encryption.perform(.verification(id, action)) { [self] outcome in
      guard frame.isOpen else { return }
      if case .failed(let reason)? = outcome { dom.setText(trouble, Strings.words(for: reason)) }
      dom.flush()
    }
  }

  func clear() {
    camera = nil
    dom.setText(trouble, "")
    dom.releaseChildren(of: place)
  }

  private func ask(_ action: EncryptionAction) {
    say(Strings[.verifyAsking], isBusy: true)
    encryption.perform(action) { [self] outcome in
      guard case .verification(let id)? = outcome else {
        guard frame.isOpen else { return }
        clear()
        var words = Strings[.encryptionUnavailable]
        if case .failed(let reason)? = outcome { words = Strings.words(for: reason) }
        dom.setText(trouble, words)
        return dom.flush()
      }
      self.id = id
      if frame.isOpen { update() } else { forget() }
    }
  }

  private func join(_ id: UInt64) {
    self.id = id
    if let known = encryption.verifications.first(where: { $0.id == id }), case .requested = known.stage, !known.isOurs {
      say(Strings[.verifyAgreeing], isBusy: true)
      shown = .requested
      act(.accept)
    } else {
      update()
    }
  }

  /// What was confirmed goes on without the dialog.
  private func end() {
    camera = nil
    if case .confirmed = shown { return }
    forget()
  }

  private func forget() {
    guard let id else { return }
    encryption.perform(.verification(id, .cancel)) { _ in }
  }
}
