public import Errand

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Carries requests with `URLSession`: the transport for Apple's platforms.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: .urlSession)
/// ```
///
/// One session for each transport. The configuration is copied; its cache, cookie store and credential store are not
/// used and its timeouts do not count, because those are Core's and the filters' work. When the transport goes away its
/// session ends once the last body has been read. `send` throws ``ErrandError`` only, with the `URLError` as
/// `underlying`. On Linux it works within the limits that its guide names; `.curl` is the transport there.
public final class URLSessionTransport: Transport {
    let session: URLSession
    let delegate: SessionDelegate
    /// Tasks are made, started and cancelled here: on Linux each of these may block for as long as all sessions of the
    /// process are busy.
    let queue = DispatchQueue(label: "errand.urlsession")

    /// - Parameter configuration: how it connects; `.ephemeral` by default, with 64 connections to one host.
    public convenience init(_ configuration: URLSessionConfiguration = URLSessionTransport.standardConfiguration) {
        self.init(configuration, SessionDelegate())
    }

    init(_ configuration: URLSessionConfiguration, _ delegate: SessionDelegate) {
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
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

    /// A fresh copy of the default: nothing stored on disk, 64 connections to one host.
    public static var standardConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = 64
        return configuration
    }

    /// A year: waits are ended by timers of our own.
    static let never: TimeInterval = 31_536_000

    public func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        try delegate.check()
        if request.method == .get, !request.body.isNone, request.body.length != 0 {
            throw ErrandError(.invalidRequest, "URLSession sends no GET with a body")
        }
        let upload = try await Upload(request.body, options)
        let transfer = Transfer(request, options, upload, self)
        return try await transfer.response()
    }
}

extension Transport where Self == URLSessionTransport {
    /// A transport of its own over `URLSession`, with ``URLSessionTransport/standardConfiguration``.
    public static var urlSession: URLSessionTransport { URLSessionTransport() }

    /// A transport of its own over `URLSession`, configured as given.
    public static func urlSession(_ configuration: URLSessionConfiguration) -> URLSessionTransport {
        URLSessionTransport(configuration)
    }
}
