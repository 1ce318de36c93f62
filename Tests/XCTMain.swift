import Testing

/// The entry of the tests' program. SwiftPM would write one, but looks for tests of XCTest in the editors' index for that, which these builds
/// do without (`swift_build` in Scripts/common.bash). The file's name is SwiftPM's.
@main struct Runner {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
