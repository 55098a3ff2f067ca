public import ErrandHTTP
import Synchronization

/// The result of an activity, final once accessories receive will-stop. Not generic, because looking up generic
/// metadata costs more than a cast.
@usableFromInline final class ActivityResult: Sendable {
    private struct State {
        var value: (any Sendable)?
        var http: HTTPResponse?
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    /// Whether accessories have received did-stop.
    let isComplete = Atomic(false)

    func succeed(_ value: some Sendable, from http: HTTPResponse? = nil) {
        state.withLock { state in
            state.value = value
            state.http = http
        }
    }

    func fail(_ error: any Error) {
        let old = state.withLock { state in
            let old = state
            state = State(failure: error)
            return old
        }
        withExtendedLifetime(old) {}
    }

    @usableFromInline func success() throws -> (value: any Sendable, http: HTTPResponse?) {
        let state = state.withLock { $0 }
        guard let value = state.value else { throw state.failure ?? CancellationError() }
        return (value, state.http)
    }

    func get<Value>() throws -> Value {
        guard let value = try success().value as? Value else { throw CancellationError() }
        return value
    }

    @inlinable func response<Output>() throws -> Response<Output> {
        let (value, http) = try success()
        // Cast in a pattern, because `as?` would create an optional of a generic type.
        guard let http, case let value as Output = value else { throw CancellationError() }
        return Response(value: value, http: http)
    }
}
