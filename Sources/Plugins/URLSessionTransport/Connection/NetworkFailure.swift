import Errand
import Foundation

/// An error of the system's networking.
struct NetworkFailure: Sendable {
    enum Cause: Hashable, Sendable {
        case posix(POSIXErrorCode)
        /// A code of the name service's (`kDNSServiceErr_…`).
        case name(Int32)
        /// A code of the TLS implementation's (`errSSL…`).
        case security(Int32)
        /// The server was rejected, with the reason.
        case rejection(String)
        case other
    }

    let cause: Cause
    let text: String
    let underlying: (any Error)?

    init(_ cause: Cause, _ text: String, underlying: (any Error)? = nil) {
        self.cause = cause
        if case .rejection(let reason) = cause { self.text = reason } else { self.text = text }
        self.underlying = underlying
    }

    /// The error of an attempt to connect.
    var unconnected: ErrandError { ErrandError(code, text, underlying: underlying) }

    /// The error of a connection that stood.
    var lost: ErrandError { ErrandError(.connectionLost, text, underlying: underlying) }

    private var code: ErrandError.Code {
        switch cause {
        case .posix(.ETIMEDOUT): .timedOut
        case .posix(.ECONNRESET), .posix(.ECONNABORTED), .posix(.EPIPE), .posix(.ENOTCONN): .connectionLost
        case .posix(.ECANCELED): .cancelled
        case .posix(let code) where Self.unreachable.contains(code): .cannotConnect
        // The user has not allowed the app to use the local network.
        case .name(Self.policyDenied): .cannotConnect
        case .name: .nameLookupFailed
        case .security, .rejection: .insecureConnection
        case .posix, .other: .transportFailed
        }
    }

    /// `kDNSServiceErr_PolicyDenied`.
    private static let policyDenied: Int32 = -65570

    /// What stands between the system and a host, and what forbids to connect.
    private static let unreachable: Set<POSIXErrorCode> = [
        .ECONNREFUSED, .ENETDOWN, .ENETUNREACH, .EHOSTDOWN, .EHOSTUNREACH, .EADDRNOTAVAIL, .EPERM, .EACCES,
    ]
}

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
