import AsyncHTTPClient
import Errand
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Glibc
#endif

/// Translates the client's errors to Errand's.
enum ClientFailure {
    static func translated(_ error: any Error) -> any Error {
        if error is ErrandError || error is CancellationError { return error }
        if let error = error as? HTTPClientError, error == .cancelled { return CancellationError() }
        let (code, message) = described(error)
        return ErrandError(code, message, underlying: error)
    }

    private static func described(_ error: any Error) -> (ErrandError.Code, String) {
        switch error {
        case let error as HTTPClientError: (code(of: error), error.shortDescription.lowercased())
        case is HTTPParserError: (.invalidResponse, "the response is not valid HTTP")
        case let error as NIOConnectionError:
            error.connectionErrors.isEmpty
                ? (.nameLookupFailed, "the name \(error.host) could not be resolved")
                : (.cannotConnect, "couldn't connect to port \(error.port)")
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: (.insecureConnection, "the TLS handshake failed")
        case let error as IOError:
            error.errnoCode == ECONNREFUSED
                ? (.cannotConnect, "the connection was refused") : (.connectionLost, "the connection was lost")
        case let error as ChannelError:
            if case .connectTimeout = error {
                (.timedOut, "the connection wasn't established in time")
            } else {
                (.connectionLost, "the connection was closed")
            }
        default: (.transportFailed, "AsyncHTTPClient failed with \(type(of: error))")
        }
    }

    private static func code(of error: HTTPClientError) -> ErrandError.Code {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .deadlineExceeded, .readTimeout,
            .writeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            .timedOut
        case .remoteConnectionClosed, .uncleanShutdown, .requestStreamCancelled: .connectionLost
        case .bodyLengthMismatch, .traceRequestWithBody: .invalidRequest
        case .invalidURL, .emptyHost, .emptyScheme: .invalidURL
        case .proxyAuthenticationRequired, .invalidProxyResponse: .cannotConnect
        case .alreadyShutdown: .transportUnavailable
        default: .transportFailed
        }
    }
}
