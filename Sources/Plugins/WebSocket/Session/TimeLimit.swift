import Errand

enum TimeLimit {
    /// Runs an operation. If it takes longer than the limit, cancels it and throws `timedOut` of ``ErrandError``.
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
