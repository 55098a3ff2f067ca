#if os(Linux) || os(Android)
/// A task that waits. In an object: the layout of a continuation is known at run time only, at which an enum of several
/// would have to look for it whenever one of them moves.
final class Resumption<Value: Sendable, Failure: Error>: Sendable {
    private let continuation: CheckedContinuation<Value, Failure>

    init(_ continuation: CheckedContinuation<Value, Failure>) { self.continuation = continuation }

    func resume(returning value: sending Value) { continuation.resume(returning: value) }
    func resume(throwing error: Failure) { continuation.resume(throwing: error) }
    func resume() where Value == Void { continuation.resume() }
}
#endif
