import JSON
import Messenger

extension BubbleConfiguration {
  /// As pages name them: `standard`, `simple`; anything else is `house`.
  public init(named name: JSON?) {
    guard let name = name?.text else {
      self = .house
      return
    }
    self = name == "standard" ? .standard : name == "simple" ? .simple : .house
  }
}
