import Messenger
import PageWidgets

/// Whether somebody, or a device, is verified: a shield with the word beside it, so that nobody has to know the sign or see the colour.
package struct TrustMark<D: DOM> {
  package let node: Node

  @discardableResult
  package init(_ dom: D, isVerified: Bool, in parent: Node) {
    node = dom.element("span", isVerified ? "ma-trust ma-is-verified" : "ma-trust", in: parent)
    (isVerified ? Drawing.verified : .unverified).draw(dom, in: node)
    dom.element("span", text: isVerified ? .verified : .notVerified, in: node)
  }
}
