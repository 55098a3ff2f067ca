// Start here: `transport: .urlSession`, or ``URLSessionTransport`` with a configuration.
//
// Connection/  connections for protocols other than HTTP, over Network.framework

public import Errand
@_exported public import ErrandTLS

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A transport that sends requests with `URLSession`, for Apple platforms.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .urlSession)
/// ```
///
/// Each transport has one session with a copy of the configuration. The configuration's cache, cookie store, credential
/// store and timeouts are ignored. When the transport is deallocated, the session ends once the last body has been
/// read.
///
/// `send` throws only ``ErrandError``, with the `URLError` as `underlying`. On Apple platforms, the transport also
/// opens connections for WebSockets. On Linux, prefer `.curl`: this transport's guide lists its limits there.
public final class URLSessionTransport: Transport {
    let session: URLSession
    let delegate: SessionDelegate
    /// The queue that creates, starts and cancels tasks. On Linux, these calls may block while any session of the
    /// process is busy.
    let queue = DispatchQueue(label: "errand.urlsession")
    let silence = SilenceWatch(time: SystemTimeSource())
    private let refusal: ErrandError?

    /// Creates a transport with its own session.
    ///
    /// - Parameter configuration: How the session connects. Defaults to ``standardConfiguration``.
    public convenience init(_ configuration: URLSessionConfiguration = URLSessionTransport.standardConfiguration) {
        self.init(configuration, SessionDelegate())
    }

    init(_ original: URLSessionConfiguration, _ delegate: SessionDelegate) {
        refusal = original.identifier.map { _ in
            ErrandError(
                .transportUnavailable,
                "a background configuration supports only file downloads and uploads that outlive the process; use "
                    + "URLSessionTransport.standardConfiguration")
        }
        // A rejected configuration must not start a background session.
        let usable = refusal == nil ? original : Self.standardConfiguration
        let configuration = usable.copy() as? URLSessionConfiguration ?? usable
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = Self.never
        configuration.timeoutIntervalForResource = Self.never
        self.delegate = delegate
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: makeDelegateQueue())
    }

    deinit {
        let session = session
        queue.async { session.finishTasksAndInvalidate() }
    }

    /// A new copy of the default configuration: `.ephemeral`, with up to 64 connections per host.
    public static var standardConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 64
        return configuration
    }

    /// A timeout of a year, which turns URLSession's timers off in effect. Errand's own timers end waits.
    static let never: TimeInterval = 31_536_000

    /// Sends a request that the core has validated. See ``Transport/send(_:options:)``.
    ///
    /// Throws `invalidRequest` for a GET with a body, which URLSession can't send. Throws `transportUnavailable` for a
    /// background configuration.
    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        try check(request.url)
        if request.method == .get, !request.body.isNone, request.body.length != 0 {
            throw ErrandError(.invalidRequest, "URLSession can't send a GET request with a body")
        }
        await delegate.prepare(session)
        let upload = try await SessionUpload(request.body, options)
        let transfer = SessionTransfer(request, options: options, upload: upload, transport: self)
        return try await transfer.response()
    }

    func check(_ url: URL) throws(ErrandError) {
        if let refusal { throw refusal }
        try delegate.check(url)
    }
}

extension Transport where Self == URLSessionTransport {
    /// A new transport over `URLSession` with ``URLSessionTransport/standardConfiguration``.
    public static var urlSession: URLSessionTransport { URLSessionTransport() }

    /// Creates a transport over `URLSession` with a copy of a configuration.
    public static func urlSession(_ configuration: URLSessionConfiguration) -> URLSessionTransport {
        URLSessionTransport(configuration)
    }
}
