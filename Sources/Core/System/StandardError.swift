/// The stream for messages to people.
package enum StandardError {
    /// Writes a line. Drops any part of it that can't be written immediately.
    package static func write(_ line: String) {
        _ = SystemFile.write(Array("\(line)\n".utf8), to: 2, waits: false)
    }
}
