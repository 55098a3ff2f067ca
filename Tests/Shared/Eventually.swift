package import Testing

/// Thrown when a state that a test waits for doesn't occur. Holds the place where the test waited.
package struct NeverHappened: Error, CustomStringConvertible {
    let location: SourceLocation
    package var description: String { "what \(location.fileID):\(location.line) waits for never happened" }
}

/// Polls for a state that can't notify, such as a property of an object under test: immediately, and then each
/// millisecond. If something does notify, wait for that instead: with ``Log``, `Gate`, `RecordingAccessory` or a
/// handle.
package func eventually(
    within limit: Duration = .seconds(300), at location: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ isSo: () async throws -> Bool
) async throws {
    for _ in 0..<20 {
        if try await isSo() { return }
        await Task.yield()
    }
    let end = ContinuousClock.now + limit
    while try await !isSo() {
        if ContinuousClock.now > end { throw NeverHappened(location: location) }
        try await Task.sleep(for: .milliseconds(1))
    }
}
