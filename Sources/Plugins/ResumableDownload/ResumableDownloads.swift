public import Errand

/// Carries out every ``DownloadRequest``: into a file, in pieces, again and again, until it is whole.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .curl, filters: [.downloads])
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// Filters before it see one call, filters behind it each try and each segment. It asks for the bytes as they are
/// (`Accept-Encoding: identity`) and for the server's digest. Throws ``DownloadError``, and what the way behind it throws.
/// It runs off the caller's actor and blocks a thread of the pool for as long as the disk takes.
public struct ResumableDownloads: Filter {
    /// For requests that have none of their own.
    public var options: DownloadOptions

    public init(_ options: DownloadOptions = DownloadOptions()) { self.options = options }

    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let request = exchange.request as? any DownloadRequest else { return try await next(exchange) }
        let run = try DownloadRun(request, exchange, next, request.downloadOptions ?? options)
        return try await run.run()
    }
}

extension Filter where Self == ResumableDownloads {
    /// `filters: [.downloads]`
    public static var downloads: ResumableDownloads { ResumableDownloads() }

    /// `filters: [.downloads(DownloadOptions(segments: 4))]`
    public static func downloads(_ options: DownloadOptions) -> ResumableDownloads { ResumableDownloads(options) }
}
