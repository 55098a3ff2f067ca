package import Testing

/// What never became so, and where a test waited for it.
package struct NeverHappened: Error, CustomStringConvertible {
    let location: SourceLocation
    package var description: String { "what \(location.fileID):\(location.line) waits for never happened" }
}

/// Waits for a state of which nothing notifies, such as a property of an object under test; it looks again and again, at
/// first at once and then each millisecond. Where something does notify, wait for that: with ``Log``, `Gate`,
/// `RecordingAccessory` or a handle.
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
