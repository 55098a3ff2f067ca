/// The stream for messages to people.
package enum StandardError {
    /// Writes a line; what cannot be written is dropped.
    package static func write(_ line: String) {
        _ = SystemFile.write(Array("\(line)\n".utf8), to: 2, waits: false)
    }
}
