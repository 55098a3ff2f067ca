#if os(Linux) || os(Android)
/// A waiting task. A class, because an enum that contains a continuation is slow to move: its layout is known only at
/// run time.
final class Resumption<Value: Sendable, Failure: Error>: Sendable {
    private let continuation: CheckedContinuation<Value, Failure>

    init(_ continuation: CheckedContinuation<Value, Failure>) { self.continuation = continuation }

    func resume(returning value: sending Value) { continuation.resume(returning: value) }
    func resume(throwing error: Failure) { continuation.resume(throwing: error) }
    func resume() where Value == Void { continuation.resume() }
}
#endif
