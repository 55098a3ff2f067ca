/// Prints the examples' output.
package enum Chapter {
    package static func begin(_ title: String) { print("── \(title)") }
    package static func line(_ text: String) { print("   " + text) }
    package static func end() { print() }
}
