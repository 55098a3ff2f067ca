public import Errand

/// Carries out every ``DownloadRequest``: into a file, in parts, attempt after attempt, until the file is whole.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .curl)
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// A ``DownloadRequest`` brings it along; install it on an agent to set options for all of them, or to choose its place among
/// the agent's filters. Of several in one call the outermost does the work.
///
/// Filters before it see one call, filters behind it each attempt and each segment. It requests the bytes as they are
/// (`Accept-Encoding: identity`) and the server's digest. Downloads of one process share half of the files that it may have
/// open; further ones wait for their turn. Throws ``DownloadError``, and what the way behind it throws. It runs off the
/// caller's actor and blocks a thread of the pool for as long as the disk takes.
public struct ResumableDownloads: Filter {
    /// For requests that have none of their own.
    public var options: DownloadOptions

    public init(_ options: DownloadOptions = DownloadOptions()) { self.options = options }

    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // The tag may have been copied into another call: it counts in the activity that set it only.
        guard let request = exchange.request as? any DownloadRequest,
            exchange.tags[DownloadCarrier.self] != exchange.activity.id
        else { return try await next(exchange) }
        let options = request.downloadOptions ?? options
        let order = try DownloadOrder(request, exchange, options)
        return try await DescriptorBudget.shared.withPlace(for: 2 + order.segments) {
            order.report(.queued(reason: "other downloads use the files that the process may have open"), .queued)
        } _: {
            let run = DownloadRun(order, try await order.open(), next)
            return try await run.run()
        }
    }
}

/// The activity whose download is carried out by a filter further out.
enum DownloadCarrier: TagKey {
    static let defaultValue: Activity.ID? = nil
}

extension Filter where Self == ResumableDownloads {
    /// `filters: [.downloads]`
    public static var downloads: ResumableDownloads { ResumableDownloads() }

    /// `filters: [.downloads(DownloadOptions(segments: 4))]`
    public static func downloads(_ options: DownloadOptions) -> ResumableDownloads { ResumableDownloads(options) }
}
