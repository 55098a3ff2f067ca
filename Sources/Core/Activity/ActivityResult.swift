import Synchronization

/// What an activity brought, for those who await it; complete from the activity's will-stop on.
///
/// Of no generic type: the metadata of one would be looked up at every use, which costs more than the cast.
final class ActivityResult: Sendable {
    private let state = Mutex<Result<any Sendable, any Error>?>(nil)
    /// Whether did-stop has been delivered.
    let isComplete = Atomic(false)

    func succeed(_ value: some Sendable) { state.withLock { $0 = .success(value) } }

    func fail(_ error: any Error) {
        // What is replaced is a user's value, whose end may run code: not under the lock.
        _ = state.withLock { state in
            let old = state
            state = .failure(error)
            return old
        }
    }

    func get<Success>(_ type: Success.Type = Success.self) throws -> Success {
        // A cast within a pattern makes no optional of a generic type.
        switch try state.withLock({ $0 })?.get() {
        case let value as Success: return value
        default: throw CancellationError()
        }
    }
}
