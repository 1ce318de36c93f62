/// What a view needs of the thing messages are written in: functions, so that anything can be it.
public struct ComposerFace {
  /// `Node.none` where there is no composer.
  public var root: Node
  public var text: () -> String
  public var setText: (String) -> Void
  /// Not enabled, with the words that say why (nil: the usual ones).
  public var setEnabled: (Bool, String?) -> Void
  public var focus: () -> Void
  public var close: () -> Void

  public init(
    root: Node, text: @escaping () -> String, setText: @escaping (String) -> Void,
    setEnabled: @escaping (Bool, String?) -> Void, focus: @escaping () -> Void, close: @escaping () -> Void
  ) {
    self.root = root
    self.text = text
    self.setText = setText
    self.setEnabled = setEnabled
    self.focus = focus
    self.close = close
  }

  public static var absent: ComposerFace {
    ComposerFace(root: .none, text: { "" }, setText: { _ in }, setEnabled: { _, _ in }, focus: {}, close: {})
  }
}

extension Composer {
  public var face: ComposerFace {
    ComposerFace(
      root: root, text: { [self] in text }, setText: { [self] in setText($0) },
      setEnabled: { [self] in setEnabled($0, placeholder: $1) }, focus: { [self] in focus() }, close: { [self] in close() })
  }
}

extension MessengerView {
  /// Makes a composer. What is written goes to `submit`, which says whether it was taken: if not, the text stays.
  public typealias ComposerMaker = (_ dom: D, _ submit: @escaping (String) -> Bool) -> ComposerFace

  /// The usual composer. Without files there is no button for them.
  public static func standardComposer(_ phrases: Phrases = Phrases(), maximumLength: Int = 1000) -> ComposerMaker {
    { dom, submit in
      let composer = Composer(dom: dom, phrases: phrases)
      composer.maximumLength = maximumLength
      composer.onSend = submit
      composer.hideAttach()
      return composer.face
    }
  }
}
