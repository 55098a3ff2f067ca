/// The stream for messages to people.
package enum StandardError {
    /// Writes a line. Drops any part that can't be written.
    package static func write(_ line: String) {
        _ = SystemFile.write(Array("\(line)\n".utf8), to: 2, waits: false)
    }
}
