/// A picture, round for people and with rounded corners for rooms; without one, initials on a colour of the identity.
package final class AvatarView<D: DOM> {
  package let node: Node
  private let dom: D
  private let classes: String
  private let initials: Node
  private let image: Node
  private var shownClass = ""
  private var shownInitials = ""
  private var shownSource: String?

  package init(_ dom: D, _ classes: String, in parent: Node) {
    self.dom = dom
    self.classes = classes
    node = dom.element("span", in: parent)
    dom.setAttribute(node, "aria-hidden", "true")
    initials = dom.element("span", "mg-initials", in: node)
    image = dom.element("img", "mg-avatar-image", in: node)
    dom.setAttribute(image, "alt", "")
  }

  /// `id` decides the colour and the shape: those of rooms begin with `!`.
  package func show(id: String, name: String, source: String?) {
    let shape = id.utf8.first == UInt8(ascii: "!") ? " mg-of-room" : ""
    let list = "mg-avatar " + classes + shape + " mg-colour-\(Initials.colour(of: id))"
    if !list.hasSameBytes(as: shownClass) {
      shownClass = list
      dom.setClass(node, list)
    }
    let letters = Initials.of(name)
    if !letters.hasSameBytes(as: shownInitials) {
      shownInitials = letters
      dom.setText(initials, letters)
    }
    if !(source ?? "").hasSameBytes(as: shownSource ?? "") {
      shownSource = source
      dom.setImage(image, source)
    }
  }
}

extension DOM {
  /// The picture of a sender that stays as it is, for eyes alone: the name stands beside it.
  func avatar(of sender: Sender, _ classes: String, in parent: Node) {
    let avatar = element("span", classes + " mg-colour-\(sender.colour)", in: parent)
    setAttribute(avatar, "aria-hidden", "true")
    element("span", "mg-initials", text: sender.initials, in: avatar)
    guard let source = sender.avatar else { return }
    let image = element("img", "mg-avatar-image", in: avatar)
    setAttribute(image, "alt", "")
    setImage(image, source)
  }
}
