/// A read that a job will make: PostgreSQL is asked together with those of the other jobs in its batch, and not job by job. The job makes the
/// read as always, by the same literal and with the same values; whether it was announced changes nothing but the time. Only a read of one table
/// gains by it.
package struct Question: Sendable {
  let sql: StaticString
  let parameters: [any SQLParameter & Sendable]

  package init(_ sql: StaticString, _ parameters: any SQLParameter & Sendable...) {
    self.sql = sql
    self.parameters = parameters
  }
}
