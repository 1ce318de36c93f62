import MatrixModel
import Messenger
import Testing

@testable import MessageRows

@Suite("Changed keys between messages")
struct KeyNotesTests {
  private let ann = UserID(trusted: "@ann:one.example"), bob = UserID(trusted: "@bob:two.example")

  /// The places of the items with these times, and of whom is told before each and at the end.
  private func told(_ notes: KeyNotes, _ count: Int) -> [Int: [UserID]] {
    var told: [Int: [UserID]] = [:]
    for index in 0...count { told[index] = notes.row(before: index)?.notes.map { $0.user } }
    return told
  }

  @Test("A change is told between the messages of before and after, at the end until another message comes")
  func places() {
    var notes = KeyNotes([KeyNote(user: bob, at: 15), KeyNote(user: ann, at: 99)])
    notes.insert([10, 20, 30], at: 0)
    #expect(told(notes, 3) == [1: [bob], 3: [ann]])
    notes.insert([100], at: 3)
    #expect(told(notes, 4) == [1: [bob], 3: [ann]])
  }

  @Test("A change from before what is at hand is told once older messages come")
  func older() {
    var notes = KeyNotes([KeyNote(user: bob, at: 5)])
    notes.insert([10, 20], at: 0)
    #expect(told(notes, 2).isEmpty)
    notes.insert([1, 4, 6], at: 0)
    #expect(told(notes, 5) == [2: [bob]])
  }

  @Test("Messages that come or go in between move it along; several changes at one place are one row")
  func moving() {
    var notes = KeyNotes([KeyNote(user: ann, at: 15), KeyNote(user: bob, at: 15)])
    notes.insert([10, 20], at: 0)
    #expect(told(notes, 2) == [1: [ann, bob]])
    let row = notes.row(before: 1)?.row
    notes.insert([11, 12], at: 1)
    #expect(told(notes, 4) == [3: [ann, bob]] && notes.row(before: 3)?.row == row)
    notes.insert([16], at: 3)
    #expect(told(notes, 5) == [3: [ann, bob]], "it is later")
    notes.remove(0..<2)
    #expect(told(notes, 3) == [1: [ann, bob]])
    notes.remove(0..<3)
    #expect(told(notes, 0) == [0: [ann, bob]])
    #expect(row.map { KeyNotes.isNote($0) && notes.index(of: $0) == 0 } == true && !KeyNotes.isNote(RowID(7)))
  }
}
