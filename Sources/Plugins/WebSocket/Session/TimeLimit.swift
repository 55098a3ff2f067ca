import Errand

/// Limits the time of an operation.
enum TimeLimit {
    /// Throws `timedOut` of ``ErrandError`` when the operation has not returned after so long; it is cancelled then.
    static func run<Value: Sendable>(
        _ limit: Duration, _ time: any TimeSource, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await time.sleep(until: time.instant(after: limit))
                return nil
            }
            defer { group.cancelAll() }
            if let value = try await group.next() ?? nil { return value }
            throw ErrandError(.timedOut, "the server was inactive for \(duration: limit)")
        }
    }
}
