import Foundation

/// A connection of the system's, with the calls that Network.framework's `NWConnection` has: what a
/// ``SystemConnection`` needs of it.
protocol ConnectionDriver: Sendable {
    /// Begins to connect, and reports what becomes of it.
    func start(_ report: @escaping @Sendable (ConnectionEvent) -> Void)

    /// Receives at least one byte, and at most `limit`. The completion is called once: with bytes, with the end of the
    /// stream, possibly behind bytes, or with a failure.
    func receive(
        upTo limit: Int, _ completion: @escaping @Sendable (Data?, _ isAtEnd: Bool, NetworkFailure?) -> Void)

    /// Sends bytes behind those of earlier calls. The completion is called once: when the system has all of them, or
    /// with a failure.
    func send(_ data: Data, _ completion: @escaping @Sendable (NetworkFailure?) -> Void)

    /// Ends the connection, once or several times. Bytes that the system has are still sent.
    func cancel()
}

/// What a driver reports of its connection.
enum ConnectionEvent: Sendable {
    /// It stands, with its TLS.
    case ready
    /// It was not made, or it is lost.
    case failed(NetworkFailure)
}
