// Reads rooms from its input, one in a line, and resolves their states again. Its last line is "N cases, N differ".

let differencesShown = 20
var number = 0
var cases = 0
var differing = 0
while let line = readLine() {
  do throws(RoomError) {
    let room = try ResolvedRoom(line: Array(line.utf8))
    let differences = room.differences()
    for difference in differences where differing < differencesShown {
      print("room \(number) of version \(room.version), \(difference)")
    }
    cases += room.cases.count
    differing += differences.count
  } catch {
    print("room \(number) cannot be read: \(error)")
    differing += 1
  }
  number += 1
}
print("\(cases) cases, \(differing) differ")
