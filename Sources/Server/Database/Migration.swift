/// One step of the schema. Steps are listed in ascending order of `version` and never change once released.
package struct Migration: Sendable {
  /// 1 or more.
  package let version: Int
  /// What the step adds; kept in `schema_version` and compared, so that two histories cannot be mixed.
  package let name: String
  /// One SQL statement each, applied in one transaction together with the new version.
  package let statements: [String]

  package init(version: Int, name: String, statements: [String]) {
    self.version = version
    self.name = name
    self.statements = statements
  }
}
